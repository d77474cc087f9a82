// Tabs as screen readers and keyboards expect them: one stop for the Tab key, arrows between them.

import { h, fill } from "./dom.js";

export class Tabs {
  /** `items`: [name, title, what it is]; `panelOf(name)`: the id of the panel; `onselect(name)`. */
  constructor(list, items, panelOf, onselect) {
    this.list = list;
    this.onselect = onselect;
    this.buttons = new Map(
      items.map(([name, title, help]) => [
        name,
        h("button", {
          type: "button",
          role: "tab",
          id: `tab-${list.id}-${name}`,
          "aria-controls": panelOf(name),
          "data-help": help,
          onclick: () => this.select(name, true),
        }, title),
      ]),
    );
    fill(list, ...this.buttons.values());
    list.addEventListener("keydown", (event) => this.#key(event));
  }

  select(name, byUser = false) {
    this.selected = name;
    for (const [each, button] of this.buttons) {
      button.setAttribute("aria-selected", String(each === name));
      button.tabIndex = each === name ? 0 : -1;
    }
    if (byUser) this.onselect(name);
  }

  #key(event) {
    const names = [...this.buttons.keys()];
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    let at = names.indexOf(this.selected);
    if (event.key in steps) at = (at + steps[event.key] + names.length) % names.length;
    else if (event.key === "Home") at = 0;
    else if (event.key === "End") at = names.length - 1;
    else return;
    event.preventDefault();
    this.select(names[at], true);
    this.buttons.get(names[at]).focus();
  }
}
