// The structure of the text: its JSON values as a tree. A value shows its place in the text.

import { count, fill, h } from "./dom.js";
import { readJson } from "./places.js";

/** Values that are drawn; more would only make the page slow. */
const MOST = 1500;

/** Draws the tree. `show(start, stop)` is called for the value that was chosen. */
export function drawTree(root, text, show) {
  const tree = readJson(text);
  if (tree === null) {
    fill(root, h("p", { class: "quiet" }, "The text has no JSON value yet."));
    return;
  }
  const state = { left: MOST, text, show };
  fill(root, h("div", { class: "tree" }, node(tree, state, 0)),
    state.left < 0 && h("p", { class: "quiet" }, `The first ${count(MOST)} values are shown.`));
}

function node(value, state, depth) {
  if (state.left-- <= 0) return null;
  const label = value.name === null ? null : h("span", { class: "is-name" }, value.name, ": ");
  const choose = () => state.show(value.nameAt ?? value.start, value.stop);
  if (value.kind === "object" || value.kind === "array") {
    const size = value.children.length;
    const what = value.kind === "object" ? `{${size}}` : `[${size}]`;
    return h("details", { open: depth < 3 },
      h("summary", { onclick: choose }, label, h("span", { class: "quiet" }, what)),
      value.children.map((child) => node(child, state, depth + 1)));
  }
  const shown = state.text.slice(value.start, value.stop);
  const kind = value.kind === "string" ? "is-string" : /^[-\d]/.test(shown) ? "is-number" : "is-word";
  return h("button", { type: "button", class: "leaf", onclick: choose }, label,
    h("span", { class: kind }, shown.length > 80 ? `${shown.slice(0, 79)}…` : shown));
}
