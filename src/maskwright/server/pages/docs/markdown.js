// The little Markdown that descriptions have: paragraphs, lists, code, strong words and links.

import { h } from "../playground/dom.js";

const SPANS = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** The pieces of one line of text. */
export function inline(text) {
  const pieces = [];
  let at = 0;
  for (const found of text.matchAll(SPANS)) {
    const [whole, code, strong, words, address] = found;
    pieces.push(text.slice(at, found.index));
    if (code !== undefined) pieces.push(h("code", {}, code));
    else if (strong !== undefined) pieces.push(h("strong", {}, ...inline(strong)));
    else pieces.push(/^(https?:|#|\.{0,2}\/)/.test(address) ? h("a", { href: address }, words) : words);
    at = found.index + whole.length;
  }
  return [...pieces, text.slice(at)].filter((piece) => piece !== "");
}

/** Paragraphs and lists. */
export function blocks(text) {
  return text.split(/\n{2,}/).map((block) => {
    const items = block.split(/\n(?=[-*] )/);
    return items.every((item) => /^[-*] /.test(item))
      ? h("ul", {}, items.map((item) => h("li", {}, inline(item.slice(2)))))
      : h("p", {}, inline(block));
  });
}
