// The dashboard: asks the server every two seconds what it does, and draws that. A page that is
// hidden or paused asks nothing. Every figure here is printed by `maskwright status --json`.

import { call } from "../playground/api.js";
import { $, count, fill, h } from "../playground/dom.js";
import { setUpHelp, term } from "../playground/help.js";
import { setUpTheme } from "../playground/theme.js";
import { drawAnswers, drawTimeline, stageLegend } from "./answers.js";
import { bars, dots, lines, short, strip, time } from "./charts.js";
import { HELP, TITLES } from "./help_texts.js";
import { drawBlocks, drawPrefixes } from "./holdings.js";

const PERIOD_MS = 2000;
const LONGEST_PERIOD_MS = 30000;
const KEPT = 100; // answers
const KEPT_SECONDS = 3600; // of figures
const GAP = 10; // seconds without a document after which the server is asked for the figures of that time
const BUSY = 10; // seconds after its last work for which an engine doesn't count as idle
const LEFT = "client_gone"; // the code of requests whose clients left
const STATES = ["running", "waiting", "compiling", "paused"];

let past = []; // figures over time, from the server's own samples and from each document
let answers = [];
let newest = null;
let chosen = null;
let listed = ""; // what the table of answers shows: rows are not made anew under a reader's pointer
let paused = false;
let failures = 0;
let asked = 0; // when the server has last answered
let timer = 0;

async function poll() {
  clearTimeout(timer);
  if (paused || document.hidden) return;
  try {
    const since = answers.at(-1)?.number ?? 0;
    const isLate = newest === null || Date.now() > asked + 1000 * GAP;
    let state = await call(`v1/state?since=${since}&history=${isLate ? 1 : 0}`);
    if (newest !== null && total(state.metrics, "steps_total") < total(newest.metrics, "steps_total")) {
      answers = []; // another server process answers now
      state = await call("v1/state?history=1");
    }
    asked = Date.now();
    answers = [...answers, ...state.recent].slice(-KEPT);
    if (state.history) past = samples(state.history);
    past.push(figuresOf(state));
    past = past.filter(({ time }) => time >= state.time - KEPT_SECONDS);
    newest = state;
    failures = 0;
    draw();
  } catch (error) {
    failures += 1;
    tell("is-bad", error.status === 401 ? "a key is needed: load the page again to give it" : "the server doesn't answer");
    if (error.status === 401) return;
  }
  timer = setTimeout(poll, Math.min(LONGEST_PERIOD_MS, PERIOD_MS * 2 ** failures));
}

function tell(style, words) {
  if ($("health").textContent === words) return;
  $("health").className = `health ${style}`;
  $("health").textContent = words;
}

/** The sum of a metric over its labels. */
function total(metrics, name) {
  let sum = 0;
  for (const [key, value] of Object.entries(metrics)) {
    if (key === name || key.startsWith(`${name}{`)) sum += value;
  }
  return sum;
}

/** The figures of a document that are drawn over time. */
function figuresOf({ time, metrics }) {
  const requests = STATES.map((state) => [state, metrics[`requests{state="${state}"}`] ?? 0]);
  return { time, output_tokens: total(metrics, "output_tokens_total"), prompt_tokens: total(metrics, "prompt_tokens_total"), ...Object.fromEntries(requests) };
}

/** The server's own samples as such figures. */
function samples({ times, ...columns }) {
  return times.map((time, at) => ({ time, ...Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[at]])) }));
}

/** How fast a counter grew, each point from two entries. */
function rates(name) {
  return past.slice(1).map((entry, number) => {
    const before = past[number];
    const seconds = Math.max(entry.time - before.time, 0.001);
    return [entry.time - newest.time, Math.max(0, entry[name] - before[name]) / seconds];
  }).filter((_, number) => past[number + 1].time - past[number].time > 0.2); // two of almost one moment say little
}

const gauge = (name) => past.map((entry) => [entry.time - newest.time, entry[name]]);

/** Whether the engine has nothing to do, and had nothing lately. */
function isIdle() {
  const lately = past.filter(({ time }) => time >= newest.time - BUSY);
  const isQuiet = lately.every((entry) => STATES.every((state) => entry[state] === 0));
  return isQuiet && lately.at(-1).output_tokens === lately[0].output_tokens;
}

