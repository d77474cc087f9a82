// Places: in a text by line and column, in JSON by pointer, in a grammar by rule.

/** The lines of a text, found once for many places. */
export class Lines {
  constructor(text) {
    this.text = text;
    this.starts = [0];
    for (let end; (end = text.indexOf("\n", this.starts.at(-1))) >= 0; ) this.starts.push(end + 1);
  }

  /** The index of a line and column, both from 1; the server counts columns in characters, a
   * JavaScript string in units of UTF-16. */
  indexAt(line, column) {
    const { text, starts } = this;
    let start = starts[line - 1] ?? text.length;
    for (let at = 1; at < column && start < text.length && text[start] !== "\n"; at++) {
      start += text.codePointAt(start) > 0xffff ? 2 : 1;
    }
    return start;
  }

  /** The line of an index, from 0. */
  lineOf(index) {
    let low = 0, high = this.starts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= index) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** The index of one line and column. */
export const indexAt = (text, line, column) => new Lines(text).indexAt(line, column);

/** Line and column of an index. */
export function positionOf(text, index) {
  const before = text.slice(0, index);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: [...before.slice(start)].length + 1 };
}

/** The index after so many bytes of UTF-8. */
export function indexOfByte(text, bytes) {
  if (bytes <= 0) return 0;
  const encoded = new TextEncoder().encode(text);
  if (encoded.length === text.length) return Math.min(bytes, text.length); // all ASCII
  return new TextDecoder().decode(encoded.subarray(0, bytes)).length;
}

const TOKEN = /[ \t\r\n]*(?:([[\]{},:])|("(?:[^"\\]|\\[^])*"?)|([^\s[\]{},:"]+))/y;
const ESCAPED = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");

/**
 * The values of a JSON text, or of the beginning of one, as a tree: `{kind, name, index, start,
 * stop, nameAt, nameStop, children, pointer}`. Text that isn't JSON ends the reading; what was read
 * is kept.
 */
export function readJson(text) {
  const top = { kind: "document", children: [], pointer: "" };
  const stack = [top];
  TOKEN.lastIndex = 0;
  let name = null, hasColon = false, found;
  while ((found = TOKEN.exec(text)) !== null) {
    const [whole, mark, string, scalar] = found;
    const stop = TOKEN.lastIndex;
    const start = stop - (mark ?? string ?? scalar).length;
    const inside = stack.at(-1);
    if (whole === "") break;
    if (mark === "}" || mark === "]") {
      if (stack.length === 1) break;
      stack.pop().stop = stop;
      name = null;
      hasColon = false;
    } else if (mark === ",") {
      name = null;
      hasColon = false;
    } else if (mark === ":") {
      hasColon = true;
    } else if (string !== undefined && inside.kind === "object" && !hasColon) {
      name = { text: unquoted(string), start, stop };
    } else {
      const step = inside.kind === "object" ? name?.text ?? "" : String(inside.children.length);
      const node = {
        kind: mark === "{" ? "object" : mark === "[" ? "array" : string !== undefined ? "string" : "scalar",
        name: inside.kind === "object" ? step : null,
        start, stop,
        nameAt: inside.kind === "object" ? name?.start ?? null : null,
        nameStop: inside.kind === "object" ? name?.stop ?? null : null,
        children: [],
        pointer: inside === top ? "" : `${inside.pointer}/${ESCAPED(step)}`,
      };
      inside.children.push(node);
      if (mark !== undefined) {
        node.stop = text.length;
        stack.push(node);
        name = null;
        hasColon = false;
      }
    }
  }
  return top.children[0] ?? null;
}

function unquoted(literal) {
  try {
    return JSON.parse(literal);
  } catch { // it ends within an escape, or has no end
    return literal.slice(1).replace(/"$/, "");
  }
}

/** The node at a pointer of a tree, or the innermost one around it. */
export function nodeAt(tree, pointer) {
  let here = tree;
  if (here === null) return null;
  for (;;) {
    const next = here.children.find(
      (child) => pointer === child.pointer || pointer.startsWith(`${child.pointer}/`),
    );
    if (next === undefined) return here;
    here = next;
  }
}

/** The part of a node that is marked: its name if it has one, the value itself if that is short. */
export function marked(node) {
  if (node.nameAt !== null) return { start: node.nameAt, stop: node.nameStop };
  return { start: node.start, stop: node.kind === "object" || node.kind === "array" ? node.start + 1 : node.stop };
}

/** Where a rule of a grammar is defined; null if no line begins with its definition. */
export function ruleAt(text, name) {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = new RegExp(`^[ \\t]*[?!]?(<?${escaped}>?)[^\\n:=]*(?:::?=|:|=)`, "m").exec(text);
  if (found === null) return null;
  const start = found.index + found[0].indexOf(found[1]);
  return { start, stop: start + found[1].length };
}
