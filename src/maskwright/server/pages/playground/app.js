// The page: what is in its fields, and what is asked and drawn when they change.

import { call, debounced, Latest } from "./api.js";
import { Cases } from "./cases.js";
import { $, count, fill, h, notice, SHORTCUT } from "./dom.js";
import { Editor } from "./editor.js";
import { setUpExamples, startOf } from "./examples.js";
import { keepPage, setUpFiles } from "./files.js";
import { formatted } from "./format.js";
import { Generate } from "./generate.js";
import { setUpHelp, term } from "./help.js";
import { Diagram } from "./diagram.js";
import { drawInspection, drawReasons } from "./inspect.js";
import { decode, encode } from "./permalink.js";
import { indexAt, indexOfByte, Lines, marked, nodeAt, positionOf, readJson, ruleAt } from "./places.js";
import { keep, kept } from "./session.js";
import { KINDS, languageOf, placesInShape, shapeFields } from "./shapes.js";
import { copyText, showPrograms } from "./snippets.js";
import { Steps } from "./step.js";
import { Tabs } from "./tabs.js";
import { setUpTheme } from "./theme.js";
import { drawTree } from "./tree.js";

const DEBOUNCE = 60; // milliseconds after the last key until the server is asked
const PATIENCE = 500; // and until reasons are searched, which takes longer, and the state is kept
const OF_A_SHAPE = ["check", "read", "cases", "inspect"]; // questions that another shape makes useless
const LISTED = 200; // findings that are listed and underlined
const TOY = "maskwright-demo"; // the name of the model that ships

// `works` has what was written for each kind: shape, text, cases and prompt.
const state = { kind: "schema", works: {}, model: "", view: "inspect", usable: false, checked: null, warnings: [], reading: null, at: null, before: null };
const quick = new Latest(); // questions that are asked while somebody writes
const slow = new Latest();

const shape = new Editor($("shape"), {
  id: "shape-text", label: "The shape", language: "json", numbered: true,
  onchange: () => { shapeChanged(); keepSoon(); },
});
const input = new Editor($("input"), {
  id: "input-text", label: "The text", wrap: true,
  onchange: () => { state.at = null; textSoon(); keepSoon(); },
  oncaret: (index) => { state.at = index; inspectSoon(); },
});
const cases = new Cases((text) => setText(text), () => { casesSoon(); keepSoon(); });
const generate = new Generate($("view-generate"), source, (text) => setText(text), () => keepSoon(), drawAsk);
const steps = new Steps($("view-step"), source, () => generate.request(), (text) => setText(text));

const diagram = new Diagram($("view-diagram"), source);
const kinds = new Tabs($("kinds"), KINDS.map(([name, title, , help]) => [name, title, help]), () => "shape", changeKind);
const views = new Tabs($("views"), [
  ["inspect", "Match", "What is allowed where the text ends, fails, or where you click"],
  ["tree", "Tree", "The values of a JSON text"],
  ["diagram", "Diagram", "The shape as a picture"],
  ["generate", "Generate", "Have the model write a text of the shape"],
  ["step", "Step", "Write an answer one token at a time: you choose, the shape allows, the model tells what it would choose"],
], (name) => `view-${name}`, showView);

const textSoon = debounced(DEBOUNCE, readText);
const shapeSoon = debounced(DEBOUNCE, checkShape);
const inspectSoon = debounced(DEBOUNCE, inspect);
const casesSoon = debounced(DEBOUNCE, runCases);
const whySoon = debounced(PATIENCE, searchReasons);
const keepSoon = debounced(PATIENCE, keepNow);

function source() {
  return { kind: state.kind, shape: shape.text, model: state.model };
}

// The fields

/** What is in the fields of the kind that is shown. */
function work() {
  return { shape: shape.text, text: input.text, cases: cases.data, prompt: generate.prompt.value };
}

/** Everything that was written on the page. */
function everything() {
  return { kind: state.kind, works: { ...state.works, [state.kind]: work() }, view: state.view, wrap: shape.wrap, options: generate.options };
}

function keepNow() {
  keep(everything());
}

/** Shows the fields of a kind: as they were left, or as they begin. */
function setKind(kind) {
  const { shape: text, text: written, cases: tried, prompt } = (state.works[kind] ??= startOf(kind));
  Object.assign(state, { kind, usable: false, reading: null, at: null, warnings: [] });
  for (const name of ["check", "findings", "verdict"]) fill($(name));
  shape.setLanguage(languageOf(kind));
  shape.text = text;
  input.text = written ?? "";
  cases.data = tried ?? [];
  generate.prompt.value = prompt ?? "";
  $("format").disabled = languageOf(kind) !== "json";
  $("shape").setAttribute("aria-labelledby", `tab-kinds-${kind}`);
  shapeChanged();
}

function changeKind(kind) {
  if (kind === state.kind) return;
  state.works[state.kind] = work();
  setKind(kind);
  keepSoon();
}

function shapeChanged() {
  steps.reset();
  shapeSoon();
}

