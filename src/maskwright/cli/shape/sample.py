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

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP, WHITESPACE_HELP
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind, Which


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """What `maskwright sample` is given."""

    shape: str = argument(SHAPE_HELP)
    count: int = option(5, "How many random texts.", short="-n", least=1)
    which: Which = option("random", "'longest' is the longest of 32 random texts within --limit.")
    cover: bool = option(False, "Texts that together use every alternative.", flag="--cover")
    limit: int | None = option(
        None, "Most bytes of a text. Default: 100 more than the shortest has.", least=0
    )
    seed: int = option(0, "Seed of the random choices.")
    whitespace: WhitespaceName = option("spaced", WHITESPACE_HELP)
    kind: Kind = option("auto", KIND_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")
