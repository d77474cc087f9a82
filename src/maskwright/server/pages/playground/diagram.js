// The picture of the shape that the server draws, in the colours of this page.

import { call } from "./api.js";
import { fill, h } from "./dom.js";

const UNDRAWN = ["tools", "structural_tag"];

/** Draws the shape, as railroads or as a graph. `isCurrent()`: whether that shape is still shown. */
export class Diagram {
  constructor(root, source) {
    this.source = source;
    this.which = "railroad";
    this.shown = "";
    this.picture = h("div", { class: "picture", tabindex: "0", role: "group", "aria-label": "The picture; it scrolls" });
    this.buttons = [["railroad", "Railroads"], ["graph", "Graph"]].map(([name, title]) =>
      h("button", { type: "button", class: "small", "data-as": name, "aria-pressed": String(name === this.which), onclick: () => {
        this.which = name;
        for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.as === name));
        this.draw();
      } }, title));
    fill(root, h("div", { class: "tools" }, this.buttons), this.picture);
  }

  /** Asks for the picture, unless it is there already. */
  async draw() {
    const { kind, shape } = this.source();
    const name = JSON.stringify([this.which, kind, shape]);
    if (name === this.shown) return;
    this.shown = name;
    if (UNDRAWN.includes(kind)) {
      fill(this.picture, h("p", { class: "quiet" }, "Schemas, patterns and grammars are drawn; tools and tags are not."));
      return;
    }
    try {
      const { svg } = await call("v1/draw", { kind, shape, as: this.which });
      if (name === this.shown) {
        fill(this.picture, parsed(svg),
          kind === "schema" && h("p", { class: "quiet" }, "This is what the schema itself says. The server also closes objects about which it says nothing."));
      }
    } catch (error) {
      if (name === this.shown) fill(this.picture, h("p", { class: "bad", role: "alert" }, error.message));
    }
  }
}

/** The picture as an element. Its own style goes before it is read, because pages allow none: theirs
 * follows their colours. Labels are escaped, so nothing else in it can look like that style. */
function parsed(svg) {
  const plain = svg.replace(/<style>[^]*?<\/style>/, "");
  return document.importNode(new DOMParser().parseFromString(plain, "image/svg+xml").documentElement, true);
}
