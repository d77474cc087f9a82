// What the engine holds: the map of its blocks, and the prefixes that it has cached.

import { count, fill, h } from "../playground/dom.js";
import { s } from "./charts.js";

const STATES = [["u", "used", "used by a request"], ["s", "shared", "shared by several"], ["c", "cached", "cached"], [".", "free", "free"]];
const DEEP = 20; // pixels of one level of the prefix tree

/** Draws a cell for each block, or for each few blocks of a large pool. */
export function drawBlocks(canvas, legend, blocks, metrics) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const side = cellSide(width, height, blocks.cells.length);
  const columns = Math.floor(width / side), gap = side > 5 ? 1 : 0.5;
  const colours = colourOf(canvas);
  [...blocks.cells].forEach((state, number) => {
    pen.fillStyle = colours[state];
    pen.fillRect((number % columns) * side, Math.floor(number / columns) * side, side - gap, side - gap);
  });
  const held = { used: metrics['kv_blocks{state="used"}'], cached: metrics['kv_blocks{state="cached"}'], free: metrics['kv_blocks{state="free"}'] };
  canvas.setAttribute("aria-label", `${count(blocks.total)} blocks of ${blocks.block_size} tokens: ${Object.entries(held).map(([name, value]) => `${count(value)} ${name}`).join(", ")}`);
  const shared = [...blocks.cells].filter((state) => state === "s").length * blocks.blocks_per_cell;
  fill(legend,
    item("used", "used by requests", held.used, "kv-used"),
    item("shared", "of them shared", Math.min(shared, held.used), null),
    item("cached", "cached", held.cached, "kv-cached"), item("free", "free", held.free, "kv-free"),
    blocks.blocks_per_cell > 1 ? h("li", {}, `a cell stands for ${blocks.blocks_per_cell} blocks`) : null);
}

function item(style, name, value, figure) {
  return h("li", {}, h("i", { class: style }), name, h("b", figure === null ? {} : { "data-figure": figure, "data-value": value }, count(value)));
}

/** The side of a cell, in pixels, so that all fit. */
function cellSide(width, height, cells) {
  let side = Math.min(16, Math.floor(Math.sqrt((width * height) / cells)));
  while (side > 2 && Math.ceil(cells / Math.floor(width / side)) * side > height) side -= 0.5;
  return Math.max(side, 2);
}

function colourOf(element) {
  const style = getComputedStyle(element);
  const of = { u: "--c1", s: "--c2", c: "--cached", ".": "--free" };
  return Object.fromEntries(STATES.map(([state]) => [state, style.getPropertyValue(of[state])]));
}

/** Draws the prefix tree as an icicle: a text begins on the left, and branches lie below each other. */
export function drawPrefixes(element, note, spans, leftOut, blockSize) {
  const tree = spans.map((span) => ({ ...span, children: [], lines: 0 }));
  const roots = [];
  for (const span of tree) (span.parent < 0 ? roots : tree[span.parent].children).push(span);
  for (const span of [...tree].reverse()) span.lines = Math.max(1, span.children.reduce((sum, child) => sum + child.lines, 0));
  const lines = roots.reduce((sum, root) => sum + root.lines, 0);
  const deepest = Math.max(1, ...roots.map(depth));
  const width = element.clientWidth || 560;
  const high = Math.min(DEEP, 176 / Math.max(lines, 1)), height = Math.max(high * lines, 20);
  const label = `${count(spans.length)} runs of cached blocks, the longest text has ${count(deepest * blockSize)} tokens`;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label });
  const place = (span, x, y) => {
    const wide = (span.blocks / deepest) * width;
    svg.append(s("rect", { class: `span${span.holders > 0 ? " held" : ""}${high * span.lines < 4 ? " thin" : ""}`, x, y, width: Math.max(wide, 1), height: Math.max(high * span.lines, 1), rx: 2 },
      s("title", {}, `${count(span.blocks * blockSize)} tokens, ${span.holders > 0 ? `held by ${span.holders} now` : "cached"}`)));
    let below = y;
    for (const child of span.children) {
      place(child, x + wide, below);
      below += high * child.lines;
    }
  };
  let y = 0;
  for (const root of roots) {
    place(root, 0, y);
    y += high * root.lines;
  }
  fill(element, roots.length ? svg : h("p", { class: "quiet" }, "Nothing is cached."));
  note.textContent = roots.length ? `${label}.${leftOut ? " The tree has more branches than are drawn." : ""} Runs in the stronger colour are held by requests now.` : "";
}

const depth = (span) => span.blocks + Math.max(0, ...span.children.map(depth));
