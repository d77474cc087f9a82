// What the page begins with, and the menu of examples: a few of its own, and all that ship.

import { call } from "./api.js";
import { $, h } from "./dom.js";

const CONTACT = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 60 },
    email: { type: "string", format: "email" },
    age: { type: "integer", minimum: 0, maximum: 150 },
    role: { enum: ["admin", "author", "reader"] },
    tags: { type: "array", items: { type: "string", maxLength: 20 }, maxItems: 4 },
  },
  required: ["name", "age", "role"],
};

const LOOK_UP = [{
  type: "function",
  function: {
    name: "look_up_weather",
    description: "The weather of a city.",
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 40 }, unit: { enum: ["celsius", "fahrenheit"] } },
      required: ["city", "unit"],
    },
  },
}];

/** Examples of this page, in the order of the menu. */
export const OWN = [
  {
    title: "A person (JSON Schema)", kind: "schema", shape: JSON.stringify(CONTACT, null, 2),
    text: '{"name": "Ada Lovelace", "email": "ada@example.org", "age": 36, "role": "autor"}',
    prompt: "Ada Lovelace, 36, writes for us: ada@example.org.",
    cases: [["accept", '{"name": "Ann", "age": 34, "role": "reader"}'], ["reject", '{"name": "", "age": 34, "role": "reader"}'], ["prefix", '{"name": "A']],
  },
  {
    title: "A version (Regex)", kind: "regex", shape: "v(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-(alpha|beta|rc)\\.\\d+)?",
    text: "v1.20.3-rc.1", prompt: "Which version comes after v1.20.2?", cases: [["accept", "v1.0.0"], ["reject", "v01.0.0"]],
  },
  {
    title: "A greeting (Lark)", kind: "lark", shape: 'start: greeting ", " NAME "!"\ngreeting: "Hello" | "Good morning"\nNAME: /[A-Z][a-z]+/\n',
    text: "Good morning, Ada!", prompt: "Greet Ada.", cases: [["accept", "Hello, Bob!"], ["reject", "Hello!"]],
  },
  {
    title: "A sum (GBNF)", kind: "gbnf",
    shape: 'root   ::= sum\nsum    ::= term (" " ("+" | "-") " " term)*\nterm   ::= number | "(" sum ")"\nnumber ::= [0-9]+\n',
    text: "1 + (20 - 3 + 4", prompt: "Write a sum.", cases: [["accept", "1 + 2"], ["reject", "1 +"]],
  },
  {
    title: "An address line (EBNF)", kind: "ebnf",
    shape: 'root ::= street " " number ", " city\nstreet ::= word (" " word)*\ncity ::= word\nword ::= [A-Z] [a-z]+\nnumber ::= [1-9] [0-9]*\n',
    text: "Baker Street 221, London", prompt: "Where does Sherlock Holmes live?", cases: [],
  },
  {
    title: "A call of a function (Tools)", kind: "tools", shape: JSON.stringify(LOOK_UP, null, 2),
    text: "", prompt: "How warm is it in Oslo?", cases: [],
  },
  {
    title: "Words and a value (Structural tag)", kind: "structural_tag",
    shape: JSON.stringify({
      type: "structural_tag",
      format: {
        type: "sequence",
        elements: [
          { type: "const_string", value: "The answer is " },
          { type: "tag", begin: "<number>", content: { type: "json_schema", json_schema: { type: "integer", minimum: 0, maximum: 99 } }, end: "</number>" },
        ],
      },
    }, null, 2),
    text: "The answer is <number>42</number>", prompt: "Six times seven?", cases: [],
  },
];

/** What the fields of a kind hold in the beginning. */
export const startOf = (kind) => OWN.find((each) => each.kind === kind);

/** Fills the menu. `choose(example)` is called with what was chosen. */
export function setUpExamples(menu, choose) {
  const all = [...OWN];
  const group = (label, examples, offset) =>
    h("optgroup", { label }, examples.map((each, at) => h("option", { value: String(offset + at) }, each.title)));
  menu.append(group("To begin with", OWN, 0));
  menu.addEventListener("change", () => {
    if (menu.value !== "") choose(all[Number(menu.value)]);
    menu.value = "";
  });
  return async () => {
    const { examples } = await call("v1/examples");
    for (const [kind, label] of [["schema", "Schemas that ship"], ["lark", "Grammars that ship"]]) {
      const found = examples.filter((each) => each.kind === kind).map(shipped);
      menu.append(group(label, found, all.length));
      all.push(...found);
    }
  };
}

function shipped({ name, kind, shape, accepted, rejected }) {
  return {
    title: name, kind, shape, text: accepted[0] ?? null, prompt: `Write an example of ${name.replace(/[_-]/g, " ")}.`,
    cases: [...accepted.slice(0, 4).map((text) => ["accept", text]), ...rejected.slice(0, 3).map((text) => ["reject", text])],
  };
}
