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
from typing import Annotated

from maskwright.cli.arguments import Argument
from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP
from maskwright.grammar.schema.options import Integers
from maskwright.settings import Option
from maskwright.workbench.choices import Kind, LayoutName


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What `maskwright convert` is given."""

    shape: Annotated[str, Argument(help=SHAPE_HELP)]
    to: Annotated[str, Option(help="The dialect to write: lark, gbnf or ebnf.")]
    dialect: Annotated[
        str, Option(help="The dialect of a grammar. Default: by the file's name, or by the text.")
    ] = "auto"
    start: Annotated[
        str | None, Option(help="The start rule of a grammar. Default: that of the dialect.")
    ] = None
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    whitespace: Annotated[
        LayoutName, Option(help="White space between the parts of a schema's instances.")
    ] = "spaced"
    integers: Annotated[
        Integers, Option(help="How integers are written; with 'any' also as 1.0 and 1e0.")
    ] = "digits"
    closed: Annotated[
        bool,
        Option(
            "--closed",
            help="Objects have no other properties than those that a schema lists, unless it says "
            "that they have.",
        ),
    ] = False
    approximate: Annotated[
        bool, Option("--approximate", help="Leave open what no grammar can say of a schema.")
    ] = False
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
