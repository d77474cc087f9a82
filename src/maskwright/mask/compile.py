"""The compilers' public face: from a schema or a pattern to a `Grammar`."""

from __future__ import annotations

from typing import Final, get_args

from maskwright.automaton.derivative import is_live
from maskwright.automaton.json_contexts import JsonContexts
from maskwright.automaton.progress import PropertyOrder
from maskwright.automaton.text_contexts import TextContexts
from maskwright.automaton.whitespace import WHITESPACE, WhitespaceName
from maskwright.automaton.witness import Witnesses
from maskwright.errors import InputError, RegexError, UnsatisfiableSchemaError
from maskwright.grammar.schema import Json, Report, ReportEntry, parse_schema
from maskwright.grammar.shape import Shapes
from maskwright.grammar.translate import full_match
from maskwright.limits import DEFAULT_LIMITS, Limits
from maskwright.mask.grammar import Grammar
from maskwright.mask.space import space_of
from maskwright.vocab import Vocabulary

_ORDERS: Final = get_args(PropertyOrder)


def compile_json_schema(
    schema: Json,
    vocab: Vocabulary,
    *,
    property_order: PropertyOrder = "schema",
    whitespace: WhitespaceName = "flexible",
    limits: Limits | None = None,
) -> Grammar:
    """Compile a JSON Schema (a dict, a bool, or JSON text) for a vocabulary.

    `property_order`: "schema" writes declared properties in the order in which the schema lists
    them, other names behind them; "any" allows every order. Both allow each declared name once.
    `whitespace`: "compact" none, "spaced" one space after `,` and `:`, "pretty" two spaces of
    indentation and a line an item, "flexible" whatever JSON allows, in runs of bounded length.

    Raises `SchemaError` (with the JSON Pointer) for what is not a schema, its subclasses
    `UnsupportedSchemaError` and `UnsatisfiableSchemaError`, and `LimitError`.
    """
    if property_order not in _ORDERS:
        raise InputError(f"property_order is one of {', '.join(_ORDERS)}", param="property_order")
    if whitespace not in WHITESPACE:
        raise InputError(f"whitespace is one of {', '.join(WHITESPACE)}", param="whitespace")
    limits = limits or DEFAULT_LIMITS
    parsed = parse_schema(schema, limits)
    shapes = Shapes(limits)
    witnesses = Witnesses(shapes, limits)
    root = frozenset([parsed.root])
    if not witnesses.possible(root):
        raise UnsatisfiableSchemaError("no JSON value matches the schema", pointer="")
    space = space_of(vocab)
    with space.lock:
        contexts = JsonContexts(
            root, shapes, witnesses, space.leaves, property_order, WHITESPACE[whitespace]
        )
        return Grammar(space, contexts, parsed.report, limits)


def compile_regex(pattern: str, vocab: Vocabulary, *, limits: Limits | None = None) -> Grammar:
    """Compile a regular expression (ECMA-262 syntax) that the whole text must match.

    Raises `RegexError` with the position of what can't be parsed or is not regular, `LimitError`.
    """
    limits = limits or DEFAULT_LIMITS
    term = full_match(pattern, limits)
    if not is_live(term, limits.witness_search):
        raise RegexError("the pattern matches no text", pattern=pattern, position=0)
    report = Report((ReportEntry("", "pattern"),), ())
    space = space_of(vocab)
    with space.lock:
        return Grammar(space, TextContexts(term, space.leaves), report, limits)
