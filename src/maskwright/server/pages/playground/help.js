// Explains a word when it is pointed at, reached with the keyboard or touched: whatever has `data-help`.

import { $, h } from "./dom.js";

const PATIENCE = 300; // milliseconds for which the pointer rests before something is explained

/** A word in a line of text, with its explanation. */
export function term(word, help) {
  return h("button", { type: "button", class: "term", "data-help": help }, word);
}

/** Has all explanations of the page shown, now and later. What is pressed as a button is not explained
 * over what it shows, until the pointer has left it. */
export function setUpHelp() {
  let shown = null, under = null, timer = 0;
  const hide = () => {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    $("help").hidden = true;
  };
  const show = (about) => {
    if (about === shown) return;
    hide();
    const box = $("help"), { left, top, bottom } = about.getBoundingClientRect();
    shown = about;
    about.setAttribute("aria-describedby", "help");
    box.textContent = about.dataset.help;
    box.hidden = false;
    const below = bottom + 6;
    box.style.left = `${Math.max(8, Math.min(left, innerWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${below + box.offsetHeight > innerHeight ? top - box.offsetHeight - 6 : below}px`;
  };
  const aboutOf = (event) => event.target.closest?.("[data-help]") ?? null;
  document.addEventListener("mouseover", (event) => {
    const about = aboutOf(event);
    // What is drawn anew under the pointer is still the same word.
    const isSame = about === under || (under?.isConnected === false && about?.dataset.help === under.dataset.help);
    under = about;
    if (isSame) return;
    hide();
    if (about !== null) timer = setTimeout(() => about.isConnected && show(about), PATIENCE);
  });
  document.addEventListener("focusin", (event) => {
    const about = aboutOf(event);
    if (about?.matches(":focus-visible, .term")) show(about);
  });
  document.addEventListener("click", (event) => {
    const about = aboutOf(event);
    if (about?.matches(".term")) show(about);
    else hide();
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
