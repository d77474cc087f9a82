// The page: what is in its fields, and what is asked and drawn when they change.

import { call, debounced, Latest } from "./api.js";
import { Cases } from "./cases.js";
import { $, count, fill, h, notice } from "./dom.js";
import { Editor } from "./editor.js";
import { OWN, setUpExamples } from "./examples.js";
import { Generate } from "./generate.js";
import { Diagram } from "./diagram.js";
import { drawInspection, drawReasons } from "./inspect.js";
import { decode, encode } from "./permalink.js";
import { indexAt, indexOfByte, marked, nodeAt, positionOf, readJson, ruleAt } from "./places.js";
import { KINDS, languageOf, placesInShape, shapeFields } from "./shapes.js";
import { copyText, showPrograms } from "./snippets.js";
import { Steps } from "./step.js";
import { Tabs } from "./tabs.js";
import { setUpTheme } from "./theme.js";
import { drawTree } from "./tree.js";

const DEBOUNCE = 60; // milliseconds after the last key until the server is asked
const PATIENCE = 500; // and until reasons are searched, which takes longer

const state = { kind: "schema", shapes: {}, model: "", view: "inspect", usable: false, checked: null, reading: null, at: null };
const quick = new Latest(); // questions that are asked while somebody writes
const slow = new Latest();

const shape = new Editor($("shape"), {
  id: "shape-text", label: "The shape", language: "json", numbered: true,
  onchange: () => { state.shapes[state.kind] = shape.text; shapeChanged(); },
});
const input = new Editor($("input"), {
  id: "input-text", label: "The text", wrap: true,
  onchange: () => { state.at = null; textSoon(); },
  oncaret: (index) => { state.at = index; inspectSoon(); },
});
const cases = new Cases((text) => setText(text), () => casesSoon());
const generate = new Generate($("view-generate"), source, (text) => setText(text), () => {});
const steps = new Steps($("view-step"), source, () => generate.request(), (text) => setText(text));

const diagram = new Diagram($("view-diagram"), source);
const kinds = new Tabs($("kinds"), KINDS.map(([name, title]) => [name, title]), () => "shape", setKind);
const views = new Tabs($("views"), [["inspect", "Match"], ["tree", "Tree"], ["diagram", "Diagram"], ["generate", "Generate"], ["step", "Step"]],
  (name) => `view-${name}`, showView);

const textSoon = debounced(DEBOUNCE, readText);
const shapeSoon = debounced(DEBOUNCE, checkShape);
const inspectSoon = debounced(DEBOUNCE, inspect);
const casesSoon = debounced(DEBOUNCE, runCases);
const whySoon = debounced(PATIENCE, searchReasons);

function source() {
  return { kind: state.kind, shape: shape.text, model: state.model };
}

// The fields

function setKind(kind) {
  state.kind = kind;
  shape.setLanguage(languageOf(kind));
  shape.text = state.shapes[kind] ?? OWN.find((each) => each.kind === kind)?.shape ?? (kind === "lark" ? LARK : "");
  state.shapes[kind] = shape.text;
  $("shape").setAttribute("aria-labelledby", `tab-kinds-${kind}`);
  shapeChanged();
}

const LARK = 'start: greeting ", " NAME "!"\ngreeting: "Hello" | "Good morning"\nNAME: /[A-Z][a-z]+/\n';

function shapeChanged() {
  steps.reset();
  shapeSoon();
}

/** Puts in everything at once: an example, or what a link holds. */
function load({ kind, shape: text, text: written, prompt, cases: kept }) {
  state.shapes = { [kind]: text };
  kinds.select(kind);
  generate.prompt.value = prompt ?? "";
  cases.data = kept ?? [];
  input.text = written ?? "";
  state.at = null;
  setKind(kind);
  if (written === null) writeOne("shortest"); // a schema that ships has no text of its own
}

function setText(text) {
  input.text = text;
  state.at = null;
  textSoon();
  showView("inspect");
  views.select("inspect");
}

function showView(name) {
  state.view = name;
  for (const [each] of views.buttons) $(`view-${each}`).hidden = each !== name;
  $(`view-${name}`).setAttribute("aria-labelledby", `tab-views-${name}`);
  drawView();
}

function drawView() {
  if (state.view === "diagram" && isReady()) diagram.draw();
  if (state.view === "tree") drawTree($("view-tree"), input.text, (start, stop) => input.reveal(start, stop));
}

// The shape

function checkShape() {
  quick.run("check", async (signal) => {
    const { kind, shape: text } = source();
    const found = await call("v1/check", { kind, shape: text }, signal).catch(refused);
    if (found === null || text !== shape.text) return;
    state.usable = found.usable;
    state.checked = { kind, shape: text };
    drawCheck(found);
    if (found.usable) {
      readText();
      runCases();
    } else {
      input.setMarks([]);
      fill($("verdict"), h("span", { class: "quiet" }, "The shape can't be used yet."));
      fill($("view-inspect"), h("p", { class: "quiet" }, "As soon as the shape can be used, this shows what it allows."));
    }
  });
}

