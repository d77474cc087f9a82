// Test cases: texts with what is expected of them, tried again whenever the shape changes.

import { $, fill, h, visible } from "./dom.js";

const EXPECTED = ["accept", "reject", "prefix"];
const HELP = "accept: the text has the shape. reject: it doesn't. prefix: it has the shape, or is the beginning of a text that has it.";

export class Cases {
  /** `load(text)` puts a case into the text field; `onchange()` after the list has changed. */
  constructor(load, onchange) {
    this.load = load;
    this.onchange = onchange;
    this.items = [];
  }

  /** The cases as they are kept in links: [expected, text]. */
  get data() {
    return this.items.map(({ expected, text }) => [expected, text]);
  }

  set data(pairs) {
    this.items = pairs.map(([expected, text]) => ({ expected: EXPECTED.includes(expected) ? expected : "accept", text, verdict: null }));
    $("cases").open = this.items.length > 0;
    this.draw();
  }

  add(expected, text) {
    if (this.items.some((item) => item.text === text)) return;
    this.items.push({ expected, text, verdict: null });
    $("cases").open = true;
    this.draw();
    this.onchange();
  }

  /** Leaves open what holds: the shape can't be used. */
  forget() {
    for (const item of this.items) item.verdict = null;
    this.draw();
  }

  /** Tries each case with `verdictOf(text)`, which returns "match", "incomplete" or "mismatch". */
  async run(verdictOf, isStale) {
    for (const item of this.items) {
      const verdict = await verdictOf(item.text);
      if (isStale()) return;
      item.verdict = verdict;
    }
    this.draw();
  }

  draw() {
    const tried = this.items.filter((item) => item.verdict !== null);
    const good = tried.filter(holds).length;
    $("cases-count").textContent = this.items.length === 0 ? "" : tried.length === 0 ? `${this.items.length}` : `${good} of ${this.items.length} as expected`;
    $("cases-count").className = tried.length === 0 ? "quiet" : good < tried.length ? "bad" : "good";
    $("cases-none").hidden = this.items.length > 0;
    fill($("cases-list"), ...this.items.map((item) => this.#row(item)));
  }

  #row(item) {
    const state = item.verdict === null ? "…" : holds(item) ? "✓" : "✗";
    const words = item.verdict === null ? "not tried yet" : holds(item) ? "as expected" : `not as expected: ${item.verdict}`;
    return h("li", {},
      h("span", { class: state === "✓" ? "good" : state === "✗" ? "bad" : "quiet", role: "img", "aria-label": words, title: words }, state),
      h("select", { "aria-label": "Expected", "data-help": HELP, onchange: (event) => { item.expected = event.target.value; this.draw(); this.onchange(); } },
        EXPECTED.map((each) => h("option", { selected: each === item.expected }, each))),
      h("button", { type: "button", class: "case", title: "Put this text into the field above", onclick: () => this.load(item.text) },
        h("code", {}, visible(item.text.slice(0, 120)) || "the empty text")),
      h("button", { type: "button", class: "small", "aria-label": "Remove this case", onclick: () => {
        this.items = this.items.filter((each) => each !== item);
        this.draw();
        this.onchange();
      } }, "×"));
  }
}

function holds({ expected, verdict }) {
  if (expected === "reject") return verdict !== "match";
  return verdict === "match" || (expected === "prefix" && verdict === "incomplete");
}