function draw() {
  const { metrics, figures } = newest;
  const span = Number($("range").value);
  drawHealth();
  $("model").textContent = newest.model;
  drawTiles(metrics, figures);
  lines($("throughput"), "Tokens a second", [
    { name: "of answers", style: "s1", points: rates("output_tokens") },
    { name: "of prompts", style: "s2", points: rates("prompt_tokens") },
  ], { span });
  lines($("requests"), "Requests", STATES.map((state, number) => (
    { name: state, style: `s${number + 1}`, points: gauge(state) })), { span, least: 4 });
  for (const name of ["ttft", "tpot"]) {
    const points = answers.filter((each) => each[`${name}_ms`] !== null)
      .map((each) => [each.received + each.request_ms / 1000 - newest.time, each[`${name}_ms`]])
      .filter(([ago]) => ago >= -span);
    dots($(name), name === "ttft" ? "Time to first token" : "Time per further token", points, [
      { name: "median", style: "s3", value: figures[`${name}_p50_ms`] },
      { name: "95th percentile", style: "s2", value: figures[`${name}_p95_ms`] }], { span, unit: time });
  }
  drawBlocks($("blocks"), $("blocks-legend"), newest.blocks, metrics);
  drawPrefixes($("prefixes"), $("prefixes-note"), newest.prefix, newest.spans_left_out, newest.blocks.block_size);
  drawClasses();
  drawMasks(metrics, figures);
  drawProcesses(metrics);
  drawLastAnswers();
}

