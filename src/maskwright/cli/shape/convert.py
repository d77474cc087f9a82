"""Write a grammar in another dialect: Lark, GBNF or EBNF.

GRAMMAR is a file, the grammar itself, or the name of one that ships with the package; a file of
that name comes first. The converted grammar goes to standard output. Operators that the other
dialect doesn't have (`&`, `~`, `%ignore` of comments) are written out as the rules of an automaton.

Exit code: 0 if the grammar was converted; 2 if it can't be read, or can't be expressed in the other
dialect.
"""

from __future__ import annotations

from typing import Annotated

from maskwright.cli.arguments import Argument, Option
from maskwright.cli.input.shapes import dialect_of, read_grammar_text
from maskwright.cli.input.shipped import listed
from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import DIALECTS, Dialect
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.write import write_grammar


def convert(
    grammar: Annotated[
        str,
        Argument(
            help="A grammar: a file, the text itself, or the name of one that ships: "
            f"{listed(('grammar',))}."
        ),
    ],
    to: Annotated[str, Option(help="The dialect to write: lark, gbnf or ebnf.")],
    dialect: Annotated[
        str,
        Option(help="The dialect of GRAMMAR. Default: by the file's name, or by the text."),
    ] = "auto",
    start: Annotated[
        str | None, Option(help="The start rule. Default: that of the dialect.")
    ] = None,
) -> None:
    given = dialect_of(grammar) if dialect == "auto" else _dialect(dialect, "dialect")
    read = read_grammar(read_grammar_text(grammar, given), given, start=start)
    print(write_grammar(read.lowered, _dialect(to, "to")), end="")


def _dialect(name: str, option: str) -> Dialect:
    for each in DIALECTS:
        if each == name:
            return each
    raise InputError(f"--{option} is one of {', '.join(DIALECTS)}", param=option)
