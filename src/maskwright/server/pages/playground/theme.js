// Light, dark, or as the system says. The choice is kept in this browser alone.

const CHOICES = [["", "as the system", "◐"], ["light", "light", "☀"], ["dark", "dark", "☾"]];

export function setUpTheme(button) {
  let chosen = stored();
  const show = () => {
    const [name, words, sign] = CHOICES.find(([each]) => each === chosen) ?? CHOICES[0];
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
    button.textContent = sign;
    button.setAttribute("aria-label", `Colours: ${words}`);
    button.title = `Colours: ${words}`;
  };
  button.addEventListener("click", () => {
    const at = CHOICES.findIndex(([each]) => each === chosen);
    chosen = CHOICES[(at + 1) % CHOICES.length][0];
    try {
      localStorage.setItem("maskwright-theme", chosen);
    } catch { /* storage may be off: then the choice holds until the page is left */ }
    show();
  });
  show();
}

function stored() {
  try {
    return localStorage.getItem("maskwright-theme") ?? "";
  } catch {
    return "";
  }
}
