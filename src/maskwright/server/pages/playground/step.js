// One token at a time: the model's next tokens and what the shape allows of them, to choose from.

import { call } from "./api.js";
import { count, fill, h, visible } from "./dom.js";
import { chance, meter } from "./generate.js";
import { shapeFields } from "./shapes.js";
import { events } from "./stream.js";

/** Alternatives that the server tells of the model, and allowed tokens that are listed. */
const ALTERNATIVES = 20, LISTED = 200;

export class Steps {
  /** `source()`: kind and shape; `request()`: that for an answer; `use(text)`: puts in the text. */
  constructor(root, source, request, use) {
    this.source = source;
    this.request = request;
    this.use = use;
    this.root = root;
    this.reset();
  }

  reset() {
    this.prompt = null;
    this.chosen = [];
    fill(this.root,
      h("p", {}, "Write an answer token by token: at each step you choose among the tokens that the shape allows, and see how likely the model finds them."),
      h("button", { type: "button", class: "main", id: "step-begin", onclick: () => this.begin() }, "Begin"));
  }

  async begin() {
    try {
      this.prompt = await this.#promptTokens();
      this.chosen = [];
      await this.#ask();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The tokens of the prompt as the server renders it: the first event of an answer tells them. */
  async #promptTokens() {
    const control = new AbortController();
    try {
      for await (const event of events("v1/chat/completions", { ...this.request(), return_token_ids: true }, control.signal)) {
        if (event.prompt_token_ids) return event.prompt_token_ids;
      }
    } finally {
      control.abort();
    }
    throw new Error("The server didn't tell the tokens of the prompt.");
  }

  async #ask() {
    const { kind, shape } = this.source();
    const ids = this.chosen.map(({ id }) => id);
    const model = await call("v1/completions", {
      prompt: [...this.prompt, ...ids], max_tokens: 1, temperature: 0, logprobs: ALTERNATIVES,
      return_tokens_as_token_ids: true,
    });
    const likely = Object.entries(model.choices[0].logprobs.top_logprobs[0])
      .map(([name, raw]) => ({ id: Number(name.replace("token_id:", "")), raw }));
    const allowed = await call("v1/explain", {
      ...shapeFields(kind, shape), tokens: ids, shown: LISTED, why: false, candidates: likely.map(({ id }) => id),
    });
    await this.#draw(allowed, likely);
  }

  async #draw(allowed, likely) {
    const texts = new Map(allowed.tokens.ids.map((id, at) => [id, allowed.tokens.texts[at]]));
    const names = await this.#texts(likely.filter(({ id }) => !texts.has(id)).map(({ id }) => id));
    const options = likely.map(({ id, raw }) => ({
      id, raw, text: texts.get(id) ?? names.get(id), ok: allowed.tokens.candidates.includes(id),
    }));
    const [can, cannot] = [options.filter(({ ok }) => ok), options.filter(({ ok }) => !ok)];
    const kept = options.reduce((sum, { ok, raw }) => sum + (ok ? Math.exp(raw) : 0), 0);
    const rest = [...texts].filter(([id]) => !options.some((each) => each.id === id));
    fill(this.root,
      h("p", { class: "tokens", "aria-label": "The text so far" },
        this.chosen.length === 0 ? h("span", { class: "quiet" }, "Nothing is written yet.") : this.chosen.map(({ text, forced }) =>
          h("span", { class: `token ${forced ? "forced" : "chosen"}` }, text))),
      h("div", { class: "tools" },
        h("button", { type: "button", class: "small", disabled: this.chosen.length === 0, onclick: () => this.#undo() }, "Undo"),
        h("button", { type: "button", class: "small", onclick: () => this.begin() }, "Start again"),
        h("button", { type: "button", class: "small", onclick: () => this.use(this.chosen.map(({ text }) => text).join("")) }, "Use as text")),
      h("p", {}, allowed.tokens.count === 1 ? "The shape forces the next token." :
        `${count(allowed.tokens.count)} of ${count(allowed.tokens.of)} tokens are allowed.`),
      meter(Math.min(1, kept)),
      this.#options("The model's likeliest tokens that are allowed", can, allowed.tokens.count),
      rest.length > 0 && h("h3", {}, "Allowed as well"),
      rest.length > 0 && h("div", { class: "chips" }, rest.map(([id, text]) =>
        h("button", { type: "button", class: "chip", title: `token ${id}`, onclick: () => this.#choose(id, text, allowed.tokens.count) }, h("code", {}, visible(text) || "∅")))),
      cannot.length > 0 && h("h3", {}, "The model would also like, but the shape forbids"),
      this.#options("Likely tokens that are forbidden", cannot, allowed.tokens.count));
    (this.root.querySelector(".options button:not([disabled])") ?? this.root.querySelector(".chips button"))?.focus();
  }

  #options(label, options, size) {
    return options.length > 0 && h("ul", { class: "options", "aria-label": label }, options.map((each) => h("li", {}, this.#option(each, size))));
  }

  #option({ id, raw, text, ok }, size) {
    const bar = h("i", { class: ok ? "chosen" : "masked" });
    bar.style.width = `${100 * Math.exp(raw)}%`;
    return h("button", { type: "button", disabled: !ok, class: "option", title: `token ${id}`, onclick: () => this.#choose(id, text, size) },
      h("code", {}, ok ? visible(text) || "∅" : h("del", {}, visible(text) || "∅")),
      h("span", { class: "track", "aria-hidden": "true" }, bar),
      h("span", { class: "quiet" }, ok ? chance(raw) : `${chance(raw)}, not allowed`));
  }

  async #texts(ids) {
    if (ids.length === 0) return new Map();
    const { text } = await call("v1/detokenize", { tokens: ids.map((id) => [id]) });
    return new Map(ids.map((id, at) => [id, text[at]]));
  }

  async #choose(id, text, size) {
    if (text === "<end>") {
      this.#end();
      return;
    }
    this.chosen.push({ id, text, forced: size === 1 });
    await this.#again();
  }

  async #undo() {
    this.chosen.pop();
    await this.#again();
  }

  async #again() {
    try {
      await this.#ask();
    } catch (error) {
      this.#fail(error);
    }
  }

  #end() {
    const text = this.chosen.map((each) => each.text).join("");
    fill(this.root,
      h("p", { class: "tokens" }, this.chosen.map((each) => h("span", { class: `token ${each.forced ? "forced" : "chosen"}` }, each.text))),
      h("p", { class: "good" }, "The text is complete."),
      h("div", { class: "tools" },
        h("button", { type: "button", class: "main", onclick: () => this.use(text) }, "Use as text"),
        h("button", { type: "button", onclick: () => this.begin() }, "Start again")));
    this.root.querySelector("button").focus();
  }

  #fail(error) {
    fill(this.root, h("p", { class: "bad", role: "alert" }, error.message),
      h("button", { type: "button", id: "step-begin", onclick: () => this.begin() }, "Try again"));
    this.prompt = null;
  }
}
