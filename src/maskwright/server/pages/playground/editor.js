// A text field with colours and marks. The letters that are seen stand in a layer under a textarea
// whose own letters are transparent: so typing, selecting, undoing and screen readers work as in
// any text field. Both are in one cell of a grid that scrolls, so they can't shift apart. Where
// lines are not wrapped, the layer has only those in sight: a key costs the same in a long text.

import { h, fill } from "./dom.js";
import { MOST_COLOURED, runs } from "./highlight.js";
import { Lines } from "./places.js";

const AROUND = 30; // lines that are drawn above and below those in sight
const MARGIN = 64; // columns
const MOST_WRAPPED = 100000; // characters: Chromium breaks all lines of a wrapped text anew at each key
const ASCII = /^[ -~\n]*$/;

export class Editor {
  /** `onchange()` after the text has changed by the reader, `oncaret(index)` when the caret moves. */
  constructor(root, { id, label, language = "", wrap = false, numbered = false, onchange, oncaret }) {
    this.language = language;
    this.marks = [];
    this.layer = h("pre", { class: "layer", "aria-hidden": "true" });
    this.gutter = numbered ? h("pre", { class: "gutter", "aria-hidden": "true" }) : null;
    this.area = h("textarea", {
      id, spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-label": label,
      oninput: () => { this.#read(); onchange(); },
    });
    let before = -1;
    const moved = () => {
      if (this.area.selectionStart === before) return;
      before = this.area.selectionStart;
      oncaret?.(before);
    };
    for (const name of ["keyup", "click"]) this.area.addEventListener(name, moved);
    this.area.addEventListener("keydown", (event) => this.#indent(event));
    this.box = h("div", { class: "editor" }, this.gutter, h("div", { class: "stack" }, this.layer, this.area));
    fill(root, this.box);
    // Events say what is in sight: reading it while a key is handled would lay out everything.
    this.sight = { top: 0, width: 0, height: 800 };
    this.height = parseFloat(getComputedStyle(this.layer).lineHeight) || 20;
    const hundred = h("span", {}, "0".repeat(100));
    fill(this.layer, hundred);
    this.column = hundred.getBoundingClientRect().width / 100;
    this.wanted = wrap;
    this.#read();
    const look = (seen) => {
      Object.assign(this.sight, seen);
      if ("width" in seen || this.#range().some((bound, at) => bound !== this.drawn[at])) this.#draw();
    };
    this.box.addEventListener("scroll", () => look({ top: this.box.scrollTop }), { passive: true });
    new ResizeObserver(([{ contentRect }]) => look({ width: contentRect.width, height: contentRect.height })).observe(this.box);
  }

  get text() {
    return this.area.value;
  }

  /** Puts in another text; the caret stands at its beginning. */
  set text(text) {
    this.area.value = text;
    this.area.setSelectionRange(0, 0);
    this.box.scrollTo(0, 0);
    this.sight.top = 0;
    this.#read();
  }

  get wrap() {
    return this.wanted;
  }

  /** Whether long lines are broken, in a text of `MOST_WRAPPED` characters at most. */
  set wrap(wrap) {
    this.wanted = wrap;
    this.#draw();
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
    if (this.isWrapped) return;
    const top = this.lines.lineOf(index) * this.height;
    if (top < this.box.scrollTop || top > this.box.scrollTop + this.box.clientHeight - 2 * this.height) {
      this.box.scrollTo({ top: Math.max(0, top - this.box.clientHeight / 2) });
    }
  }

  /** Replaces a part of the text as if it had been typed, so that it can be undone. */
  replace(start, stop, text) {
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(start, stop);
    if (!document.execCommand(text === "" ? "delete" : "insertText", false, text)) {
      this.area.setRangeText(text, start, stop, "end");
      this.area.dispatchEvent(new Event("input"));
    }
  }

  /** Enter keeps the indentation. Tab leaves the field, as keyboards' users need it. */
  #indent(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || this.language === "" || event.isComposing) return;
    const before = this.text.slice(0, this.area.selectionStart);
    const indent = /^[ \t]*/.exec(before.slice(before.lastIndexOf("\n") + 1))[0];
    if (indent === "") return;
    event.preventDefault();
    this.replace(this.area.selectionStart, this.area.selectionEnd, `\n${indent}`);
  }

  /** Finds the lines of a new text, and the columns of the longest one at most. */
  #read() {
    const text = this.text;
    this.lines = new Lines(text);
    const { starts } = this.lines;
    const columns = starts.reduce((most, start, at) => Math.max(most, (starts[at + 1] ?? text.length + 1) - 1 - start), 0);
    const most = ASCII.test(text) ? columns : 4 * columns; // tabs and letters of other scripts are wider
    this.columns = MARGIN * Math.ceil((most + 1) / MARGIN); // so that a longer line seldom makes the field wider
    this.marks = [];
    this.#draw();
  }

  /** The first and the last line that are drawn. */
  #range() {
    if (this.isWrapped) return [0, this.lines.starts.length];
    const first = Math.min(Math.floor(this.sight.top / this.height), this.lines.starts.length - 1), inSight = Math.ceil(this.sight.height / this.height);
    const page = (line) => Math.floor(line / AROUND) * AROUND; // so that not every pixel draws anew
    return [Math.max(0, page(first) - AROUND), Math.min(this.lines.starts.length, page(first + inSight) + 2 * AROUND)];
  }

