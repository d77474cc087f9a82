"""Write a grammar in another dialect: Lark, GBNF or EBNF.

GRAMMAR is a file or the grammar itself. What comes out goes to stdout. What the other dialect has
no operator for (`&`, `~`, `%ignore` of comments) is written out as the rules of an automaton.

Exit code: 0 converted; 2 the grammar can't be read, or the other dialect can't say what it says.
"""

from __future__ import annotations

from typing import Annotated

import typer

from maskwright.cli.shapes import dialect_of, read_grammar_text
from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import DIALECTS, Dialect
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.write import write_grammar


def convert(
    grammar: Annotated[str, typer.Argument(help="A file with a grammar, or the grammar.")],
    to: Annotated[str, typer.Option(help="lark, gbnf or ebnf.")],
    dialect: Annotated[
        str, typer.Option(help="What the grammar is written in. Default: found out.")
    ] = "auto",
    start: Annotated[str | None, typer.Option(help="The rule that a whole text is.")] = None,
) -> None:
    given = dialect_of(grammar) if dialect == "auto" else _dialect(dialect, "dialect")
    read = read_grammar(read_grammar_text(grammar), given, start=start)
    typer.echo(write_grammar(read.lowered, _dialect(to, "to")), nl=False)


def _dialect(name: str, option: str) -> Dialect:
    for each in DIALECTS:
        if each == name:
            return each
    raise InputError(f"--{option} is one of {', '.join(DIALECTS)}", param=option)
