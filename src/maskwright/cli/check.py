"""Say whether texts match a JSON Schema, a grammar or a pattern, and where they don't.

SHAPE is a file or the shape itself. FILE is a text to check; '-' is stdin. Under a schema, white
space around the text doesn't count; inside it, runs of up to 32 bytes match. Under a grammar or a
pattern every character counts, but for one line break at the end.

Exit code: 0 every text matches; 1 some text doesn't; 3 all that don't are beginnings of a text
that does; 2 the schema, an option or a file can't be used.
"""

from __future__ import annotations

from typing import Annotated

import typer

from maskwright.automaton.value.progress import PropertyOrder
from maskwright.cli import show
from maskwright.cli.inputs import read_text
from maskwright.cli.shapes import Kind, SchemaShape, compile_shape, read_shape
from maskwright.cli.walk import Verdict, Walk, byte_vocabulary, walk
from maskwright.errors import InputError
from maskwright.mask import Grammar

JSON_SPACE = b" \t\r\n"


def check(
    shape: Annotated[
        str, typer.Argument(help="A JSON Schema, a grammar or a pattern, or a file with one.")
    ],
    files: Annotated[list[str], typer.Argument(help="Texts to check; '-' is stdin.")],
    kind: Annotated[
        Kind,
        typer.Option(help="What SHAPE is; 'auto' takes schemas and grammars, but no patterns."),
    ] = "auto",
    property_order: Annotated[
        PropertyOrder,
        typer.Option(help="'schema': the one in which answers are generated."),
    ] = "any",
) -> None:
    wanted = read_shape(shape, kind)
    grammar = compile_shape(wanted, byte_vocabulary(), property_order=property_order)
    if files.count("-") > 1:
        raise InputError("'-' is given more than once; standard input is read once", param="files")
    for warning in grammar.report.warnings:
        typer.echo(f"warning: {warning}", err=True)
    verdicts: list[Verdict] = []
    for file in files:
        text = read_text(file)
        found = (
            _walk_json(grammar, text) if isinstance(wanted, SchemaShape) else _walk(grammar, text)
        )
        verdicts.append(found.verdict)
        typer.echo(report(file, found))
    raise typer.Exit(exit_code(verdicts))


def _walk_json(grammar: Grammar, text: bytes) -> Walk:
    text = text.rstrip(JSON_SPACE)
    return walk(grammar, text, start=len(text) - len(text.lstrip(JSON_SPACE)))


def _walk(grammar: Grammar, text: bytes) -> Walk:
    """The whole text, or all but the line break at its end, whatever matches."""
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


def report(name: str, found: Walk) -> str:
    """What is said of one text: its verdict, and for a fault the place and the way out."""
    if found.verdict is Verdict.MATCH:
        return f"{name}: matches"
    place = show.place(found.text, _fault(found))
    fault = (
        "the text ends too early" if found.verdict is Verdict.INCOMPLETE else "this doesn't match"
    )
    excerpt, caret = place.lines()
    return "\n".join(
        [
            f"{name}:{place.line}:{place.column}: {fault}",
            f"  {excerpt}",
            f"  {caret}",
            f"  expected {_expected(found)}",
        ]
    )


def _fault(found: Walk) -> int:
    """The byte to point at: behind a text that might have ended, not the space but what follows."""
    rest = found.text[found.accepted :]
    return found.accepted + (len(rest) - len(rest.lstrip(JSON_SPACE)) if found.may_end else 0)


def _expected(found: Walk) -> str:
    if len(found.forced) > 1:
        return found.forced.decode("utf-8", "replace")
    return show.allowed(found.next, found.may_end)
