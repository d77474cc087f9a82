"""Check shapes: whether they can be used, and what in them is likely to be a mistake.

SHAPES are files, folders with files, '-', shapes themselves, or names of schemas and grammars that
ship with the package; a file of that name comes first. Of a folder all files *.json, *.yaml, *.yml,
*.lark, *.gbnf, *.ebnf and *.regex are checked, those in its folders included.

Each shape is checked: whether it can be used, how long its shortest text is, and what in it is
likely to be a mistake or more than was meant. `--profile` adds the rules of another service,
`--ignore` leaves rules out. `--output-format github` writes findings for GitHub's workflows, which
show them beside the lines; `sarif` for code scanning. With `--watch`, the shapes are checked again
whenever one of the files changes, until Ctrl-C.
`--fix` writes the file of the shape anew without unused definitions and rules, and with what a
profile asks for, and shows what it changed. Which texts match changes only where a profile asks for
it.

`maskwright match` says whether texts match a shape.

Exit code: 0 if the shapes can be used; 1 if one breaks a rule of the profile; 2 if one can't be
used, or an option can't.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from maskwright.cli.arguments import Argument
from maskwright.cli.options import KIND_HELP, ORDER_HELP, SHAPE_HELP
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.settings import Option
from maskwright.workbench.choices import Kind, Profile

OutputFormat: TypeAlias = Literal["text", "json", "github", "sarif"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What `maskwright check` is given."""

    shapes: Annotated[list[str], Argument(help=f"{SHAPE_HELP} Or a folder of such files.")]
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    property_order: Annotated[PropertyOrder, Option(help=ORDER_HELP)] = "any"
    profile: Annotated[Profile | None, Option(help="Whose rules a schema has to keep as well.")] = (
        None
    )
    ignore: Annotated[
        list[str],
        Option(
            help="A rule to be silent about, as it stands in brackets; 'unbounded-*' stands "
            "for all that begin so. May be repeated.",
            metavar="RULE",
        ),
    ] = field(default_factory=list[str])
    fix: Annotated[
        bool, Option("--fix", help="Write the file of SHAPE anew with what can be mended.")
    ] = False
    watch: Annotated[
        bool, Option("--watch", help="Check again whenever one of the files changes.")
    ] = False
    output_format: Annotated[
        OutputFormat, Option(help="For people, for programs, for GitHub, for code scanning.")
    ] = "text"
    as_json: Annotated[bool, Option("--json", help="As --output-format json.")] = False
