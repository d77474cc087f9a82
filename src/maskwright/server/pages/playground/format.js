// JSON with a line for each member. Names, strings and numbers stay as they are written: a number
// that a script reads may lose digits, and names that are there twice would become one.

const PARTS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The text, formatted. Throws a SyntaxError for what is no JSON. */
export function formatted(text) {
  JSON.parse(text);
  const parts = text.match(PARTS);
  let depth = 0, written = "";
  const line = () => `\n${"  ".repeat(depth)}`;
  parts.forEach((part, at) => {
    if (part === "}" || part === "]") {
      depth -= 1;
      written += (parts[at - 1] === "{" || parts[at - 1] === "[" ? "" : line()) + part;
    } else {
      written += part === ":" ? ": " : part;
      if (part === "{" || part === "[") depth += 1;
      const isOpen = part === "," || part === "{" || part === "[";
      if (isOpen && parts[at + 1] !== "}" && parts[at + 1] !== "]") written += line();
    }
  });
  return written;
}
