// Explains a word when it is pointed at, focused or touched: whatever has `data-help` in the page.

import { $, h } from "./dom.js";

/** A word in a line of text, with its explanation. */
export function term(word, help) {
  return h("button", { type: "button", class: "term", "data-help": help }, word);
}

/** Has all explanations of the page shown, now and later. */
export function setUpHelp() {
  let shown = null;
  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = null;
    $("help").hidden = true;
  };
  const show = (event) => {
    const about = event.target.closest?.("[data-help]");
    if (about === shown || $("help").contains(event.target)) return;
    hide();
    if (about) point(about);
  };
  const point = (about) => {
    const box = $("help"), { left, top, bottom } = about.getBoundingClientRect();
    shown = about;
    about.setAttribute("aria-describedby", "help");
    box.textContent = about.dataset.help;
    box.hidden = false;
    const below = bottom + 6;
    box.style.left = `${Math.max(8, Math.min(left, innerWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${below + box.offsetHeight > innerHeight ? top - box.offsetHeight - 6 : below}px`;
  };
  for (const name of ["mouseover", "focusin", "click"]) document.addEventListener(name, show);
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
