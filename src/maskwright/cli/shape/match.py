"""Say how far texts match a shape, what was allowed where they stop, and why.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. FILES are the texts; '-' is standard input.

For a text that doesn't match, this shows the place, the accepted prefix, the characters and texts
that were allowed there, the JSON Pointers of the value and of its schema, or the stack of rules;
and the keywords of a schema without which it would be allowed, and allowed texts like it.
`--no-why` leaves these out, whose search may take seconds, and `--brief` all but the place and what
could stand there.

Under a schema, white space before and after the text is ignored, and inside the text runs of up to
32 bytes of it match. Under a grammar or a pattern every character counts, except one line break at
the end.

Exit code: 0 if every text matches; 1 if a text doesn't match; 3 if each text that doesn't match is
the beginning of one that does; 2 if the shape, an option or a file can't be used.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.cli.options import JSON_HELP, KIND_HELP, ORDER_HELP, SHAPE_HELP, TEXT_HELP
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """What `maskwright match` is given."""

    shape: str = argument(SHAPE_HELP)
    files: list[str] = argument("Files with texts; '-' is standard input.", [])
    text: list[str] = option([], TEXT_HELP)
    kind: Kind = option("auto", KIND_HELP)
    property_order: PropertyOrder = option("any", ORDER_HELP)
    why: bool = option(True, "Look for reasons, and for allowed texts alike.")
    brief: bool = option(
        False, "A few lines a text: where it stops, what could follow.", flag="--brief"
    )
    as_json: bool = option(False, JSON_HELP, flag="--json")
