// A text field with colours and marks. The letters that are seen stand in a layer under a textarea
// whose own letters are transparent: so typing, selecting, undoing and screen readers work as in
// any text field. Both are in one cell of a grid that scrolls, so they can't shift apart.

import { h, fill } from "./dom.js";
import { runs } from "./highlight.js";

export class Editor {
  /** `onchange()` after the text has changed by the reader, `oncaret(index)` when the caret moves. */
  constructor(root, { id, label, language = "", wrap = false, numbered = false, onchange, oncaret }) {
    this.language = language;
    this.marks = [];
    this.layer = h("pre", { class: "layer", "aria-hidden": "true" });
    this.gutter = numbered ? h("pre", { class: "gutter", "aria-hidden": "true" }) : null;
    this.area = h("textarea", {
      id, spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-label": label,
      wrap: wrap ? "soft" : "off",
      oninput: () => { this.marks = []; this.#draw(); onchange(); },
    });
    let before = -1;
    const moved = () => {
      if (this.area.selectionStart === before) return;
      before = this.area.selectionStart;
      oncaret?.(before);
    };
    for (const name of ["keyup", "click"]) this.area.addEventListener(name, moved);
    this.area.addEventListener("keydown", (event) => this.#indent(event));
    this.box = h("div", { class: `editor${wrap ? " wrap" : ""}` }, this.gutter, h("div", { class: "stack" }, this.layer, this.area));
    fill(root, this.box);
    this.#draw();
  }

  get text() {
    return this.area.value;
  }

  /** Puts in another text; the caret stands at its beginning. */
  set text(text) {
    this.area.value = text;
    this.area.setSelectionRange(0, 0);
    this.marks = [];
    this.#draw();
    this.box.scrollTo(0, 0);
  }

  get caret() {
    return this.area.selectionStart;
  }

  setLanguage(language) {
    this.language = language;
    this.#draw();
  }

  /** Underlines and shades: `[{start, stop, kind}]`, kinds `fault`, `warning`, `place`, `caret`. */
  setMarks(marks) {
    this.marks = marks.map((mark) => ({ ...mark, stop: Math.max(mark.stop, mark.start + 1) }));
    this.#draw();
  }

  /** Selects a part of the text and brings it into view. */
  reveal(start, stop = start) {
    this.area.focus();
    this.area.setSelectionRange(start, stop);
    this.scrollTo(start);
  }

  /** Brings a place into view without taking the focus. */
  scrollTo(index) {
    const line = this.text.slice(0, index).split("\n").length - 1;
    const height = parseFloat(getComputedStyle(this.layer).lineHeight) || 20;
    if (!this.box.classList.contains("wrap")) {
      const top = line * height;
      if (top < this.box.scrollTop || top > this.box.scrollTop + this.box.clientHeight - 2 * height) {
        this.box.scrollTo({ top: Math.max(0, top - this.box.clientHeight / 2) });
      }
    }
  }

  /** Replaces a part of the text as if it had been typed, so that it can be undone. */
  replace(start, stop, text) {
    this.area.focus();
    this.area.setSelectionRange(start, stop);
    if (!document.execCommand("insertText", false, text)) {
      this.area.setRangeText(text, start, stop, "end");
      this.area.dispatchEvent(new Event("input"));
    }
  }

  /** Enter keeps the indentation. Tab leaves the field, as keyboards' users need it. */
  #indent(event) {
    if (event.key !== "Enter" || this.language === "" || event.isComposing) return;
    const before = this.text.slice(0, this.area.selectionStart);
    const indent = /(?:^|\n)([ \t]*)[^\n]*$/.exec(before)?.[1] ?? "";
    if (indent === "") return;
    event.preventDefault();
    this.replace(this.area.selectionStart, this.area.selectionEnd, `\n${indent}`);
  }

  #draw() {
    const text = this.text;
    const cuts = new Set([0, text.length]);
    const coloured = runs(text, this.language);
    for (const [start, stop] of coloured) cuts.add(start).add(stop);
    for (const { start, stop } of this.marks) cuts.add(Math.min(start, text.length)).add(Math.min(stop, text.length));
    const places = [...cuts].sort((a, b) => a - b);
    const pieces = [];
    let at = 0;
    for (let i = 0; i + 1 < places.length; i++) {
      const [start, stop] = [places[i], places[i + 1]];
      while (at < coloured.length && coloured[at][1] <= start) at++;
      const kinds = this.marks.filter((mark) => mark.start <= start && stop <= mark.stop).map((mark) => `mark-${mark.kind}`);
      if (at < coloured.length && coloured[at][0] <= start) kinds.push(`is-${coloured[at][2]}`);
      const piece = text.slice(start, stop);
      pieces.push(kinds.length ? h("span", { class: kinds.join(" ") }, piece) : piece);
    }
    // A mark at the end of the text needs something to stand under.
    const beyond = this.marks.filter((mark) => mark.start >= text.length).map((mark) => `mark-${mark.kind}`);
    pieces.push(h("span", { class: beyond.join(" ") }, beyond.length ? " " : "\u200b"));
    fill(this.layer, ...pieces);
    if (this.gutter) {
      const lines = text.split("\n").length;
      if (this.gutter.childElementCount !== 0 || this.lines !== lines) {
        this.lines = lines;
        this.gutter.textContent = Array.from({ length: lines }, (_, i) => i + 1).join("\n");
      }
    }
  }
}
