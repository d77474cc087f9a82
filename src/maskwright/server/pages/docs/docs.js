// The reference of the API: shows the document that the server serves at `openapi.json`, which a
// search narrows down to the operations and schemas that contain a word.

import { $, fill, h } from "../playground/dom.js";
import { setUpTheme } from "../playground/theme.js";
import { kindOf } from "./kinds.js";

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
    h("td", {}, schema.description ?? ""));
}

function table(rows) {
  const head = ["Name", "Type", "Meaning"].map((title) => h("th", { scope: "col" }, title));
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

function examples(content) {
  return Object.entries(content?.["application/json"]?.examples ?? {}).map(([name, { value }]) => [
    h("h3", {}, `Example: ${name}`), h("pre", { tabindex: "0" }, JSON.stringify(value, null, 2))]);
}

function answer(status, given, responses) {
  const told = given.$ref ? responses[given.$ref.split("/").at(-1)] : given;
  const codes = given.$ref ? told.content["application/json"].schema.description : null;
  return h("tr", {}, h("td", {}, status), h("td", {}, contents(given.content)), h("td", {}, told.description, " ", codes));
}

/** An entry that is filled when it first unfolds: what is folded costs the browser nothing. */
function folded(id, summary, words, contents) {
  const entry = h("details", { id }, h("summary", {}, summary));
  entry.addEventListener("toggle", () => entry.append(...[contents()].flat(9).filter(Boolean)), { once: true });
  SEARCHED.set(entry, words.toLowerCase());
  return entry;
}

function operation(path, method, told, responses) {
  const takes = told.requestBody?.content;
  const parameters = told.parameters ?? [];
  const summary = [h("span", { class: "method" }, method.toUpperCase()), h("code", {}, path), h("span", { class: "quiet" }, ` ${told.summary}`)];
  return folded(told.operationId, summary, path + JSON.stringify(told), () => [
    parameters.length > 0 && table(parameters.map((each) => row(each.name, each.schema, each.required))),
    takes && [h("h3", {}, "Body"), contents(takes), examples(takes)],
    h("h3", {}, "Answers"),
    table(Object.entries(told.responses).map(([status, each]) => answer(status, each, responses)))]);
}

function schemaEntry([name, schema]) {
  return folded(`schema-${name}`, h("code", {}, name), name + JSON.stringify(schema), () => [
    schema.description && h("p", {}, schema.description), members(schema)]);
}

function show(document_) {
  const { paths, components, info } = document_;
  $("model").textContent = info.version;
  $("about").textContent = info.description;
  const groups = new Map();
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS.filter((each) => item[each])) {
      const told = item[method];
      if (told.operationId.endsWith("Unversioned") && paths[`/v1${path}`]) continue; // like that with /v1
      if (!groups.has(told.tags[0])) groups.set(told.tags[0], []);
      groups.get(told.tags[0]).push(operation(path, method, told, components.responses));
    }
  }
  fill($("operations"), [...groups].map(([tag, shown]) => [h("h2", {}, tag), shown]));
  fill($("schemas"), Object.entries(components.schemas).sort().map(schemaEntry));
}

/** Hides what doesn't contain all words of the search. */
function search() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const [entry, text] of SEARCHED) entry.hidden = !words.every((word) => text.includes(word));
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
  show(await (await fetch("openapi.json")).json());
  unfold();
} catch (error) {
  $("about").textContent = `The document could not be read: ${error.message}`;
}
