// The kinds of shapes, the fields of a request that each stands for, and where a place of it is.

import { marked, nodeAt, readJson, ruleAt } from "./places.js";

/** [name, title, language of the editor, what it is] */
export const KINDS = [
  ["schema", "JSON Schema", "json", "JSON values: their types, members and bounds"],
  ["regex", "Regex", "regex", "One regular expression that the whole text matches"],
  ["lark", "Lark", "grammar", "A grammar with rules and terminals, as the Python package Lark writes it"],
  ["gbnf", "GBNF", "grammar", "A grammar as llama.cpp writes it; its first rule is root"],
  ["ebnf", "EBNF", "grammar", "A grammar as the W3C writes it; its first rule is root"],
  ["tools", "Tools", "json", "Functions that the model may call: the text is a call with its arguments"],
  ["structural_tag", "Tag", "json", "Structural tag: free text in which certain marks begin a part with a shape of its own, as <number>42</number>"],
];

export const languageOf = (kind) => KINDS.find(([name]) => name === kind)[2];

/**
 * The fields of `/v1/explain` for a shape. A schema or tag goes as text: a number would lose its
 * digits if this page read it. Throws for tools that are no JSON.
 */
export function shapeFields(kind, shape) {
  switch (kind) {
    case "schema": return { guided_json: shape };
    case "regex": return { response_format: { type: "regex", regex: shape } };
    case "structural_tag": return { structural_tag: shape };
    case "tools": return { tools: JSON.parse(shape), tool_choice: "required" };
    default: return { response_format: { type: "grammar", grammar: shape, syntax: kind } };
  }
}

/** The fields of a request for an answer, as somebody would write them. */
export function answerFields(kind, shape) {
  if (kind === "schema") {
    return { response_format: { type: "json_schema", json_schema: { name: "answer", schema: JSON.parse(shape) } } };
  }
  if (kind === "structural_tag") {
    return { response_format: { type: "structural_tag", ...JSON.parse(shape) } };
  }
  return shapeFields(kind, shape);
}

let parsed = { shape: null, tree: null };

/** Where the place of a text is in the shape: the parts of it to mark. */
export function placesInShape(kind, shape, place) {
  if (kind === "schema") {
    if (shape !== parsed.shape) parsed = { shape, tree: readJson(shape) }; // the text changes more often
    const { tree } = parsed;
    return place.schemas.map((pointer) => nodeAt(tree, pointer)).filter((node) => node !== null).map(marked);
  }
  const rules = new Set(place.rules.map((stack) => stack.at(-1)));
  return [...rules].map((name) => ruleAt(shape, name)).filter((found) => found !== null);
}
