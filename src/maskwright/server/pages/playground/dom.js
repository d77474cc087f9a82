// Makes elements. All text goes in as text nodes, never as HTML, so nothing that is shown can be
// read as markup.

/** An element with attributes, listeners (`onclick`) and children. False and null children are left out. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false));
  return element;
}

/** The element with an id. */
export const $ = (id) => document.getElementById(id);

/** Replaces what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== false));
}

let hiding = 0;

/** Says something short for a few seconds. */
export function notice(text) {
  const element = $("notice");
  element.textContent = text;
  element.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => (element.hidden = true), 4000);
}

const NAMED = { "\n": "⏎", "\t": "⇥", "\r": "␍", " ": "␣" };

/** A token's text with white space made visible. */
export function visible(text) {
  return text.replace(/[\n\t\r]/g, (character) => NAMED[character]).replace(/^ | $/g, "␣");
}

/** The keys that have the model write, as this keyboard names them. */
export const SHORTCUT = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform) ? "⌘ Enter" : "Ctrl+Enter";

export const count = (number) => number.toLocaleString("en");