/** Puts everything in, as `everything` returned it. */
function restore({ kind, works, view, wrap, options }) {
  state.works = works;
  kinds.select(kind);
  setKind(kind);
  generate.options = options ?? {};
  setWrap(wrap ?? false);
  views.select(views.buttons.has(view) ? view : "inspect", true);
}

/** Puts in an example, or what a link holds, in place of what was written for that kind. */
function load({ kind, shape: text, text: written, prompt, cases: tried, view, options }) {
  state.before = everything();
  $("undo").hidden = false;
  restore({ ...state.before, works: { ...state.before.works, [kind]: { shape: text, text: written, prompt, cases: tried } },
    kind, view: view ?? "inspect", options: options ?? state.before.options });
  keepSoon();
  if (written === null) writeOne("shortest"); // a schema that ships has no text of its own
}

function setText(text) {
  const active = document.activeElement;
  input.replace(0, input.text.length, text);
  if (active === document.body) input.area.blur();
  else active.focus({ preventScroll: true });
  views.select("inspect", true);
}

function showView(name) {
  state.view = name;
  for (const [each] of views.buttons) $(`view-${each}`).hidden = each !== name;
  $(`view-${name}`).setAttribute("aria-labelledby", `tab-views-${name}`);
  drawView();
  keepSoon();
}

function drawView() {
  if (state.view === "diagram" && isReady()) diagram.draw();
  if (state.view === "tree") drawTree($("view-tree"), input.text, (start, stop) => input.reveal(start, stop));
}

// The shape

function checkShape() {
  quick.run("check", async (signal) => {
    const { kind, shape: text } = source();
    const found = await call("v1/check", { kind, shape: text }, signal).catch((error) => refused("check", error));
    if (found === null || kind !== state.kind || text !== shape.text) return;
    state.usable = found.usable;
    state.checked = { kind, shape: text };
    drawCheck(found);
    $("written").classList.toggle("off", !found.usable);
    if (found.usable) {
      readText();
      runCases();
    } else {
      state.reading = null;
      input.setMarks([]);
      cases.forget();
      fill($("verdict"), h("span", { class: "quiet" }, "The shape can't be used yet."));
      fill($("view-inspect"), h("p", { class: "quiet" }, "As soon as the shape can be used, this shows what it allows."));
    }
  }, OF_A_SHAPE);
}

/** Shows why there is no answer in the line with an id, where the answer would stand. */
function refused(id, error) {
  if (error.name === "AbortError") throw error;
  fill($(id), h("span", { class: "bad" }, error.message));
  return null;
}

function drawCheck({ usable, fault, findings, ...facts }) {
  const text = shape.text, lines = new Lines(text);
  const rows = findings.filter((each) => each.line !== null).slice(0, LISTED).map((each) => ({ ...each, start: lines.indexAt(each.line, each.column) }));
  state.warnings = rows.filter((each) => each.severity !== "note").map((each) => ({ ...wordAt(text, each.start), kind: "warning" }));
  if (usable) {
    shape.setMarks(state.warnings);
    fill($("check"), h("span", { class: "good" }, "✓ can be used"), " ", h("span", { class: "quiet" }, between(checked(facts), " · ")));
  } else {
    const known = fault.line !== null;
    const start = known ? lines.indexAt(fault.line, fault.column) : 0;
    shape.setMarks(known ? [{ ...wordAt(text, start), kind: "fault" }] : []);
    fill($("check"), h("span", { class: "bad" }, "✗ ", fault.message), " ",
      known && h("button", { type: "button", class: "chip", onclick: () => shape.reveal(start) }, `line ${fault.line}, column ${fault.column}`));
  }
  drawFindings(rows, findings);
}

/** What is known of a shape that can be used. */
function checked({ enforced, shortest_bytes: bytes, milliseconds }) {
  return [
    enforced ? [`${count(enforced)} `, term("enforced", "Keywords of the schema that hold of every answer. What is only described, as a title is, isn't counted.")] : null,
    bytes === null ? null : [`${count(bytes)} ${bytes === 1 ? "byte" : "bytes"} `, term("at least", "No text of this shape is shorter.")],
    [`${milliseconds.toFixed(1)} ms`],
  ].filter(Boolean);
}

const between = (lists, sign) => lists.flatMap((pieces, at) => (at > 0 ? [sign, ...pieces] : pieces));

/** The word, string or sign at an index, to be underlined. */
function wordAt(text, index) {
  const start = Math.min(index, text.length);
  const found = /^(?:"(?:[^"\\\n]|\\.)*"|[\w$%@.-]+|[^\s])/.exec(text.slice(start, start + 200));
  return { start, stop: start + (found?.[0].length ?? 1) };
}

