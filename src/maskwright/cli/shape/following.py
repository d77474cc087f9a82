"""Say what may follow a prefix: characters, texts, tokens, and whether the text may end.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. Without a prefix, this says how a text may begin.

With `--model`, the tokens of its vocabulary that may follow are counted, and some of them shown;
the model itself isn't loaded.

Exit code: 0 if the prefix is the beginning of a text of the shape; 1 if it isn't; 2 if the shape,
an option or a file can't be used.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from maskwright.automaton.value.progress import PropertyOrder
from maskwright.cli.arguments import Argument, Option
from maskwright.cli.input.opened import OpenedShape, open_shape
from maskwright.cli.input.shapes import Kind, compile_shape
from maskwright.cli.input.texts import bytes_of, text_argument
from maskwright.cli.options import JSON_HELP, KIND_HELP, ORDER_HELP, SHAPE_HELP, VOCABULARY_HELP
from maskwright.cli.output.verdicts import fault_lines, following_lines
from maskwright.errors import InputError
from maskwright.workbench.reading import TextReading, Verdict, read_text
from maskwright.workbench.report import following_data, reading_data
from maskwright.workbench.tokens import AllowedTokens, allowed_tokens

MOST_TOKENS = 24
"""Tokens that are shown."""


def following(
    shape: Annotated[str, Argument(help=SHAPE_HELP)],
    prefix: Annotated[str, Option(help="The beginning of a text.")] = "",
    file: Annotated[
        str | None, Option(help="File with the beginning of a text; '-' is standard input.")
    ] = None,
    model: Annotated[str | None, Option(help=VOCABULARY_HELP)] = None,
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto",
    property_order: Annotated[PropertyOrder, Option(help=ORDER_HELP)] = "schema",
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False,
) -> int:
    if file == shape == "-":
        raise InputError("'-' is given more than once; standard input is read once", param="file")
    text = text_argument(prefix, "--prefix").encode() if file is None else bytes_of(file)
    opened = open_shape(shape, kind, property_order)
    reading = read_text(opened.grammar, text)
    is_prefix = reading.verdict is not Verdict.MISMATCH
    tokens = None
    if model is not None and is_prefix:
        tokens = _tokens(opened, model, text, property_order)
    if as_json:
        print(json.dumps(_data(reading, tokens), ensure_ascii=False, indent=2))
        return 0 if is_prefix else Verdict.MISMATCH.value
    lines = following_lines(reading)
    if tokens is not None:
        shown = " ".join(repr(token) for token in tokens.texts[:MOST_TOKENS])
        more = " …" if len(tokens.ids) > MOST_TOKENS else ""
        lines.append(f"  tokens   {len(tokens.ids):,} of {tokens.size:,}: {shown}{more}")
    head = [] if is_prefix else fault_lines(file or "--prefix", reading)
    print("\n".join([*head, *lines]))
    return 0 if is_prefix else Verdict.MISMATCH.value


def _tokens(
    opened: OpenedShape, model: str, text: bytes, property_order: PropertyOrder
) -> AllowedTokens:
    from maskwright.cli.input.vocabulary import read_vocabulary  # noqa: PLC0415 - only with --model

    grammar = compile_shape(opened.shape, read_vocabulary(model), property_order=property_order)
    return allowed_tokens(grammar, text)


def _data(reading: TextReading, tokens: AllowedTokens | None) -> dict[str, Any]:
    if reading.verdict is Verdict.MISMATCH:
        return reading_data(reading)
    found = {"verdict": "prefix", "accepted": reading.accepted, **following_data(reading)}
    if tokens is not None:
        found["tokens"] = {
            "count": len(tokens.ids),
            "of": tokens.size,
            "ids": tokens.ids,
            "texts": tokens.texts,
        }
    return found
