// The last answers: a table with the stages of each, and the timeline of the one that is chosen.

import { count, fill, h } from "../playground/dom.js";
import { s, strip, time } from "./charts.js";

/** The stages of a request, as `maskwright diagnose` divides its time. */
const STAGES = [
  ["compile", "s4", "waiting for the grammar"],
  ["queue", "s2", "in the queue"],
  ["prefill", "s5", "computing the prompt"],
  ["decode", "s1", "decoding"],
  ["masks", "s6", "waiting for masks"],
  ["preemption", "s8", "preempted"],
  ["reader", "s7", "waiting for the reader"],
];

function stagesOf(answer) {
  const lost = answer.late_ms + answer.preempted_ms;
  const prefill = answer.prefill_ms ?? 0, decode = answer.decode_ms ?? 0;
  return {
    compile: answer.compile_ms ?? 0,
    queue: answer.queue_ms,
    prefill: Math.max(0, prefill - Math.max(0, lost - decode)),
    decode: Math.max(0, decode - lost),
    masks: answer.late_ms,
    preemption: answer.preempted_ms,
    reader: answer.paused_ms,
  };
}

/** The colours of the stages, with their names. */
export function stageLegend() {
  return STAGES.map(([, style, words]) => h("li", {}, h("i", { class: style }), words));
}

/** The ends of answers in the words of the API, and what the engine knows beyond them. */
const ENDS = {
  stop: ["stop", "the model has ended its answer"],
  stop_string: ["stop", "a stop string came"],
  stop_token: ["stop", "a stop token came"],
  grammar_complete: ["stop", "the shape was complete"],
  length: ["length", "the limit of tokens was reached"],
  cancelled: ["cancelled", "the client left"],
};

function end(reason) {
  const [word, meaning] = ENDS[reason] ?? [reason, null];
  return h("span", { title: meaning }, word);
}

const sum = (stages) => Object.values(stages).reduce((all, each) => all + each, 0);

function stageStrip(answer, whole) {
  const stages = stagesOf(answer);
  const parts = STAGES.map(([name, style, words]) => [style, stages[name], `${words}: ${time(stages[name])}`]);
  const label = STAGES.filter(([name]) => stages[name] >= 0.05).map(([name, , words]) => `${words} ${time(stages[name])}`).join(", ");
  return strip(parts, whole, 12, label || "no time");
}

/** The table of the newest answers; `choose` is called with one that is clicked. */
export function drawAnswers(table, answers, chosen, choose) {
  const shown = answers.slice(-12).reverse();
  const whole = Math.max(0, ...shown.map((answer) => sum(stagesOf(answer))));
  const head = ["answer", "class", "shape", "end", "prompt", "tokens", "forced", "first token", "a token", "all", "stages"];
  fill(table,
    h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", class: name === "stages" ? "left" : null }, name)))),
    h("tbody", {}, shown.map((answer) => row(answer, whole, chosen, choose))));
}

function row(answer, whole, chosen, choose) {
  const name = (answer.request_id ?? `answer ${answer.number}`).slice(0, 14);
  const cells = [
    answer.service, answer.shape ?? "–", end(answer.finish_reason), count(answer.prompt_tokens), count(answer.completion_tokens),
    count(answer.forced_tokens), time(answer.ttft_ms), time(answer.tpot_ms), time(answer.total_ms),
  ];
  const open = answer.number === chosen;
  return h("tr", { class: open ? "is-open" : null },
    h("td", {}, h("button", { type: "button", "data-answer": answer.number, "aria-expanded": String(open), "aria-controls": "timeline", onclick: () => choose(answer.number) }, name)),
    cells.map((cell) => h("td", {}, cell)), h("td", { class: "left stages" }, stageStrip(answer, whole)));
}

