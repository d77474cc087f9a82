// What is kept in this tab, so that it is still there after the page is loaded again.

const NAME = "maskwright-playground";

/** Keeps a state, with the fragment of the address under which it was written. */
export function keep(state) {
  try {
    sessionStorage.setItem(NAME, JSON.stringify({ ...state, fragment: location.hash }));
  } catch { /* it is too large, or storage is off: then it is lost when the page is left */ }
}

/** The state that was kept; null if there is none. */
export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME));
  } catch {
    return null;
  }
}
