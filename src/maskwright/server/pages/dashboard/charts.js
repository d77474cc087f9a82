// Charts as SVG: lines over time, dots over time, bars. Every chart is an image with a description.

import { fill, h } from "../playground/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 52, right: 8, top: 8, bottom: 20 };
const HEIGHT = 170;

/** An element of SVG with attributes and children. */
export function s(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false));
  return element;
}

/** A number in at most four characters, where that is possible. */
export function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value >= 1e6) return `${trim(value / 1e6)}M`;
  if (value >= 1e4) return `${trim(value / 1e3)}k`;
  return value.toLocaleString("en", { maximumFractionDigits: value >= 100 ? 0 : value >= 1 ? 1 : 2 });
}

/** Milliseconds with their unit. */
export function time(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms === 0) return "0 ms";
  if (ms >= 1000) return `${trim(ms / 1000)} s`;
  return ms >= 1 ? `${trim(ms)} ms` : `${trim(ms * 1000)} µs`;
}

const trim = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3, useGrouping: false });

/** The least round number that is at least the value. */
export function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].map((each) => each * power).find((each) => each >= value * 0.999999);
}

/** Lines of `series` (name, style, points [x, y]); `span` is the range of x in seconds before now. */
export function lines(element, label, series, { span, least = 1, unit = short }) {
  const shown = series.map((each) => ({ ...each, points: since(each.points, span) }));
  const drawn = frame(element, label, shown.flatMap((each) => each.points), { span, least, unit });
  for (const { style, points } of shown) {
    if (points.length < 2) continue;
    const corners = points.map(([x, y]) => `${drawn.x(x)},${drawn.y(y)}`);
    const floor = drawn.y(0);
    drawn.plot.append(
      s("polygon", { class: `area ${style}`, points: [`${drawn.x(points[0][0])},${floor}`, ...corners, `${drawn.x(points.at(-1)[0])},${floor}`].join(" ") }),
      s("polyline", { class: `line ${style}`, points: corners.join(" ") }));
  }
  const times = shown[0].points.map(([x]) => x);
  finish(element, drawn, label, series, unit);
  hover(element, drawn, times, (at) => shown.map(({ name, style, points }) => [style, name, points[at]?.[1]]).filter(([, , value]) => value !== undefined), unit);
}

/** Points from `span` seconds ago on, and the one before them, so that a line begins at the edge. */
function since(points, span) {
  const first = points.findIndex(([x]) => x >= -span);
  return first < 0 ? [] : points.slice(Math.max(0, first - 1));
}

/** Dots of one series, with dashed lines at its percentiles, which are in sight too. */
export function dots(element, label, points, marks, { span, unit }) {
  const levels = points.length > 0 ? marks.filter(({ value }) => value !== null).map(({ value }) => [0, value]) : [];
  const drawn = frame(element, label, [...points, ...levels], { span, least: 0.001, unit });
  for (const { style, value } of points.length > 0 ? marks : []) {
    if (value === null) continue;
    drawn.plot.append(s("line", { class: `line dash ${style}`, x1: MARGIN.left, x2: drawn.width - MARGIN.right, y1: drawn.y(value), y2: drawn.y(value) }));
  }
  for (const [x, y] of points) drawn.plot.append(s("circle", { class: "dot s1", cx: drawn.x(x), cy: drawn.y(y), r: 3 }));
  finish(element, drawn, label, marks.map((each) => ({ ...each, points: [[0, each.value]] })), unit);
  hover(element, drawn, points.map(([x]) => x), (at) => [["s1", "an answer", points[at][1]]], unit);
}

/** Bars with names below them. */
export function bars(element, label, rows) {
  const width = element.clientWidth || 300, height = 104, floor = height - 18;
  const most = Math.max(1, ...rows.map(([, value]) => value)), wide = width / rows.length;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label });
  rows.forEach(([name, value], number) => {
    const high = (value / most) * (floor - 4);
    svg.append(s("rect", { class: "bar s1", x: number * wide + 2, y: floor - high, width: Math.max(1, wide - 4), height: high, rx: 2 },
      s("title", {}, `${name}: ${value.toLocaleString("en")}`)));
    if (number % 2 === 0) svg.append(s("text", { x: number * wide + wide / 2, y: height - 4, "text-anchor": "middle" }, name));
  });
  svg.append(s("line", { class: "grid", x1: 0, x2: width, y1: floor, y2: floor }));
  fill(element, svg);
}

