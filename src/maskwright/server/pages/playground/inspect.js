// The first view: whether the text matches, why not, and what was allowed at the chosen character.

import { count, fill, h, visible } from "./dom.js";

/** Draws what is allowed at a place. `go`: what the reader can do there. */
export function drawInspection(root, found, at, go) {
  const rows = [
    ["Allowed", h("span", { class: "allowed" }, found.allowed), sized(found)],
    goesOn(found, go),
    ["Tokens", tokens(found.tokens)],
    ...placeRows(found, go),
    ...terminalRows(found),
  ].filter((row) => row !== null);
  fill(root,
    h("h3", {}, at.title, " ", h("span", { class: "quiet" }, at.words)),
    h("dl", { class: "facts" }, rows.map(([name, ...values]) => [h("dt", {}, name), h("dd", {}, ...values)])));
}

function sized(found) {
  if (found.count === null || found.count < 2) return null;
  return h("span", { class: "quiet" }, ` ${count(found.count)} characters`);
}

function goesOn(found, go) {
  const { forced, options } = found.continuations;
  if (forced === "" && options.length === 0) return null;
  const button = (text, title, written = text) =>
    h("button", { type: "button", class: "chip", title, onclick: () => go.insert(written) }, h("code", {}, visible(text)));
  return [
    forced !== "" ? "Must go on" : "Can go on",
    h("div", { class: "chips" },
      forced !== "" && button(forced, "Write this: nothing else is allowed"),
      forced !== "" && options.length > 0 && h("span", { class: "quiet" }, "then"),
      options.map((option) => button(option, "Write up to here", forced + option))),
  ];
}

function tokens(found) {
  const more = found.count - found.texts.length;
  return [
    h("p", {}, `${count(found.count)} of ${count(found.of)}`),
    h("div", { class: "chips" },
      found.texts.map((text, at) => h("code", { class: "chip", title: `token ${found.ids[at]}` }, visible(text) || "∅")),
      more > 0 && h("span", { class: "quiet" }, `and ${count(more)} more`)),
  ].flat();
}

function placeRows(found, go) {
  const { waits_for: waits, instance, schemas, rules } = found.place;
  const rows = [];
  if (waits !== null) rows.push(["Waits for", waits]);
  if (instance !== null) rows.push(["Value", h("code", {}, instance || "the whole text")]);
  if (schemas.length > 0) {
    rows.push(["Schema", h("div", { class: "chips" }, schemas.map((pointer) =>
      h("button", { type: "button", class: "chip", title: "Show it in the schema", onclick: () => go.schema(pointer) },
        h("code", {}, `#${pointer}`))))]);
  }
  if (rules.length > 0) {
    rows.push(["Rules", rules.map((stack) =>
      h("div", { class: "crumbs" }, stack.map((name, at) => [
        at > 0 && h("span", { class: "quiet", "aria-hidden": "true" }, "›"),
        h("button", { type: "button", class: "chip", title: "Show it in the grammar", onclick: () => go.rule(name) }, h("code", {}, name)),
      ]).flat()))]);
  }
  return rows;
}

function terminalRows(found) {
  const shown = (found.terminals ?? []).filter((each) => each.rest !== null && each.rest !== "").slice(0, 8);
  if (shown.length === 0) return [];
  return [["Reads", h("div", { class: "chips" }, shown.map((each) =>
    h("code", { class: "chip", title: each.text === null ? each.kind : `for example ${each.text}` }, `… ${visible(each.rest)}`)))]];
}

/** Why the text isn't allowed, and texts like it that are. */
export function drawReasons(root, found, go) {
  const parts = [];
  for (const reason of found.reasons ?? []) {
    parts.push(h("li", {}, reason.pointer === null
      ? ["the server's setting ", h("code", {}, `${reason.name}: ${reason.value}`)]
      : [h("button", { type: "button", class: "chip", onclick: () => go.schema(reason.pointer) }, h("code", {}, `#${reason.pointer}`)),
        " ", h("code", { class: "quiet" }, reason.value)]));
  }
  const near = (found.nearest ?? []).filter((each) => each.by !== undefined);
  fill(root,
    parts.length > 0 && h("h3", {}, "Because of"),
    parts.length > 0 && h("ul", { class: "reasons" }, parts),
    near.length > 0 && h("h3", {}, "Allowed texts like it"),
    near.length > 0 && h("ul", { class: "reasons" }, near.map((each) =>
      h("li", {}, h("button", { type: "button", class: "chip", title: "Put this in", onclick: () => go.fix(each) },
        h("del", {}, visible(each.replaces)), " ", h("ins", {}, visible(each.by) || "∅"))))));
}
