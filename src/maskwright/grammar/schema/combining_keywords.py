"""Keywords that combine subschemas about one value: logic, conditions and references."""

from __future__ import annotations

from typing import Final

from maskwright.grammar.schema.common_keywords import read_reference
from maskwright.grammar.schema.document import wrong
from maskwright.grammar.schema.remarks import Remark
from maskwright.grammar.schema.schema_object import KeywordReader, SchemaObject
from maskwright.grammar.schema.tree import (
    AllOf,
    AnyOf,
    Assertion,
    If,
    Json,
    Not,
    OneOf,
    Unevaluated,
)

FEW_OPTIONS: Final = 2
"""Options of a `oneOf` up to which it hardly multiplies."""


def _read_all_of(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [AllOf(source.children(setting, place))]


def _read_any_of(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    options = source.children(setting, place)
    _count(source, len(options))
    return [AnyOf(options)]


def _read_one_of(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    options = source.children(setting, place)
    source.parser.widest = max(source.parser.widest, len(options))
    source.parser.intricate |= len(options) > FEW_OPTIONS
    _count(source, len(options))
    return [OneOf(options)]


def _count(source: SchemaObject, options: int) -> None:
    """Count the options of a union."""
    source.parser.choices *= max(1, options)
    source.parser.options_read += options


def _read_not(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    source.parser.negates = True
    return [Not(source.condition(setting, place))]


def _read_if(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    then, otherwise = source.optional("then"), source.optional("else")
    source.parser.choices *= 2
    return [If(source.condition(setting, place), then, otherwise)]


def _check_branch(source: SchemaObject, setting: Json, place: str) -> list[Assertion] | Remark:
    """`then` and `else`, which `_read_if` reads."""
    return [] if "if" in source.value else Remark("without 'if' it says nothing")


def _read_unevaluated_properties(
    source: SchemaObject, setting: Json, place: str
) -> list[Assertion]:
    source.parser.intricate = True
    return [Unevaluated("properties", source.child(setting, place))]


def _read_unevaluated_items(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    source.parser.intricate = True
    return [Unevaluated("items", source.child(setting, place))]


def _read_recursive_reference(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    if source.resolver is None:  # without anchors `$recursiveRef` is `$ref`
        return read_reference(source, setting, place)
    if not isinstance(setting, str):  # which is always "#"
        wrong(setting, "a string", place)
    value, resolver = source.resolver.find_recursive()
    schema = source.parser.schema(
        value, place, source.dialect, resolver, entered=True, closed=source.closed
    )
    return [AllOf((schema,))]


COMBINING_KEYWORDS: Final[dict[str, KeywordReader]] = {
    "allOf": _read_all_of,
    "anyOf": _read_any_of,
    "oneOf": _read_one_of,
    "not": _read_not,
    "if": _read_if,
    "then": _check_branch,
    "else": _check_branch,
    "unevaluatedProperties": _read_unevaluated_properties,
    "unevaluatedItems": _read_unevaluated_items,
    "$recursiveRef": _read_recursive_reference,
}
