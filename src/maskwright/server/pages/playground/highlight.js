// Colours of JSON, grammars and patterns: runs of characters with the name of their kind.

const JSON_PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d[\d.eE+-]*)|([{}[\],:])/g;
const GRAMMAR_PARTS =
  /(\/\/[^\n]*|#[^\n]*|\(\*[^]*?\*\))|("(?:[^"\\\n]|\\.)*"i?|'(?:[^'\\\n]|\\.)*'|\[\^?(?:[^\]\\\n]|\\.)+\])|(\/(?:[^/\\\n]|\\.)+\/[imslux]*)|(^[ \t]*[?!]?<?[\w.-]+>?(?=[^\n:=]*(?:::?=|:|=)))|(::?=|[:|=;?*+(){}~,])|(%\w+)/gm;
const PATTERN_PARTS = /(\\.)|(\[\^?(?:[^\]\\]|\\.)*\])|([()|])|([?*+]|\{\d*,?\d*\})/g;

/** Above so many characters a text is shown in one colour: colouring would be slower than typing. */
export const MOST_COLOURED = 30000;

/** The coloured runs of a text, `[start, stop, kind]`, in their order. */
export function runs(text, language) {
  if (text.length > MOST_COLOURED) return [];
  if (language === "json") return found(text, JSON_PARTS, jsonKind);
  if (language === "regex") return found(text, PATTERN_PARTS, patternKind);
  return language === "grammar" ? found(text, GRAMMAR_PARTS, grammarKind) : [];
}

function* each(text, pattern) {
  pattern.lastIndex = 0;
  for (let match; (match = pattern.exec(text)) !== null; ) yield match;
}

function found(text, pattern, kindOf) {
  const result = [];
  for (const match of each(text, pattern)) {
    const length = match[1] !== undefined && match[2] !== undefined && kindOf === jsonKind ? match[1].length : match[0].length;
    result.push([match.index, match.index + length, kindOf(match)]);
  }
  return result;
}

function jsonKind([, string, colon, word, number]) {
  if (string !== undefined) return colon === undefined ? "string" : "name";
  return word !== undefined ? "word" : number !== undefined ? "number" : "mark";
}

function grammarKind([, comment, string, pattern, rule, mark]) {
  if (comment !== undefined) return "comment";
  if (string !== undefined) return "string";
  if (pattern !== undefined) return "number";
  return rule !== undefined ? "name" : mark !== undefined ? "mark" : "word";
}

function patternKind([, escape, set, bracket]) {
  return escape !== undefined ? "number" : set !== undefined ? "string" : bracket !== undefined ? "name" : "word";
}
