// One call of the API: its parameters and body to be filled in, the request as code, and its answer.

import { exchange, hasKey } from "../playground/api.js";
import { count, fill, h } from "../playground/dom.js";
import { formatted } from "../playground/format.js";
import { copyText, curl, python } from "../playground/snippets.js";

const JSON_TYPE = "application/json", FORM = "multipart/form-data";
const MOST_SHOWN = 1000000; // characters of an answer

/** The part of an entry in which a call is tried. `call`: its path, method, parameters and body. */
export class Trial {
  constructor({ id, path, method, parameters, content }) {
    this.path = path;
    this.method = method.toUpperCase();
    this.fields = parameters.map((each) => [each, field(`${id}-${each.name}`, each.schema, () => this.show())]);
    this.isForm = content?.[FORM] !== undefined;
    if (this.isForm) {
      this.file = h("input", { type: "file", id: `${id}-file`, onchange: () => this.show() });
      this.purpose = h("input", { id: `${id}-purpose`, value: "batch", oninput: () => this.show() });
    }
    const bodies = Object.entries(content?.[JSON_TYPE]?.examples ?? {}).map(([name, { value }]) => [name, JSON.stringify(value, null, 2)]);
    if (content?.[JSON_TYPE]) {
      this.body = h("textarea", { id: `${id}-body`, spellcheck: "false", rows: "9", oninput: () => this.show() });
      this.body.value = bodies[0]?.[1] ?? "{}";
    }
    this.code = h("pre", { class: "program", tabindex: "0", role: "group", "aria-label": "The request as code" });
    this.language = "curl";
    this.languages = ["curl", "Python"].map((name) => h("button", { type: "button", class: "small", onclick: () => this.show(name) }, name));
    this.button = h("button", { type: "submit", class: "main" }, "Send");
    this.out = h("div", { class: "answer", "aria-live": "polite" });
    this.element = h("form", { class: "trial", onsubmit: (event) => { event.preventDefault(); this.toggle(); } },
      h("h3", {}, "Try it"),
      this.fields.map(([{ name, required, in: place }, input]) => h("label", {}, h("code", {}, name), h("span", { class: "quiet" }, ` in the ${place}${required ? ", required" : ""}`), input)),
      this.isForm && [h("label", {}, h("code", {}, "file"), this.file), h("label", {}, h("code", {}, "purpose"), this.purpose)],
      this.body && h("label", { for: this.body.id }, "Body"),
      bodies.length > 1 && h("select", { "aria-label": "Example of a body", onchange: (event) => { this.body.value = bodies[event.target.selectedIndex][1]; this.show(); } },
        bodies.map(([name]) => h("option", {}, `Example: ${name}`))),
      this.body,
      h("div", { class: "tools" }, this.button, h("span", { class: "push" }), this.languages,
        h("button", { type: "button", class: "small", onclick: () => copyText(this.code.textContent) }, "Copy")),
      this.code, this.out);
    this.show();
  }

  /** The address, with the parameters that are given. */
  get target() {
    let path = this.path;
    const query = new URLSearchParams();
    for (const [{ name, in: place }, input] of this.fields) {
      if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(input.value) || `{${name}}`);
      else if (input.value !== "") query.set(name, input.value);
    }
    return path + (query.size > 0 ? `?${query}` : "");
  }

  /** Shows the request as code, in the language that was chosen last or is chosen now. */
  show(language = this.language) {
    this.language = language;
    for (const button of this.languages) button.setAttribute("aria-pressed", String(button.textContent === language));
    const address = location.origin + this.target;
    const parts = this.isForm ? [["file", `@${this.file.files[0]?.name ?? "requests.jsonl"}`], ["purpose", this.purpose.value]] : [];
    this.code.textContent = language === "curl" ? curl(this.method, address, { json: this.body?.value ?? null, parts }) : this.#python(address, parts);
  }

  #python(address, parts) {
    let json = null;
    try {
      if (this.body) json = python(JSON.parse(this.body.value), 1);
    } catch {
      return "# The body is not valid JSON yet.";
    }
    const [[, file] = [], ...fields] = parts;
    const given = [
      JSON.stringify(address),
      ...(hasKey() ? ['headers={"Authorization": "Bearer YOUR KEY"}'] : []),
      ...(json === null ? [] : [`json=${json}`]),
      ...(file === undefined ? [] : [`files={"file": open(${JSON.stringify(file.slice(1))}, "rb")}`, `data=${python(Object.fromEntries(fields), 1)}`]),
      "timeout=None",
    ];
    return `import httpx\n\nanswer = httpx.${this.method.toLowerCase()}(\n${given.map((each) => `    ${each},\n`).join("")})\nprint(answer.text)`;
  }

  toggle() {
    if (this.control) this.control.abort();
    else this.send();
  }

  async send() {
    const missing = this.fields.find(([{ required }, input]) => required && input.value === "");
    if (missing) {
      missing[1].focus();
      fill(this.out, h("p", { class: "bad", role: "alert" }, `${missing[0].name} is needed.`));
      return;
    }
    this.control = new AbortController();
    this.button.textContent = "Stop";
    const status = h("p", {}, "…"), shown = h("pre", { tabindex: "0", role: "group", "aria-label": "The answer" });
    fill(this.out, status);
    const began = performance.now();
    try {
      const response = await exchange(this.target, this.#request());
      const say = () => fill(status, h("strong", { class: response.ok ? "good" : "bad" }, `${response.status} ${response.statusText}`),
        h("span", { class: "quiet" }, ` ${response.headers.get("content-type") ?? "no body"} · ${(performance.now() - began).toFixed(0)} ms`));
      say();
      fill(this.out, status, shown);
      await read(response, (text) => (shown.textContent = text));
      say();
    } catch (error) {
      fill(status, h("span", { class: "bad" }, error.name === "AbortError" ? "Stopped." : error.message));
    } finally {
      this.control = null;
      this.button.textContent = "Send";
      this.show(); // a key may have been given
    }
  }

  #request() {
    const { method, control: { signal } } = this;
    if (this.body) return { method, signal, headers: { "content-type": JSON_TYPE }, body: this.body.value };
    if (!this.isForm) return { method, signal };
    const body = new FormData();
    if (this.file.files.length > 0) body.set("file", this.file.files[0]);
    body.set("purpose", this.purpose.value);
    return { method, signal, body };
  }
}

function field(id, schema, oninput) {
  if (!schema.enum) return h("input", { id, placeholder: schema.default ?? null, oninput });
  return h("select", { id, onchange: oninput }, ["", ...schema.enum].map((each) => h("option", {}, each)));
}

/** Reads an answer as it arrives: JSON is laid out when it is complete. `show(text)` gets all so far. */
async function read(response, show) {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
    show(cut(text));
  }
  const isJson = (response.headers.get("content-type") ?? "").startsWith(JSON_TYPE);
  show(cut(isJson ? laidOut(text) : text));
}

function cut(text) {
  const more = text.length - MOST_SHOWN;
  return more > 0 ? `${text.slice(0, MOST_SHOWN)}\n… and ${count(more)} characters more` : text;
}

function laidOut(text) {
  try {
    return formatted(text);
  } catch {
    return text;
  }
}