  #draw() {
    const text = this.text;
    this.isWrapped = this.wanted && text.length <= MOST_WRAPPED;
    this.box.classList.toggle("wrap", this.isWrapped);
    this.area.wrap = this.isWrapped ? "soft" : "off";
    const [first, last] = (this.drawn = this.#range());
    const from = this.lines.starts[first], to = this.lines.starts[last] === undefined ? text.length : this.lines.starts[last] - 1;
    const lines = this.lines.starts.length, digits = String(lines).length;
    const beside = this.gutter ? Math.ceil(digits * this.column) + 22 : 0;
    this.#resize(this.isWrapped ? ["", ""] : [
      `${Math.max(this.sight.width - beside, Math.ceil(this.columns * this.column) + 24)}px`,
      `${Math.max(this.sight.height, lines * this.height + 20)}px`]);
    this.layer.style.paddingTop = `${10 + (this.isWrapped ? 0 : first * this.height)}px`;
    fill(this.layer, ...this.#pieces(text, from, to));
    if (this.gutter) {
      this.gutter.style.paddingTop = this.layer.style.paddingTop;
      this.gutter.style.width = `${beside}px`;
      this.gutter.textContent = this.isWrapped ? "" : Array.from({ length: last - first }, (_, at) => first + at + 1).join("\n");
    }
  }

  /** Sets the size where it changes, in pixels: Chromium breaks a long text into lines anew for each other size. */
  #resize(size) {
    if (String(size) === this.size) return;
    this.size = String(size);
    for (const { style } of [this.layer, this.area]) [style.width, style.height] = size;
  }

  /** The part of a text that is drawn, cut where its colour or its marks change. */
  #pieces(text, from, to) {
    // A comment may have begun before what is in sight; only in a long text it is not looked for there.
    const isShort = text.length <= MOST_COLOURED;
    const offset = isShort ? 0 : from;
    const coloured = runs(isShort ? text : text.slice(from, to), this.language)
      .map(([start, stop, kind]) => [start + offset, stop + offset, kind]).filter(([start, stop]) => stop > from && start < to);
    const marks = this.marks.filter((mark) => mark.stop > from && mark.start < to);
    const cuts = new Set([from, to]);
    for (const [start, stop] of coloured) cuts.add(Math.max(start, from)).add(Math.min(stop, to));
    for (const { start, stop } of marks) cuts.add(Math.max(start, from)).add(Math.min(stop, to));
    const places = [...cuts].sort((a, b) => a - b);
    const pieces = [];
    let at = 0;
    for (let i = 0; i + 1 < places.length; i++) {
      const [start, stop] = [places[i], places[i + 1]];
      while (at < coloured.length && coloured[at][1] <= start) at++;
      const kinds = marks.filter((mark) => mark.start <= start && stop <= mark.stop).map((mark) => `mark-${mark.kind}`);
      if (at < coloured.length && coloured[at][0] <= start) kinds.push(`is-${coloured[at][2]}`);
      const piece = text.slice(start, stop);
      pieces.push(kinds.length ? h("span", { class: kinds.join(" ") }, piece) : piece);
    }
    // A mark at the end of the text needs something to stand under.
    const beyond = this.marks.filter((mark) => mark.start >= text.length).map((mark) => `mark-${mark.kind}`);
    if (to === text.length) pieces.push(h("span", { class: beyond.join(" ") }, beyond.length ? " " : "\u200b"));
    return pieces;
  }
}
