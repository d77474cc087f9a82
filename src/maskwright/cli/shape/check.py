"""Check a JSON Schema, a grammar or a pattern, or say whether texts match it.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package; a file of that name comes first.

Without FILES, the shape itself is checked: whether it can be used, how long its shortest text is,
and what in it is likely to be a mistake or more than was meant. `--profile` adds the rules of
another service, `--ignore` leaves rules out.
`--fix` writes the file of the shape anew without unused definitions and rules, and with what a
profile asks for, and shows what it changed. Which texts match changes only where a profile asks for
it.

FILES are texts to check; '-' is standard input. Under a schema, white space before and after the
text is ignored, and inside the text runs of up to 32 bytes of it match. Under a grammar or a
pattern every character counts, except one line break at the end.

Exit code: 0 if the shape can be used and every text matches; 1 if a text doesn't match, or the
shape breaks a rule of the profile; 3 if each text that doesn't match is the beginning of one that
does; 2 if the shape, an option or a file can't be used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from maskwright.cli.arguments import Argument
from maskwright.cli.input.kind import Kind
from maskwright.cli.options import JSON_HELP, KIND_HELP, ORDER_HELP, SHAPE_HELP
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.settings import Option
from maskwright.workbench.choices import Profile


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What `maskwright check` is given."""

    shape: Annotated[str, Argument(help=SHAPE_HELP)]
    files: Annotated[
        list[str], Argument(help="Files with texts to check; '-' is standard input.")
    ] = field(default_factory=list[str])
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    property_order: Annotated[PropertyOrder, Option(help=ORDER_HELP)] = "any"
    profile: Annotated[Profile | None, Option(help="Whose rules a schema has to keep as well.")] = (
        None
    )
    ignore: Annotated[
        list[str],
        Option(
            help="A rule of which nothing is said, as it stands in brackets; 'unbounded-*' stands "
            "for all that begin so. May be repeated.",
            metavar="RULE",
        ),
    ] = field(default_factory=list[str])
    fix: Annotated[
        bool, Option("--fix", help="Write the file of SHAPE anew with what can be mended.")
    ] = False
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