/** The stages of one answer over time, and the tokens that it had after each step. */
export function drawTimeline(element, answer, close) {
  const width = Math.max(320, element.clientWidth - 24 || 900), left = 44, right = 12, floor = 150, top = 46;
  const stages = stagesOf(answer), whole = Math.max(sum(stages), 0.001);
  const x = (ms) => left + (ms / whole) * (width - left - right);
  const before = stages.compile > answer.total_ms - answer.queue_ms - (answer.prefill_ms ?? 0) - (answer.decode_ms ?? 0) - answer.paused_ms + 1 ? stages.compile : 0;
  const most = Math.max(1, ...answer.step_tokens);
  const y = (tokens) => floor - (tokens / most) * (floor - top);
  const summary = STAGES.filter(([name]) => stages[name] >= whole / 1e4).map(([name, , words]) => `${words} ${time(stages[name])}`).join(", ");
  const svg = s("svg", { viewBox: `0 0 ${width} 174`, height: 174, role: "img", "aria-label": `${summary}; ${count(answer.completion_tokens)} tokens in ${count(answer.steps)} steps` });
  let at = 0;
  for (const [name, style, words] of STAGES) {
    if (stages[name] <= 0) continue;
    svg.append(s("rect", { class: `bar ${style}`, x: x(at), y: 12, width: Math.max(1, x(at + stages[name]) - x(at)), height: 18, rx: 2 }, s("title", {}, `${words}: ${time(stages[name])}`)));
    at += stages[name];
  }
  for (const part of [0, 0.5, 1]) {
    svg.append(s("line", { class: "grid", x1: left, x2: width - right, y1: y(part * most), y2: y(part * most) }),
      s("text", { x: left - 8, y: y(part * most) + 4, "text-anchor": "end" }, count(Math.round(part * most))),
      s("text", { x: x(part * whole), y: 170, "text-anchor": part === 0 ? "start" : part === 1 ? "end" : "middle" }, time(part * whole)));
  }
  const steps = answer.step_ms.map((ms, number) => [x(before + ms), y(answer.step_tokens[number])]);
  if (steps.length > 0) {
    const corners = steps.flatMap(([right, high], number) => (number === 0 ? [[right, floor], [right, high]] : [[right, steps[number - 1][1]], [right, high]]));
    svg.append(s("polyline", { class: "line s1", points: corners.map((corner) => corner.join(",")).join(" ") }));
    steps.forEach(([right, high], number) => svg.append(s("circle", { class: "dot s1", cx: right, cy: high, r: 2.5 },
      s("title", {}, `${answer.step_tokens[number]} tokens after ${time(answer.step_ms[number])}`))));
  }
  fill(element,
    h("div", { class: "head" }, h("h3", {}, `${answer.request_id ?? `answer ${answer.number}`}: stages, and tokens after each step`),
      h("div", { class: "tools" }, h("button", { type: "button", class: "small", onclick: close }, "Close"))),
    svg,
    h("ul", { class: "legend" }, STAGES.filter(([name]) => stages[name] >= whole / 1e4).map(([name, style, words]) =>
      h("li", {}, h("i", { class: style }), words, h("b", {}, time(stages[name]))))),
    h("dl", { class: "facts spaced" }, facts(answer).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
}

function facts(answer) {
  return [
    ["tokens drawn, and forced by the grammar", `${count(answer.sampled_tokens)} + ${count(answer.forced_tokens)}`],
    ["draft tokens, and accepted", `${count(answer.drafted_tokens)}, ${count(answer.accepted_tokens)}`],
    ["prompt tokens, and found in the prefix cache", `${count(answer.prompt_tokens)}, ${count(answer.cached_tokens)}`],
    ["masks filled, and found in the cache", `${count(answer.mask_rows)}, ${count(answer.mask_hits)} (${time(answer.mask_ms)})`],
    ["longest gap between tokens", time(answer.longest_gap_ms)],
    ["most blocks held, preemptions", `${count(answer.kv_blocks_peak)}, ${count(answer.preemptions)}`],
  ];
}