function refused(error) {
  if (error.name === "AbortError") throw error;
  fill($("check"), h("span", { class: "bad" }, error.message));
  return null;
}

function drawCheck({ usable, fault, findings, ...facts }) {
  const rows = findings.filter((each) => each.line !== null);
  const marks = rows.filter((each) => each.severity !== "note").map((each) => ({ ...wordAt(shape.text, indexAt(shape.text, each.line, each.column)), kind: "warning" }));
  state.warnings = marks;
  if (usable) {
    shape.setMarks(marks);
    fill($("check"), h("span", { class: "good" }, "✓ can be used"),
      h("span", { class: "quiet" }, ` ${facts.enforced ? `${count(facts.enforced)} enforced · ` : ""}${facts.shortest_bytes === null ? "" : `${count(facts.shortest_bytes)} ${facts.shortest_bytes === 1 ? "byte" : "bytes"} at least · `}${facts.milliseconds.toFixed(1)} ms`));
  } else {
    const known = fault.line !== null;
    const start = known ? indexAt(shape.text, fault.line, fault.column) : 0;
    shape.setMarks(known ? [{ ...wordAt(shape.text, start), kind: "fault" }] : []);
    fill($("check"), h("span", { class: "bad" }, "✗ ", fault.message), " ",
      known && h("button", { type: "button", class: "chip", onclick: () => shape.reveal(start) }, `line ${fault.line}, column ${fault.column}`));
  }
  drawFindings(rows);
}

/** The word, string or sign at an index, to be underlined. */
function wordAt(text, index) {
  const start = Math.min(index, text.length);
  const found = /^(?:"(?:[^"\\\n]|\\.)*"|[\w$%@.-]+|[^\s])/.exec(text.slice(start));
  return { start, stop: start + (found?.[0].length ?? 1) };
}

function drawFindings(rows) {
  fill($("findings"), rows.length > 0 && h("details", { class: "findings" },
    h("summary", {}, summary(rows)),
    h("ul", {}, rows.map((each) => h("li", {},
      h("button", { type: "button", class: "chip", onclick: () => shape.reveal(indexAt(shape.text, each.line, each.column)) }, `${each.line}:${each.column}`),
      h("span", { class: each.severity }, ` ${each.severity}: `), each.message)))));
}

function summary(rows) {
  const notes = rows.filter((each) => each.severity === "note").length;
  const warnings = rows.length - notes;
  const words = (number, word) => (number === 0 ? "" : `${number} ${word}${number === 1 ? "" : "s"}`);
  return [words(warnings, "warning"), words(notes, "note")].filter(Boolean).join(", ");
}

// The text

/** The question about a text of the shape that was found to be usable, whatever has become of it since. */
function question(text, more = {}) {
  return { ...shapeFields(state.checked.kind, state.checked.shape), text, why: false, ...more };
}

/** Whether the shape in the field can be used. Where that isn't known yet, a check is under way, after
 * which the text is read. */
const isReady = () => state.usable && state.checked.kind === state.kind && state.checked.shape === shape.text;

function readText() {
  drawView();
  if (!isReady()) return;
  quick.run("read", async (signal) => {
    const text = input.text;
    if (!isReady()) return;
    const began = performance.now();
    const found = await call("v1/explain", question(text), signal);
    if (quick.isStale("read") || text !== input.text) return;
    state.reading = { ...found, text, fault: found.verdict === "mismatch" ? indexAt(text, found.line, found.column) : null };
    state.elapsed = performance.now() - began;
    drawVerdict();
    if (state.at === null) drawPlace(found, state.reading.fault ?? text.length);
    else inspect();
    if (found.verdict === "mismatch") whySoon();
    else slow.run("why", async () => {}); // what was asked about an earlier text is of no use
  });
}

function drawVerdict() {
  const { verdict, line, column, fault, text } = state.reading;
  const words = {
    match: ["good", "✓ matches"],
    incomplete: ["open", "… the beginning of a text that matches"],
    mismatch: ["bad", fault >= text.length ? "✗ ends too early" : "✗ doesn't match"],
  }[verdict];
  input.setMarks(verdict === "mismatch" ? [{ ...faultSpan(text, fault), kind: "fault" }] : []);
  fill($("verdict"), h("span", { class: words[0] }, words[1]),
    verdict === "mismatch" && [" ", h("button", { type: "button", class: "chip", onclick: () => input.reveal(fault, fault + 1) }, `line ${line}, column ${column}`)],
    h("span", { class: "quiet" }, ` ${count(text.length)} characters · ${state.elapsed.toFixed(0)} ms`));
}

/** The failing character; both units of one beyond the basic plane. */
function faultSpan(text, index) {
  return { start: index, stop: index + (text.codePointAt(index) > 0xffff ? 2 : 1) };
}

