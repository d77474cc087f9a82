// A request for an answer of the shape as code that can be pasted: curl, Python, TypeScript.

import { $, fill, h, notice } from "./dom.js";
import { hasKey } from "./api.js";

/** A command of curl. `json`: the text of a body; `parts`: fields of a form, `@` before names of files. */
export function curl(method, address, { json = null, parts = [] } = {}) {
  const hasBody = json !== null || parts.length > 0;
  const isUsual = method === (hasBody ? "POST" : "GET");
  const options = [
    ...(hasKey() ? ['-H "Authorization: Bearer $MASKWRIGHT_API_KEY"'] : []),
    ...(json === null ? [] : ["-H 'Content-Type: application/json'", `--data-binary @- <<'END_OF_REQUEST'\n${json}\nEND_OF_REQUEST`]),
    ...parts.map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`),
  ];
  return [`curl ${isUsual ? "" : `-X ${method} `}${/[?&*]/.test(address) ? quoted(address) : address}`, ...options].join(" \\\n  ");
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Programs by their name. `body`: the request; `base`: the address of the server. */
export const PROGRAMS = {
  curl: (body, base) => curl("POST", `${base}/v1/chat/completions`, { json: JSON.stringify(body, null, 2) }),
  Python: (body, base) =>
    `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${hasKey() ? "YOUR KEY" : "none"}")
answer = client.chat.completions.create(
${Object.entries(body).map(([name, value]) => `    ${name}=${python(value, 1)},`).join("\n")}
)
print(answer.choices[0].message${body.tools ? ".tool_calls" : ".content"})`,
  TypeScript: (body, base) =>
    `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${base}/v1", apiKey: "${hasKey() ? "YOUR KEY" : "none"}" });
const body: any = ${JSON.stringify(body, null, 2)};
const answer = await client.chat.completions.create(body);
console.log(answer.choices[0].message${body.tools ? ".tool_calls" : ".content"});`,
};

/** A JSON value as a literal of Python. */
export function python(value, depth = 0) {
  const inner = "    ".repeat(depth + 1), outer = "    ".repeat(depth);
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const rows = Array.isArray(value)
    ? value.map((each) => python(each, depth + 1))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${python(each, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (rows.length === 0) return open + close;
  const line = open + rows.join(", ") + close;
  return line.length < 70 && !line.includes("\n") ? line : `${open}\n${rows.map((row) => `${inner}${row},\n`).join("")}${outer}${close}`;
}

/** Opens the dialog with the programs. */
export function showPrograms(body) {
  const base = location.origin;
  const dialog = $("code");
  const shown = h("pre", { tabindex: "0", "aria-label": "The program" });
  let chosen = "curl";
  const buttons = Object.keys(PROGRAMS).map((name) =>
    h("button", { type: "button", "aria-pressed": "false", onclick: () => choose(name) }, name));
  const choose = (name) => {
    chosen = name;
    shown.textContent = PROGRAMS[name](body, base);
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === name));
  };
  fill(dialog,
    h("h2", { id: "code-title" }, "This request as code"),
    h("div", { class: "tools" }, buttons),
    shown,
    h("div", { class: "tools" },
      h("button", { type: "button", class: "main", id: "code-copy", onclick: () => copyText(PROGRAMS[chosen](body, base)) }, "Copy"),
      h("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  choose(chosen);
  dialog.showModal();
}

/** Puts a text on the clipboard. Pages that came over plain HTTP from another machine have only the
 * older way. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "sr", "aria-hidden": "true" });
    area.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  notice("Copied");
}