/** Whether the engine runs; where a router tells of several servers, how many of them take requests. */
function drawHealth() {
  const servers = newest.workers ?? [], ready = servers.filter((each) => each.ready).length;
  if (!newest.healthy) tell("is-bad", servers.length > 0 ? "an engine has stopped" : "the engine has stopped");
  else if (servers.length > 0) tell(ready === servers.length ? "is-good" : "is-bad", `${ready} of ${servers.length} servers are ready`);
  else tell("is-good", isIdle() ? "idle" : "running");
  $("servers-card").hidden = servers.length === 0;
  const known = (value, unit) => (value === null ? "–" : unit(value));
  fill($("servers"),
    h("thead", {}, h("tr", {}, ["server", "state", "running", "answers", "tokens so far", "blocks in use"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, servers.map((each) => h("tr", {}, h("th", { scope: "row" }, each.name),
      [each.ready ? "ready" : "not ready", known(each.running, count), known(each.requests_finished, count), known(each.output_tokens, count), known(each.kv_use, (share) => `${short(100 * share)} %`)].map((cell) => h("td", {}, cell))))));
}

function drawTiles(metrics, figures) {
  const speed = rates("output_tokens").at(-1)?.[1] ?? null;
  const percent = (share) => (share === null ? "–" : `${short(100 * share)} %`);
  const tiles = [
    ["Requests running", "running", metrics['requests{state="running"}'], count, `${count(metrics['requests{state="waiting"}'])} waiting, ${count(figures.requests_finished)} ended`],
    ["Tokens a second", null, speed, short, `${count(figures.output_tokens)} tokens so far`],
    ["First token, median", "ttft", figures.ttft_p50_ms, time, `95th percentile ${time(figures.ttft_p95_ms)}`, HELP.ttft],
    ["Further token, median", "tpot", figures.tpot_p50_ms, time, `95th percentile ${time(figures.tpot_p95_ms)}`, HELP.tpot],
    ["Blocks in use", "kv-use", figures.kv_use, percent, `${percent(figures.prefix_hit_share)} of prompts cached`, HELP.blocks],
    ["Forced by grammars", "forced-share", figures.forced_share, percent, figures.draft_acceptance === null ? "no drafts so far" : `${percent(figures.draft_acceptance)} of drafts accepted`, HELP.forced],
  ];
  fill($("tiles"), tiles.map(([name, figure, value, unit, under, help]) => h("li", { class: value ? null : "idle" }, h("p", { class: "name" }, help ? term(name, help) : name),
    h("p", figure === null ? { class: "value" } : { class: "value", "data-figure": figure, "data-value": value }, unit(value)),
    h("p", { class: "under" }, under))));
}

function drawClasses() {
  const most = Math.max(1, ...newest.classes.map((each) => each.running + each.waiting + each.paused));
  fill($("queue"),
    h("table", { class: "classes" }, h("tbody", {}, newest.classes.map((each) => h("tr", {},
      h("th", { scope: "row" }, each.name),
      h("td", {}, strip([["s1", each.running, `${each.running} running`], ["s2", each.waiting, `${each.waiting} waiting`], ["s7", each.paused, `${each.paused} paused`]], most, 14, `${each.running} running, ${each.waiting} waiting, ${each.paused} paused`)),
      h("td", {}, `${count(each.running)} run, ${count(each.waiting)} wait`))))),
    h("ul", { class: "legend" }, [["s1", "running"], ["s2", "waiting"], ["s7", "paused"]].map(([style, name]) => h("li", {}, h("i", { class: style }), name))));
}

function drawMasks(metrics, figures) {
  const prefix = 'mask_seconds_bucket{le="';
  const buckets = Object.entries(metrics).filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => [Number(key.slice(prefix.length, -2).replace("+Inf", "Infinity")), value]).sort(([a], [b]) => a - b);
  let before = 0;
  const rows = buckets.map(([bound, value]) => {
    const within = value - before;
    before = value;
    return [bound === Infinity ? "more" : time(1000 * bound), within];
  });
  bars($("masks"), `Masks by the time to fill them; the median is ${time(figures.mask_p50_us === null ? null : figures.mask_p50_us / 1000)}`, rows);
  facts($("masks-facts"), [
    ["median", time(figures.mask_p50_us === null ? null : figures.mask_p50_us / 1000)],
    ["masks filled", count(metrics.mask_rows_total), "mask-rows", metrics.mask_rows_total],
    ["found in the cache", figures.mask_hit_share === null ? "–" : `${short(100 * figures.mask_hit_share)} %`],
    [term("came after their logits", HELP.late), count(metrics.late_rows_total), "late-rows", metrics.late_rows_total],
  ]);
}

function drawProcesses(metrics) {
  const rows = "grammar_processes" in metrics ? [
    ["grammar processes", count(metrics.grammar_processes), "grammar-processes", metrics.grammar_processes],
    ["their memory", `${short(metrics.grammar_process_bytes / 2 ** 20)} MiB`],
    ["questions", count(metrics.grammar_questions_total)],
    [term("heavy grammars, limits met", HELP.heavy), `${count(metrics.heavy_grammars_total)}, ${count(metrics.grammar_process_limits_total)}`],
    ["restarts", count(metrics.grammar_process_restarts_total)],
  ] : [["grammar processes", "none: grammars are followed in the engine's process"]];
  const codes = Object.entries(metrics).filter(([key]) => key.startsWith('refusals_total{code="'))
    .map(([key, value]) => [key.slice('refusals_total{code="'.length, -2), value]);
  const left = codes.find(([code]) => code === LEFT)?.[1] ?? 0; // by clients, whom nobody has refused
  const refused = codes.filter(([code]) => code !== LEFT).sort(([, one], [, other]) => other - one).map(([code, value]) => [`refused: ${code}`, count(value)]);
  facts($("processes"), [...rows,
    [term("preemptions, of them swapped", HELP.preemptions), `${count(metrics.preemptions_total)}, ${count(metrics.swaps_total)}`],
    ["left by their clients", count(left)],
    ["refusals", count(newest.figures.refused), "refused", newest.figures.refused], ...refused.slice(0, 4)]);
}

function facts(element, rows) {
  fill(element, rows.flatMap(([name, shown, figure, value]) => [h("dt", {}, name), h("dd", figure ? { "data-figure": figure, "data-value": value } : {}, shown)]));
}

function drawLastAnswers() {
  const shown = `${answers.at(-1)?.number} ${chosen} ${$("answers").clientWidth}`;
  if (shown === listed) return;
  listed = shown;
  $("answers-none").hidden = answers.length > 0;
  const focused = document.activeElement?.dataset?.answer;
  drawAnswers($("answers"), answers, chosen, choose);
  if (focused) document.querySelector(`[data-answer="${focused}"]`)?.focus();
}

function choose(number) {
  chosen = chosen === number ? null : number;
  const answer = answers.find((each) => each.number === chosen);
  $("timeline").hidden = answer === undefined;
  if (answer !== undefined) drawTimeline($("timeline"), answer, () => choose(chosen));
  drawLastAnswers();
}

$("pause").addEventListener("click", () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", String(paused));
  $("pause").textContent = paused ? "Go on" : "Pause";
  poll();
});
document.addEventListener("visibilitychange", poll);
addEventListener("resize", () => newest !== null && draw());
try {
  $("range").value = localStorage.getItem("maskwright-range") ?? "300";
} catch { /* storage may be off */ }
if ($("range").value === "") $("range").value = "300";
$("range").addEventListener("change", () => {
  try {
    localStorage.setItem("maskwright-range", $("range").value);
  } catch { /* then the choice holds until the page is left */ }
  if (newest !== null) draw();
});
fill($("stages"), stageLegend());
for (const [id, help] of Object.entries(TITLES)) {
  const [title] = $(id).childNodes;
  title.replaceWith(term(title.textContent.trim(), help), " ");
}
setUpHelp();
setUpTheme($("theme"));
$("theme").addEventListener("click", () => newest !== null && draw());
poll();
