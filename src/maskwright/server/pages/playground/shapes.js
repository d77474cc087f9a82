// The kinds of shapes, the fields of a request that each stands for, and where a place of it is.

import { marked, nodeAt, readJson, ruleAt } from "./places.js";

/** [name, title, language of the editor] */
export const KINDS = [
  ["schema", "JSON Schema", "json"],
  ["regex", "Regex", "regex"],
  ["lark", "Lark", "grammar"],
  ["gbnf", "GBNF", "grammar"],
  ["ebnf", "EBNF", "grammar"],
  ["tools", "Tools", "json"],
  ["structural_tag", "Tag", "json"],
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

/** Where the place of a text is in the shape: the parts of it to mark. */
export function placesInShape(kind, shape, place) {
  if (kind === "schema") {
    const tree = readJson(shape);
    return place.schemas.map((pointer) => nodeAt(tree, pointer)).filter((node) => node !== null).map(marked);
  }
  const rules = new Set(place.rules.map((stack) => stack.at(-1)));
  return [...rules].map((name) => ruleAt(shape, name)).filter((found) => found !== null);
}