/** A row of parts beside each other, of the width `whole`. Parts are [style, value, title]. */
export function strip(parts, whole, height, label) {
  const svg = s("svg", { viewBox: `0 0 1000 ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  let x = 0;
  for (const [style, value, title] of parts) {
    const wide = whole > 0 ? (1000 * value) / whole : 0;
    if (wide > 0) svg.append(s("rect", { class: `bar ${style}`, x, y: 0, width: Math.max(wide, 1), height }, s("title", {}, title)));
    x += wide;
  }
  return svg;
}

let plots = 0; // each has a clip path with a name of its own

function frame(element, label, points, { span, least, unit }) {
  const width = element.clientWidth || 560;
  const most = roundUp(Math.max(least, ...points.map(([, y]) => y)));
  const inner = { wide: width - MARGIN.left - MARGIN.right, high: HEIGHT - MARGIN.top - MARGIN.bottom };
  const x = (ago) => MARGIN.left + inner.wide * (1 + ago / span);
  const y = (value) => MARGIN.top + inner.high * (1 - value / most);
  const svg = s("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: "img" });
  const isEmpty = points.length === 0;
  for (const part of [0, 0.5, 1]) {
    svg.append(s("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(part * most), y2: y(part * most) }));
    if (!isEmpty) svg.append(s("text", { x: MARGIN.left - 8, y: y(part * most) + 4, "text-anchor": "end" }, unit(part * most)));
  }
  for (const part of [0, 0.5, 1]) {
    const anchor = part === 0 ? "start" : part === 1 ? "end" : "middle";
    svg.append(s("text", { x: x(-span * (1 - part)), y: HEIGHT - 4, "text-anchor": anchor }, ago(span * (1 - part))));
  }
  const name = `plot-${(plots += 1)}`;
  const plot = s("g", { class: "plot", "clip-path": `url(#${name})` });
  svg.append(s("clipPath", { id: name }, s("rect", { x: MARGIN.left, y: MARGIN.top - 3, width: inner.wide + 3, height: inner.high + 5 })), plot);
  if (isEmpty) svg.append(s("text", { class: "none", x: MARGIN.left + inner.wide / 2, y: MARGIN.top + inner.high / 2 + 4 }, "nothing in this time"));
  return { svg, plot, x, y, width };
}

/** A moment before now, in words. */
function ago(seconds) {
  if (seconds < 0.5) return "now";
  if (seconds < 120) return `−${Math.round(seconds)} s`;
  return `−${trim(Math.round(seconds / 6) / 10)} min`;
}

const pointed = new WeakMap(); // where the pointer is, from 0 to 1, for each chart that it is over

/** Shows the values at the pointer: a line through the nearest of `times`, and the rows of `rowsAt(at)`. */
function hover(element, drawn, times, rowsAt, unit) {
  const line = s("line", { class: "cursor", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom });
  const box = h("div", { class: "values", hidden: true });
  const show = () => {
    const share = pointed.get(element);
    const here = share !== undefined && times.length > 0;
    box.hidden = !here;
    line.remove();
    if (!here) return;
    const at = nearest(times.map(drawn.x), share * drawn.width);
    const x = drawn.x(times[at]);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    drawn.svg.append(line);
    fill(box, h("b", {}, ago(-times[at])), rowsAt(at).map(([style, name, value]) => h("span", {}, h("i", { class: style }), `${name} `, h("b", {}, unit(value)))));
    const isRight = x > drawn.width / 2;
    box.style.left = isRight ? "auto" : `${x + 10}px`;
    box.style.right = isRight ? `${drawn.width - x + 10}px` : "auto";
  };
  drawn.svg.addEventListener("pointermove", (event) => {
    const { left, width } = drawn.svg.getBoundingClientRect();
    pointed.set(element, (event.clientX - left) / width);
    show();
  });
  drawn.svg.addEventListener("pointerleave", () => {
    pointed.delete(element);
    show();
  });
  element.append(box);
  show();
}

function nearest(places, x) {
  return places.reduce((best, place, at) => (Math.abs(place - x) < Math.abs(places[best] - x) ? at : best), 0);
}

function finish(element, drawn, label, series, unit) {
  const latest = series.map((each) => [each, each.points.at(-1)?.[1] ?? null]);
  drawn.svg.setAttribute("aria-label", `${label}: ${latest.map(([each, value]) => `${each.name} ${unit(value)}`).join(", ")}`);
  fill(element, drawn.svg, h("ul", { class: "legend" }, latest.map(([each, value]) =>
    h("li", {}, h("i", { class: each.style }), each.name, h("b", {}, unit(value))))));
}
