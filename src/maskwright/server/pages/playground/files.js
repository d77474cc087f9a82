// Files that are chosen or dropped: their text goes into an editor.

import { h, notice } from "./dom.js";

/** Above so many bytes a file is not read: the server takes no larger shapes or texts as it is set up. */
const MOST = 4 << 20;

/** Lets files be dropped on `root`, and chosen with `button`. `take(text, suffix)` gets what they hold. */
export function setUpFiles(root, button, take) {
  const read = async (file) => {
    if (file.size > MOST) return notice(`${file.name} has more than ${MOST >> 20} MiB.`);
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      take(text.replaceAll("\r\n", "\n"), /\.(\w+)$/.exec(file.name)?.[1].toLowerCase() ?? "");
    } catch (error) {
      notice(error instanceof TypeError ? `${file.name} is no text in UTF-8.` : error.message);
    }
  };
  const field = h("input", { type: "file", hidden: true, onchange: () => {
    if (field.files.length > 0) read(field.files[0]);
    field.value = "";
  } });
  button.after(field);
  button.addEventListener("click", () => field.click());
  const over = (is) => root.classList.toggle("dropping", is);
  root.addEventListener("dragover", (event) => over(event.dataTransfer.types.includes("Files")));
  root.addEventListener("dragleave", () => over(false));
  root.addEventListener("drop", (event) => {
    over(false);
    if (event.dataTransfer.files.length > 0) read(event.dataTransfer.files[0]);
  });
}

/** A file that is dropped anywhere must not replace the page. */
export function keepPage() {
  for (const name of ["dragover", "drop"]) {
    window.addEventListener(name, (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
  }
}