/** Shows what was allowed at the caret. */
function inspect() {
  const { reading } = state;
  if (!isReady() || reading === null || state.at === null) return;
  const at = reading.fault === null ? state.at : Math.min(state.at, reading.fault);
  if (at === reading.text.length || at === reading.fault) {
    drawPlace(reading, at);
    return;
  }
  quick.run("inspect", async (signal) => {
    const text = input.text.slice(0, at);
    const found = await call("v1/explain", question(text), signal);
    if (!quick.isStale("inspect") && input.text.startsWith(text)) drawPlace(found, at);
  });
}

const inspection = h("div", { id: "inspection" });
const reasons = h("div", { id: "reasons" });

function drawPlace(found, index) {
  fill($("view-inspect"), inspection, reasons);
  const { line, column } = positionOf(input.text, index);
  const isFault = index === state.reading.fault;
  const next = isFault ? ` instead of ${JSON.stringify(String.fromCodePoint(input.text.codePointAt(index) ?? 32))}` : "";
  const title = input.text === "" ? "At the beginning" : index >= input.text.length ? "At the end of the text" : `At line ${line}, column ${column}`;
  drawInspection(inspection, found, { title, words: index < input.text.length ? next : "" }, {
    insert: (text) => input.replace(index, index, text),
    schema: showSchema,
    rule: showRule,
  });
  reasons.hidden = !isFault && state.reading.fault !== null && state.at !== null && state.at < state.reading.fault;
  if (state.reading.verdict !== "mismatch") fill(reasons);
  const marks = placesInShape(state.kind, shape.text, found.place).map((each) => ({ ...each, kind: "place" }));
  shape.setMarks([...(state.warnings ?? []), ...marks]);
  if (marks.length > 0 && document.activeElement !== shape.area) shape.scrollTo(marks[0].start);
}

function showSchema(pointer) {
  const node = nodeAt(readJson(shape.text), pointer);
  if (node !== null) shape.reveal(marked(node).start, marked(node).stop);
}

function showRule(name) {
  const found = ruleAt(shape.text, name);
  if (found !== null) shape.reveal(found.start, found.stop);
}

function searchReasons() {
  const { reading } = state;
  if (!isReady() || reading?.verdict !== "mismatch" || reading.text !== input.text) return;
  slow.run("why", async (signal) => {
    const found = await call("v1/explain", question(reading.text, { why: true, shown: 0 }), signal);
    if (reading !== state.reading) return;
    drawReasons(reasons, found, {
      schema: showSchema,
      fix: ({ offset, replaces, by }) => {
        const start = indexOfByte(reading.text, offset);
        input.replace(start, start + replaces.length, by);
      },
    });
  });
}

function runCases() {
  if (!isReady() || cases.items.length === 0) return;
  quick.run("cases", (signal) => cases.run(
    async (text) => (await call("v1/explain", question(text, { shown: 0 }), signal)).verdict,
    () => quick.isStale("cases"),
  ));
}

// Buttons

async function writeOne(which) {
  const { kind, shape: text } = source();
  try {
    const { texts } = await call("v1/sample", { kind, shape: text, which, seed: Math.floor(Math.random() * 1e9) });
    setText(texts[0]);
  } catch (error) {
    notice(error.message);
  }
}

async function share() {
  const hash = await encode({ kind: state.kind, shape: shape.text, text: input.text, cases: cases.data, prompt: generate.prompt.value, view: state.view });
  history.replaceState(null, "", `#${hash}`);
  await copyText(location.href);
  notice("The link is copied. It holds everything: nothing is stored on the server.");
}

function showCode() {
  try {
    showPrograms(generate.request());
  } catch {
    notice("The shape is not valid JSON yet.");
  }
}

$("sample").addEventListener("click", () => writeOne("random"));
$("share").addEventListener("click", share);
$("copy").addEventListener("click", showCode);
$("keep").addEventListener("click", () => {
  const verdict = state.reading?.verdict ?? "match";
  cases.add(verdict === "mismatch" ? "reject" : verdict === "incomplete" ? "prefix" : "accept", input.text);
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    views.select("generate", true);
    generate.toggle();
  }
});
window.addEventListener("hashchange", () => open(false));

async function open(isFirst) {
  const kept = await decode(location.hash);
  if (kept !== null && KINDS.some(([name]) => name === kept.kind)) {
    load(kept);
    views.select(views.buttons.has(kept.view) ? kept.view : "inspect", true);
  } else if (isFirst) {
    load(OWN[0]);
    views.select("inspect", true);
  }
}

setUpTheme($("theme"));
const addShipped = setUpExamples($("examples"), load);
await open(true);
try {
  const { data } = await call("v1/models");
  state.model = data[0].id;
  $("model").textContent = state.model;
  await addShipped();
} catch (error) {
  notice(error.message);
}
