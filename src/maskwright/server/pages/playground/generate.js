// Has the model write a text of the shape, and shows how each token was chosen: by the model or by
// the shape, what the model would have liked instead, and how much of its probability was kept.

import { call } from "./api.js";
import { count, fill, h, SHORTCUT, visible } from "./dom.js";
import { answerFields } from "./shapes.js";
import { events } from "./stream.js";

const percent = (share) => share > 0 && share < 0.0005 ? "<0.1%" : `${(100 * share).toFixed(share > 0.9995 || share === 0 ? 0 : 1)}%`;
const chance = (logarithm) => percent(Math.exp(logarithm));

export class Generate {
  /**
   * `source()`: kind, shape and model; `use(text)`: puts an answer into the text field;
   * `onchange()`: a field has changed; `onrunning(isRunning)`: the model begins, or has ended.
   */
  constructor(root, source, use, onchange, onrunning) {
    this.source = source;
    this.use = use;
    this.onrunning = onrunning;
    this.control = null;
    const oninput = onchange;
    this.prompt = h("textarea", { id: "prompt", rows: "3", oninput });
    this.fields = {
      system: h("textarea", { id: "system", rows: "1", placeholder: "none", oninput }),
      temperature: h("input", { id: "temperature", type: "number", min: "0", max: "100", step: "0.1", value: "0", oninput }),
      top_p: h("input", { id: "top-p", type: "number", min: "0", max: "1", step: "0.05", placeholder: "1", oninput }),
      seed: h("input", { id: "seed", type: "number", min: "0", step: "1", placeholder: "any", oninput }),
      max_tokens: h("input", { id: "limit", type: "number", min: "1", step: "1", value: "400", oninput }),
    };
    this.button = h("button", { type: "submit", class: "main", id: "generate" }, "Generate");
    this.out = h("div", { class: "tokens", id: "tokens", role: "group", "aria-label": "Tokens of the answer; arrow keys move between them" });
    this.detail = h("div", { id: "token-detail", class: "detail", "aria-live": "polite" });
    this.sums = h("div", { id: "sums" });
    fill(root,
      h("form", { class: "ask", novalidate: true, onsubmit: (event) => { event.preventDefault(); this.toggle(); } },
        h("label", { for: "system" }, "System prompt"), this.fields.system,
        h("label", { for: "prompt" }, "Prompt"), this.prompt,
        h("div", { class: "settings" },
          setting("Temperature", this.fields.temperature, "0: the likeliest token each time. 1: by the model's probabilities. Higher: more even."),
          setting("Top-p", this.fields.top_p, "Only the likeliest tokens that have this share of the probability together"),
          setting("Seed", this.fields.seed, "With the same number, the same answer"),
          setting("Max tokens", this.fields.max_tokens, "The answer has its shape within them, or the request is refused")),
        h("div", { class: "tools" }, this.button, h("span", { class: "quiet with-kbd" }, "or ", h("kbd", {}, SHORTCUT), " anywhere"))),
      this.out, this.detail, this.sums);
    this.out.addEventListener("keydown", (event) => this.#move(event));
  }

  toggle() {
    if (this.control === null) this.run();
    else this.control.abort();
  }

  /** What is in the fields beside the prompt, as it is kept. */
  get options() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value]));
  }

  set options(options) {
    for (const [name, field] of Object.entries(this.fields)) field.value = options[name] ?? field.defaultValue;
  }

  /** The request for an answer. Throws a SyntaxError for a shape that is no JSON where it has to be,
   * and a RangeError for a seed whose digits a page would lose. */
  request() {
    const { kind, shape, model } = this.source();
    const { system, ...numbers } = this.options;
    if (numbers.seed !== "" && !Number.isSafeInteger(Number(numbers.seed))) {
      throw new RangeError(`The seed has to be a whole number up to ${count(Number.MAX_SAFE_INTEGER)}.`);
    }
    return {
      model,
      messages: [...(system.trim() === "" ? [] : [{ role: "system", content: system }]), { role: "user", content: this.prompt.value }],
      ...answerFields(kind, shape),
      ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== "").map(([name, value]) => [name, Number(value)])),
    };
  }

  async run() {
    this.control = new AbortController();
    this.button.textContent = "Stop";
    this.onrunning(true);
    fill(this.out);
    fill(this.sums);
    fill(this.detail);
    this.arrivals = [];
    try {
      const ask = { ...this.request(), logprobs: true, top_logprobs: 8, maskwright: { explain: true, trace: true } };
      const { id, trace, reason } = await this.#stream(ask);
      if (id !== null) this.#explain(await call("v1/explain", { id }), trace, reason);
    } catch (error) {
      if (error.name === "AbortError") fill(this.sums, h("p", { class: "quiet" }, "Stopped."));
      else fill(this.sums, h("p", { class: "bad", role: "alert" }, error.message));
    } finally {
      this.control = null;
      this.button.textContent = "Generate";
      this.onrunning(false);
    }
  }

  async #stream(ask) {
    let id = null, trace = null, reason = null;
    for await (const event of events("v1/chat/completions", ask, this.control.signal)) {
      id = event.id;
      const choice = event.choices?.[0];
      reason = choice?.finish_reason ?? reason;
      trace = choice?.maskwright?.trace ?? trace;
      for (const entry of choice?.logprobs?.content ?? []) {
        this.arrivals.push(performance.now());
        this.out.append(h("span", { class: "token" }, shownToken(entry.token)));
      }
    }
    return { id, trace, reason };
  }

  /** Draws the tokens again, with what is known of each once the answer has ended. */
  #explain(found, trace, reason) {
    this.steps = found.steps;
    this.buttons = found.steps.map((step, at) =>
      h("button", {
        type: "button",
        class: `token ${step.forced ? "forced" : "chosen"}${step.text === "" ? " end" : ""}`,
        tabindex: at === 0 ? "0" : "-1",
        "aria-label": this.#words(step),
        onfocus: () => this.#show(at), onmouseenter: () => this.#show(at),
      }, shownToken(step.text)));
    fill(this.out, ...this.buttons);
    fill(this.sums, ...this.#figures(found, trace, reason));
    if (this.steps.length > 0) this.#show(0);
  }

  #words(step) {
    return step.forced
      ? `${visible(step.text)}: forced by the shape`
      : `${visible(step.text)}: chosen among ${count(step.allowed)}, ${percent(step.kept)} of the probability kept`;
  }

  #figures(found, trace, reason) {
    const text = found.steps.map((step) => step.text).join("");
    const facts = [
      ["Tokens", `${count(found.counts.tokens)}, ${count(found.counts.forced)} of them forced`],
      ["Mass kept", found.kept.mean === null ? "–" : `${percent(found.kept.mean)} on average, ${percent(found.kept.least)} at least`],
    ];
    if (trace?.ttft_ms !== null && trace?.ttft_ms !== undefined) {
      const each = trace.tpot_ms === null ? "" : `, then ${trace.tpot_ms.toFixed(1)} ms each`;
      facts.push(["Latency", `${trace.ttft_ms.toFixed(1)} ms to the first token${each}`]);
      facts.push(["Masks", `${count(trace.mask_rows)} filled in ${(trace.mask_ms ?? 0).toFixed(1)} ms`]);
    }
    return [
      h("p", { class: "legend" },
        h("span", { class: "token chosen" }, "chosen"), " by the model, ",
        h("span", { class: "token forced" }, "forced"), " by the shape",
        reason === "length" && h("strong", {}, " · shortened by the limit of tokens")),
      this.#bars(found.steps),
      h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      found.wanted.length > 0 && h("p", {}, "The model wanted but could not write: ",
        found.wanted.map((each) => h("code", { class: "chip", title: `${percent(each.probability)} summed over ${each.steps} steps` }, visible(each.text) || "∅"))),
      h("button", { type: "button", class: "small", onclick: () => this.use(text) }, "Use as text"),
    ];
  }

  /** Two small charts, a bar a token: the share kept by the mask, and the time until it arrived. */
  #bars(steps) {
    const gaps = this.arrivals.map((time, at) => (at === 0 ? 0 : time - this.arrivals[at - 1]));
    const longest = Math.max(1, ...gaps);
    const chart = (title, heights, kinds) => h("figure", { class: "chart" },
      h("figcaption", {}, title),
      h("div", { class: "bars", "aria-hidden": "true" }, heights.map((height, at) => {
        const bar = h("i", { class: kinds(at), onmouseenter: () => this.#show(Math.min(at, steps.length - 1)) });
        bar.style.height = `${Math.max(3, 100 * height)}%`;
        return bar;
      })));
    return h("div", { class: "charts" },
      chart("Probability kept by the mask, token by token", steps.map((step) => step.kept), (at) => (steps[at].forced ? "forced" : "chosen")),
      chart(`Milliseconds until each token arrived here, up to ${longest.toFixed(0)}`, gaps.map((gap) => gap / longest), () => "time"));
  }

  #show(at) {
    const step = this.steps[at];
    for (const [each, button] of this.buttons.entries()) button.tabIndex = each === at ? 0 : -1;
    this.buttons.forEach((button, each) => button.classList.toggle("current", each === at));
    const wanted = step.wanted.filter((each) => Math.exp(each.raw) >= 0.001);
    const gap = at > 0 && at < this.arrivals.length ? ` · arrived after ${(this.arrivals[at] - this.arrivals[at - 1]).toFixed(1)} ms` : "";
    fill(this.detail,
      h("h3", {}, h("code", {}, visible(step.text) || "∅"), h("span", { class: "quiet" }, ` token ${at + 1}, id ${step.token}${gap}`)),
      h("p", {}, step.forced ? "Forced by the shape: nothing else was allowed." : `Chosen among ${count(step.allowed)} allowed tokens. The model gave it ${chance(step.raw)}, the mask made that ${chance(step.masked)}.`),
      meter(step.kept),
      wanted.length > 0 && h("p", {}, "Masked, although likely: ", wanted.map((each) =>
        h("span", { class: "chip masked" }, h("del", {}, visible(each.text) || "∅"), ` ${chance(each.raw)}`))));
  }

  #move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || !this.buttons) return;
    const at = this.buttons.indexOf(document.activeElement) + step;
    if (at >= 0 && at < this.buttons.length) {
      event.preventDefault();
      this.buttons[at].focus();
    }
  }
}

function setting(name, field, help) {
  return h("label", { "data-help": help }, name, " ", field);
}

/** A bar for the share of the probability that a mask kept. */
export function meter(kept) {
  const bar = h("span", { class: "meter", role: "img", "aria-label": `${percent(kept)} of the probability kept` }, h("i"));
  bar.firstChild.style.width = `${100 * kept}%`;
  return h("p", { class: "kept" }, bar, ` ${percent(kept)} of the probability kept`);
}

function shownToken(text) {
  return text === "" ? "∅" : text.replaceAll("\n", "⏎\n");
}

export { chance, percent };
