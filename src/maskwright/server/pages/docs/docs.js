// The reference of the API: shows the document that the server serves at `openapi.json`, which a
// search narrows down to the operations and schemas that contain a word.

import { call } from "../playground/api.js";
import { $, fill, h } from "../playground/dom.js";
import { setUpTheme } from "../playground/theme.js";
import { kindOf } from "./kinds.js";
import { blocks, inline } from "./markdown.js";
import { exampleOf, fieldsOf } from "./schemas.js";
import { Trial } from "./try.js";

const EVENTS = "text/event-stream";
const METHODS = ["get", "post", "delete"];

/** The entries of the page, and what a search reads of each. */
const SEARCHED = new Map();

/** A link to a schema of the document, or words for a schema without a name. */
function kind(schema) {
  return kindOf(schema).map((piece) =>
    piece.name ? h("a", { href: `#schema-${piece.name}` }, piece.name) : h("code", {}, piece.text));
}

function row(name, schema, required) {
  return h("tr", {},
    h("td", {}, h("code", {}, name), required && h("span", { class: "quiet" }, " required")),
    h("td", {}, kind(schema)),
    h("td", {}, inline(schema.description ?? "")));
}

function table(rows, titles = ["Name", "Type", "Meaning"]) {
  const head = titles.map((title) => h("th", { scope: "col" }, title));
  return h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows));
}

/** The fields of an object, or the schema as it stands in the document. */
function members(schema) {
  if (!schema.properties) return h("pre", { tabindex: "0" }, JSON.stringify(schema, null, 2));
  const required = schema.required ?? [];
  return table(Object.entries(schema.properties).map(([name, each]) => row(name, each, required.includes(name))));
}

function contents(content) {
  return Object.entries(content ?? {}).map(([type, { schema }]) =>
    h("p", {}, h("code", {}, type), " ", kind(type === EVENTS ? schema.properties.data : schema)));
}

function answer(status, given, { responses }) {
  const response = given.$ref ? responses[given.$ref.split("/").at(-1)] : given;
  const codes = given.$ref ? response.content["application/json"].schema.description : null;
  return h("tr", {}, h("td", {}, status), h("td", {}, contents(given.content)), h("td", {}, inline(response.description), " ", inline(codes ?? "")));
}

/** What an answer of JSON may look like: the document's own examples, or a value of its schema. */
function answerExamples(operation, { schemas }) {
  return Object.entries(operation.responses).filter(([status]) => Number(status) < 300).flatMap(([status, { content }]) => {
    const given = content?.["application/json"];
    if (!given) return [];
    const own = Object.entries(given.examples ?? {}).map(([name, { value }]) => [`Answer ${status}: ${name}`, value]);
    return own.length > 0 ? own : [[`Answer ${status}, for example`, exampleOf(given.schema, schemas)]];
  }).map(([title, value]) => [h("h3", {}, title), h("pre", { class: "example", tabindex: "0" }, JSON.stringify(value, null, 2))]);
}

/** An entry that is filled when it first unfolds: what is folded costs the browser nothing. `fields`: what
 * is said of each field of the call. */
function folded(id, summary, words, fields, contents) {
  const found = h("span", { class: "found" });
  const entry = h("details", { id }, h("summary", {}, summary, found));
  entry.addEventListener("toggle", () => entry.append(...[contents()].flat(9).filter(Boolean)), { once: true });
  SEARCHED.set(entry, { words: words.toLowerCase(), fields: [...fields].map(([name, about]) => [name, `${name} ${about}`.toLowerCase()]), found });
  return entry;
}

function operation(path, method, described, components) {
  const content = described.requestBody?.content;
  const parameters = described.parameters ?? [];
  const summary = [h("span", { class: `method ${method}` }, method.toUpperCase()), h("code", {}, path), h("span", { class: "quiet" }, " ", inline(described.summary))];
  const schemas = [...Object.values(content ?? {}), ...Object.values(described.responses).flatMap((each) => Object.values(each.content ?? {}))].map(({ schema }) => schema);
  const fields = fieldsOf(schemas, components.schemas);
  for (const { name, schema } of parameters) fields.set(name, schema.description ?? "");
  return folded(described.operationId, summary, path + JSON.stringify(described), fields, () => [
    described.description && blocks(described.description),
    parameters.length > 0 && table(parameters.map((each) => row(each.name, each.schema, each.required))),
    content && [h("h3", {}, "Body"), contents(content)],
    new Trial({ id: described.operationId, path, method, parameters, content }).element,
    answerExamples(described, components),
    h("h3", {}, "Answers"),
    table(Object.entries(described.responses).map(([status, each]) => answer(status, each, components)), ["Status", "Body", "Meaning"])]);
}

function schemaEntry([name, schema]) {
  return folded(`schema-${name}`, h("code", {}, name), name + JSON.stringify(schema), [], () => [
    schema.description && blocks(schema.description), members(schema)]);
}

function show(document_) {
  const { paths, components, info } = document_;
  $("model").textContent = info.version;
  fill($("about"), inline(info.description));
  const groups = new Map();
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS.filter((each) => item[each])) {
      const described = item[method];
      if (described.operationId.endsWith("Unversioned") && paths[`/v1${path}`]) continue; // like that with /v1
      if (!groups.has(described.tags[0])) groups.set(described.tags[0], []);
      groups.get(described.tags[0]).push(operation(path, method, described, components));
    }
  }
  fill($("operations"), [...groups].map(([tag, shown]) => h("section", { "aria-label": tag }, h("h2", {}, tag), shown)));
  fill($("schemas"), Object.entries(components.schemas).sort().map(schemaEntry));
}

const NAMED = 5; // fields that an entry names as found

/** Hides what doesn't contain all words of the search. A call contains all fields of its body and its
 * answers, and tells which of them have a word in their names. */
function search() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const [entry, { words: text, fields, found }] of SEARCHED) {
    entry.hidden = !words.every((word) => text.includes(word) || fields.some(([, about]) => about.includes(word)));
    const named = fields.map(([name]) => name).filter((name) => words.some((word) => name.toLowerCase().includes(word)));
    fill(found, named.slice(0, NAMED).map((name) => h("code", { class: "chip" }, name)), named.length > NAMED && ` and ${named.length - NAMED} more`);
  }
  for (const group of document.querySelectorAll("#operations > section")) group.hidden = group.querySelector("details:not([hidden])") === null;
  const left = [...SEARCHED.keys()].filter((entry) => !entry.hidden);
  $("found").textContent = words.length > 0 ? `${left.length} of ${SEARCHED.size}` : "";
}

/** Unfolds what the address names. */
function unfold() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!named?.matches("details")) return;
  named.hidden = false;
  named.open = true;
  named.scrollIntoView();
}

setUpTheme($("theme"));
$("search").addEventListener("input", search);
addEventListener("hashchange", unfold);
try {
  show(await call("openapi.json"));
  unfold();
} catch (error) {
  $("about").textContent = `The document could not be read: ${error.message}`;
}
