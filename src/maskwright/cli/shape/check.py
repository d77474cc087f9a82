"""Say whether texts match a JSON Schema, a grammar or a pattern, and where they don't.

SHAPE is a file, the shape itself, or the name of a schema or grammar that ships with the package; a
file of that name comes first. FILES are the texts to check; '-' is standard input.

Under a schema, white space before and after the text is ignored, and inside the text runs of up to
32 bytes of it match. Under a grammar or a pattern every character counts, except one line break at
the end.

Exit code: 0 if every text matches; 1 if a text doesn't match; 3 if each text that doesn't match is
the beginning of one that does; 2 if the shape, an option or a file can't be used.
"""

from __future__ import annotations

import sys
from typing import Annotated

from maskwright.automaton.value.progress import PropertyOrder
from maskwright.cli.arguments import Argument, Option
from maskwright.cli.input.shapes import Kind, SchemaArgument, compile_shape, read_shape
from maskwright.cli.input.texts import read_text
from maskwright.cli.options import KIND_HELP, SHAPE_HELP
from maskwright.cli.output import show
from maskwright.cli.walk import Verdict, Walk, byte_vocabulary, walk
from maskwright.errors import InputError
from maskwright.mask import Grammar

JSON_SPACE = b" \t\r\n"


def check(
    shape: Annotated[str, Argument(help=SHAPE_HELP)],
    files: Annotated[list[str], Argument(help="Files with texts to check; '-' is standard input.")],
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto",
    property_order: Annotated[
        PropertyOrder,
        Option(
            help="The order that properties must have; 'schema' is that of the schema, in which "
            "answers are generated."
        ),
    ] = "any",
) -> int:
    wanted = read_shape(shape, kind)
    grammar = compile_shape(wanted, byte_vocabulary(), property_order=property_order)
    if files.count("-") > 1:
        raise InputError("'-' is given more than once; standard input is read once", param="files")
    for warning in grammar.report.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    verdicts: list[Verdict] = []
    for file in files:
        text = read_text(file)
        result = (
            _walk_json(grammar, text)
            if isinstance(wanted, SchemaArgument)
            else _walk(grammar, text)
        )
        verdicts.append(result.verdict)
        print(report(file, result))
    return exit_code(verdicts)


def _walk_json(grammar: Grammar, text: bytes) -> Walk:
    text = text.rstrip(JSON_SPACE)
    return walk(grammar, text, start=len(text) - len(text.lstrip(JSON_SPACE)))


def _walk(grammar: Grammar, text: bytes) -> Walk:
    """The whole text; if that doesn't match, the text without the line break at its end."""
    whole = walk(grammar, text)
    if whole.verdict is Verdict.MATCH or not text.endswith(b"\n"):
        return whole
    line = walk(grammar, text.removesuffix(b"\n").removesuffix(b"\r"))
    return line if line.verdict is Verdict.MATCH else whole


def exit_code(verdicts: list[Verdict]) -> int:
    """A mismatch outweighs an incomplete text."""
    for worst in (Verdict.MISMATCH, Verdict.INCOMPLETE):
        if worst in verdicts:
            return worst.value
    return Verdict.MATCH.value


def report(name: str, result: Walk) -> str:
    """The lines about one text: its verdict; for a fault, the place and what could stand there."""
    if result.verdict is Verdict.MATCH:
        return f"{name}: matches"
    place = show.place(result.text, _fault(result))
    fault = (
        "the text ends too early" if result.verdict is Verdict.INCOMPLETE else "this doesn't match"
    )
    excerpt, caret = place.lines()
    return "\n".join(
        [
            f"{name}:{place.line}:{place.column}: {fault}",
            f"  {excerpt}",
            f"  {caret}",
            f"  expected {_expected(result)}",
        ]
    )


def _fault(result: Walk) -> int:
    """The byte to point at. Where the text could have ended, that is not the white space that
    follows but what comes after it."""
    rest = result.text[result.accepted :]
    return result.accepted + (len(rest) - len(rest.lstrip(JSON_SPACE)) if result.may_end else 0)


def _expected(result: Walk) -> str:
    if len(result.forced) > 1:
        return result.forced.decode("utf-8", "replace")
    return show.allowed(result.next, result.may_end)
