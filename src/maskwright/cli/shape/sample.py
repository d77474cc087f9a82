"""Write texts that match a shape: random, the shortest, a long one, one for each alternative.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. Each text is written in a line of its own; where texts have line breaks of their own,
`--json` shows which is which. Texts of a schema are written without escapes that JSON doesn't need.
Equal seeds give equal random texts; the seed is printed on stderr.

With `--cover`, the texts of a grammar use every option, repetition and terminal of every rule, each
in a derivation that is otherwise as short as possible; texts of a schema use every subschema, every
option of `anyOf` and `oneOf`, and every value of an `enum`. What is left out is listed on stderr.

Exit code: 0; 1 if `--cover` leaves something out; 2 if the shape or an option can't be used, or no
text is as short as `--limit` asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.arguments import Argument
from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP, WHITESPACE_HELP
from maskwright.settings import Option
from maskwright.workbench.choices import Kind, Which


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """What `maskwright sample` is given."""

    shape: Annotated[str, Argument(help=SHAPE_HELP)]
    count: Annotated[int, Option(short="-n", least=1, help="How many random texts.")] = 5
    which: Annotated[
        Which, Option(help="'longest' is the longest of 32 random texts within --limit.")
    ] = "random"
    cover: Annotated[bool, Option("--cover", help="Texts that together use every alternative.")] = (
        False
    )
    limit: Annotated[
        int | None,
        Option(least=0, help="Most bytes of a text. Default: 100 more than the shortest has."),
    ] = None
    seed: Annotated[int, Option(help="Seed of the random choices.")] = 0
    whitespace: Annotated[WhitespaceName, Option(help=WHITESPACE_HELP)] = "spaced"
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