function drawFindings(rows, all) {
  fill($("findings"), rows.length > 0 && h("details", { class: "findings" },
    h("summary", {}, summary(all)),
    h("ul", {}, rows.map((each) => h("li", {},
      h("button", { type: "button", class: "chip", onclick: () => shape.reveal(each.start) }, `${each.line}:${each.column}`),
      h("span", { class: each.severity }, ` ${each.severity}: `), each.message))),
    all.length > rows.length && h("p", { class: "quiet" }, `The first ${count(rows.length)} are listed.`)));
}

function summary(rows) {
  const notes = rows.filter((each) => each.severity === "note").length;
  const warnings = rows.length - notes;
  const words = (number, word) => (number === 0 ? "" : `${count(number)} ${word}${number === 1 ? "" : "s"}`);
  return [words(warnings, "warning"), words(notes, "note")].filter(Boolean).join(", ");
}

function setWrap(wrap) {
  shape.wrap = wrap;
  $("wrap").setAttribute("aria-pressed", String(wrap));
}

function formatShape() {
  try {
    shape.replace(0, shape.text.length, formatted(shape.text));
  } catch {
    notice("The shape is not valid JSON yet.");
  }
}

/** A file that was chosen or dropped for the shape; its name may say which kind it is. */
function readShape(text, suffix) {
  const kind = suffix === "json" && languageOf(state.kind) !== "json" ? "schema" : KINDS.some(([name]) => name === suffix) ? suffix : state.kind;
  if (kind !== state.kind) {
    kinds.select(kind);
    changeKind(kind);
  }
  shape.replace(0, shape.text.length, text);
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
    const found = await call("v1/explain", question(text), signal).catch((error) => refused("verdict", error));
    if (found === null || quick.isStale("read") || text !== input.text || !isReady()) return;
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
    h("span", { class: "quiet" }, ` ${count(text.length)}\u00a0characters ·\u00a0${state.elapsed.toFixed(0)}\u00a0ms`));
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
    if (!quick.isStale("inspect") && state.reading !== null && input.text.startsWith(text)) drawPlace(found, at);
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
  shape.setMarks([...state.warnings, ...marks]);
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
    () => quick.isStale("cases") || !isReady(),
  ));
}

// Buttons

async function writeOne(which) {
  const { kind, shape: text } = source();
  try {
    const { texts } = await call("v1/sample", { kind, shape: text, which, seed: Math.floor(Math.random() * 1e9) });
    if (kind === state.kind && text === shape.text) setText(texts[0]);
  } catch (error) {
    notice(error.message);
  }
}

async function share() {
  const { kind, view, options } = everything();
  const hash = await encode({ kind, ...work(), view, options });
  history.replaceState(null, "", `#${hash}`);
  keepNow();
  await copyText(location.href);
  notice("The link is copied. It holds everything: nothing is stored on the server.");
}

function showCode() {
  try {
    showPrograms(generate.request());
  } catch (error) {
    notice(error instanceof SyntaxError ? "The shape is not valid JSON yet." : error.message);
  }
}

/** Has the model write a text, or stops it. */
function ask() {
  views.select("generate", true);
  generate.toggle();
}

function drawAsk(isRunning) {
  $("ask").firstElementChild.textContent = isRunning ? "Stop the model" : "Ask the model";
  if (matchMedia("(max-width: 680px)").matches) $("tokens").scrollIntoView();
}

$("sample").addEventListener("click", () => writeOne("random"));
$("share").addEventListener("click", share);
$("copy").addEventListener("click", showCode);
$("ask").addEventListener("click", ask);
$("wrap").addEventListener("click", () => { setWrap(!shape.wrap); keepSoon(); });
$("format").addEventListener("click", formatShape);
$("undo").addEventListener("click", () => {
  restore(state.before);
  $("undo").hidden = true;
  $("examples").focus();
  keepSoon();
});
$("keep").addEventListener("click", () => {
  const verdict = state.reading?.verdict ?? "match";
  cases.add(verdict === "mismatch" ? "reject" : verdict === "incomplete" ? "prefix" : "accept", input.text);
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    ask();
  }
});
window.addEventListener("hashchange", open);
window.addEventListener("pagehide", keepNow);

/** Puts in what the address holds. */
async function open() {
  const linked = await decode(location.hash);
  if (linked !== null && KINDS.some(([name]) => name === linked.kind)) load(linked);
}

$("ask").querySelector("kbd").textContent = SHORTCUT;
setUpTheme($("theme"));
setUpHelp();
setUpFiles($("shape"), $("shape-file"), readShape);
setUpFiles($("input"), $("input-file"), (text) => input.replace(0, input.text.length, text));
keepPage();
const addShipped = setUpExamples($("examples"), load);
const earlier = kept();
restore(earlier ?? { kind: "schema", works: {}, view: "inspect" });
if (location.hash !== "" && location.hash !== earlier?.fragment) {
  await open();
  if (earlier === null) $("undo").hidden = true; // nothing was written before
}
try {
  const { data } = await call("v1/models");
  state.model = data[0].id;
  $("model").textContent = state.model;
  $("toy").hidden = state.model !== TOY;
  await addShipped();
} catch (error) {
  notice(error.message);
}
