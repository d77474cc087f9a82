"""Follow a text token by token: how many tokens were allowed, which were forced, what masks took.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. The text is divided by the tokenizer of `--model`; the model itself isn't loaded. A token
that the shape forces is written without asking the model.

Exit code: 0 if every token and the end were allowed; 1 if one wasn't; 2 if the shape, an option or
a file can't be used.
"""

from __future__ import annotations

import json
from typing import Annotated

from maskwright.cli.arguments import Argument, Option
from maskwright.cli.input.opened import given_texts, located
from maskwright.cli.input.shapes import Kind, compile_shape, read_shape
from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP, TEXT_HELP, VOCABULARY_HELP
from maskwright.cli.output.style import coloured
from maskwright.errors import InputError
from maskwright.workbench.trace import TracedToken, traced


def trace(
    shape: Annotated[str, Argument(help=SHAPE_HELP)],
    file: Annotated[str | None, Argument(help="File with a text; '-' is standard input.")] = None,
    text: Annotated[str | None, Option(help=TEXT_HELP.partition(".")[0] + ".")] = None,
    model: Annotated[str, Option(help=VOCABULARY_HELP)] = "demo",
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto",
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False,
) -> int:
    from maskwright.cli.input.vocabulary import read_vocabulary  # noqa: PLC0415 - needs a tokenizer

    if (file is None) == (text is None):
        raise InputError("give a file, '-' for standard input, or --text", param="file")
    given = given_texts(shape, [file] if file else [], [text] if text is not None else [])
    [data] = given.values()
    wanted = read_shape(shape, kind)
    with located(wanted):
        grammar = compile_shape(wanted, read_vocabulary(model), property_order="any")
    tokens = [*traced(grammar, data.rstrip(b"\r\n"))]
    if as_json:
        rows = [token._asdict() for token in tokens]
        print(json.dumps({"tokens": rows}, ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(tokens)))
    return 0 if all(token.is_allowed for token in tokens) else 1


def _lines(tokens: list[TracedToken]) -> list[str]:
    lines = ["     id  allowed       µs  text"]
    for token in tokens:
        mark = coloured("forced", "dim") if token.is_forced else ""
        if not token.is_allowed:
            mark = coloured("not allowed", "red")
        figures = f"{token.token:7}  {token.allowed:7,}  {token.microseconds:7.1f}"
        lines.append(f"{figures}  {token.text!r}  {mark}".rstrip())
    forced = sum(token.is_forced for token in tokens)
    return [*lines, f"{len(tokens)} tokens, {forced} forced"]
