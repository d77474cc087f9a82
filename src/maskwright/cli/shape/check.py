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

from dataclasses import dataclass
from typing import Literal, TypeAlias

from maskwright.cli.options import KIND_HELP, ORDER_HELP, SHAPE_HELP
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind, Profile

OutputFormat: TypeAlias = Literal["text", "json", "github", "sarif"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What `maskwright check` is given."""

    shapes: list[str] = argument(f"{SHAPE_HELP} Or a folder of such files.")
    kind: Kind = option("auto", KIND_HELP)
    property_order: PropertyOrder = option("any", ORDER_HELP)
    profile: Profile | None = option(None, "Whose rules a schema has to keep as well.")
    ignore: list[str] = option(
        [],
        "A rule to be silent about, as it stands in brackets; 'unbounded-*' stands for all that "
        "begin so. May be repeated.",
        metavar="RULE",
    )
    fix: bool = option(False, "Write the file of SHAPE anew with what can be mended.", flag="--fix")
    watch: bool = option(False, "Check again whenever one of the files changes.", flag="--watch")
    output_format: OutputFormat = option(
        "text", "For people, for programs, for GitHub, for code scanning."
    )
    as_json: bool = option(False, "As --output-format json.", flag="--json")
