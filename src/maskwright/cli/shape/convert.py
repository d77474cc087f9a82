"""Write a shape as a grammar: a JSON Schema, a pattern, or a grammar in another dialect.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package; a file of that name comes first. The grammar goes to standard output. Operators that the
other dialect doesn't have (`&`, `~`, `%ignore` of comments) are written out as the rules of an
automaton.

The grammar of a JSON Schema accepts its instances, with properties in the schema's order, in one
style of white space, and with names and listed strings without escapes that JSON doesn't need. What
no grammar can say, such as that items differ, is refused with its JSON Pointer; with
`--approximate` it is left open, and a comment says so.

Exit code: 0 if the shape was converted; 2 if it can't be read, or can't be expressed in the other
dialect.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP
from maskwright.grammar.schema.options import Integers
from maskwright.settings import REQUIRED, argument, option
from maskwright.workbench.choices import Kind, LayoutName


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What `maskwright convert` is given."""

    shape: str = argument(SHAPE_HELP)
    to: str = option(REQUIRED, "The dialect to write: lark, gbnf or ebnf.")
    dialect: str = option(
        "auto", "The dialect of a grammar. Default: by the file's name, or by the text."
    )
    start: str | None = option(None, "The start rule of a grammar. Default: that of the dialect.")
    kind: Kind = option("auto", KIND_HELP)
    whitespace: LayoutName = option(
        "spaced", "White space between the parts of a schema's instances."
    )
    integers: Integers = option(
        "digits", "How integers are written; with 'any' also as 1.0 and 1e0."
    )
    closed: bool = option(
        False,
        "Objects have no other properties than those that a schema lists, unless it says that they"
        " have.",
        flag="--closed",
    )
    approximate: bool = option(
        False, "Leave open what no grammar can say of a schema.", flag="--approximate"
    )
    as_json: bool = option(False, JSON_HELP, flag="--json")
