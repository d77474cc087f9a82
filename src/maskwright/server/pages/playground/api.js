// Talks to the server that sent this page: with the reader's key if it wants one, and one quick
// question after the other: the newest counts.

import { h, $, fill, notice } from "./dom.js";

const KEY = "maskwright-key";
const PATIENCE = 400; // milliseconds until an answer that is out of date is no longer waited for

/** An answer of the server that says what is wrong with the request. */
export class RequestError extends Error {
  constructor(status, error) {
    super(error.message ?? `the server answered ${status}`);
    this.status = status;
    this.code = error.code ?? null;
    this.param = error.param ?? null;
  }
}

/** Sends a request, as `fetch` does, and returns the response, whatever it is. Asks for a key, once,
 * where one is needed. */
export async function exchange(path, { headers = {}, ...request }) {
  for (let asked = false; ; ) {
    const key = sessionStorage.getItem(KEY);
    const response = await fetch(path, { ...request, headers: key ? { ...headers, authorization: `Bearer ${key}` } : headers });
    if (response.status !== 401) return response;
    if (sessionStorage.getItem(KEY) !== key) continue; // it was given while this request was away
    const body = await response.clone().json().catch(() => ({}));
    if (asked || !(await askForKey(body.error?.message ?? ""))) return response;
    asked = true;
  }
}

/** Sends a body of JSON, or asks for a page, and returns the response. Throws a `RequestError` for a refusal. */
export async function send(path, body = undefined, signal = undefined) {
  const response = await exchange(path, body === undefined ? { signal } : {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
  });
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw new RequestError(response.status, answer.error ?? {});
}

/** The JSON that the server answers. */
export async function call(path, body = undefined, signal = undefined) {
  return (await send(path, body, signal)).json();
}

/** Whether requests are sent with a key. */
export const hasKey = () => sessionStorage.getItem(KEY) !== null;

let asking = null; // several requests may be refused at once: they share one question

function askForKey(message) {
  asking ??= new Promise((resolve) => {
    const dialog = $("key");
    const field = h("input", { type: "password", id: "key-field", autocomplete: "off", required: true });
    const form = h("form", { method: "dialog" },
      h("h2", { id: "key-title" }, "This server needs a key"),
      h("p", {}, message),
      h("label", { for: "key-field" }, "API key"), field,
      h("p", { class: "quiet" }, "It is kept in this tab until you close it."),
      h("div", { class: "tools" }, h("button", { class: "main", value: "use" }, "Use it"),
        h("button", { value: "", formnovalidate: true }, "Cancel")));
    fill(dialog, form);
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      asking = null;
      const given = dialog.returnValue === "use" && field.value.trim() !== "";
      if (given) sessionStorage.setItem(KEY, field.value.trim());
      resolve(given);
    }, { once: true });
    dialog.showModal();
    field.focus();
  });
  return asking;
}

/**
 * Runs one task at a time. A task that has to wait is dropped when a newer one comes for the same
 * purpose; the one at work is given up as soon as it has taken long.
 */
export class Latest {
  #waiting = new Map();
  #running = null;

  /** `task(signal)` is called when its turn comes. It makes tasks for the purposes in `outdates` useless. */
  run(purpose, task, outdates = [purpose]) {
    this.#waiting.set(purpose, task);
    const running = this.#running;
    if (running === null) this.#next();
    else if (outdates.includes(running.purpose)) {
      setTimeout(() => running.control.abort(), PATIENCE - (performance.now() - running.since));
    }
  }

  /** Whether a newer task of this purpose waits, so that the answer at hand is out of date. */
  isStale(purpose) {
    return this.#waiting.has(purpose);
  }

  async #next() {
    while (this.#waiting.size > 0) {
      const [purpose, task] = this.#waiting.entries().next().value;
      this.#waiting.delete(purpose);
      const control = new AbortController();
      this.#running = { purpose, control, since: performance.now() };
      try {
        await task(control.signal);
      } catch (error) {
        if (error.name !== "AbortError") notice(error.message);
      }
    }
    this.#running = null;
  }
}

/** Calls `action` when nothing has come for so many milliseconds. */
export function debounced(milliseconds, action) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}
