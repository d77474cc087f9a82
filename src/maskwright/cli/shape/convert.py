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

from typing import Final

from maskwright.cli.input.shapes import (
    GrammarArgument,
    RegexArgument,
    SchemaArgument,
    dialect_of,
    located,
    read_grammar_argument,
    read_shape,
)
from maskwright.cli.output.appearance import shown_json
from maskwright.cli.output.progress import progress
from maskwright.cli.shape.options import ConvertOptions
from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import DIALECTS, Dialect
from maskwright.grammar.dialects.lower import Lowered
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.write import write_grammar
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.terms import EMPTY
from maskwright.grammar.rules.tree import Rules, Terminal
from maskwright.workbench.conversion.schema_rules import ConversionLoss, schema_rules

COMMENTS: Final[dict[Dialect, tuple[str, str]]] = {
    "lark": ("// ", ""),
    "gbnf": ("# ", ""),
    "ebnf": ("/* ", " */"),
}
"""How a line begins and ends that is a comment."""


def run(options: ConvertOptions) -> None:
    target = _dialect(options.to, "to")
    lost: tuple[ConversionLoss, ...] = ()
    given = dialect_of(options.shape) if options.kind == "auto" else None
    if options.dialect != "auto":
        given = _dialect(options.dialect, "dialect")
    if given is None:
        wanted = read_shape(options.shape, options.kind)
    else:
        wanted = read_grammar_argument(options.shape, given)
    with located(wanted), progress("converting"):
        match wanted:
            case SchemaArgument(schema=schema):
                rules, lost = schema_rules(
                    schema,
                    whitespace=options.whitespace,
                    digits=options.integers == "digits",
                    closed=options.closed,
                    approximate=options.approximate,
                )
                lowered = _lowered(rules)
            case GrammarArgument(text=text, dialect=own):
                known = None if own == "auto" else own
                lowered = read_grammar(text, known, start=options.start).lowered
            case RegexArgument(pattern=pattern):
                lowered = _lowered(Rules("start", {"start": Terminal(full_match(pattern))}))
    grammar = write_grammar(lowered, target)
    if options.as_json:
        rows = [loss._asdict() for loss in lost]
        print(shown_json({"grammar": grammar, "left_open": rows}))
    else:
        first, last = COMMENTS[target]
        for loss in lost:
            print(f"{first}{loss.pointer or 'the root'}: {loss.message}{last}")
        print(grammar, end="")


def _lowered(rules: Rules) -> Lowered:
    return Lowered(rules, (), EMPTY, {})


def _dialect(name: str, option: str) -> Dialect:
    for each in DIALECTS:
        if each == name:
            return each
    raise InputError(f"--{option} is one of {', '.join(DIALECTS)}", param=option)
