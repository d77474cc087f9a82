"""Keywords about numbers and strings."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import Final

from maskwright.errors import SchemaError
from maskwright.grammar.formats import format_language
from maskwright.grammar.number.interval import Interval
from maskwright.grammar.number.multiples import multiples
from maskwright.grammar.number.spellings import decimal
from maskwright.grammar.regular.terms import length
from maskwright.grammar.schema.document import as_count, as_number, wrong
from maskwright.grammar.schema.remarks import Remark, on_format
from maskwright.grammar.schema.schema_object import KeywordReader, SchemaObject
from maskwright.grammar.schema.tree import (
    Assertion,
    Json,
    MultipleOf,
    NumberIn,
    ReportEntry,
    StringIn,
)


def _read_bound(
    source: SchemaObject, setting: Json, place: str, *, lower: bool, exclusive: bool
) -> list[Assertion]:
    if exclusive and isinstance(setting, bool):  # draft 4 has the number in the other keyword
        bound = source.value.get("minimum" if lower else "maximum")
        if not setting or bound is None:
            return []
        setting = bound
    limit = decimal(as_number(setting, place))
    if lower:
        return [NumberIn(Interval(low=limit, low_open=exclusive))]
    return [NumberIn(Interval(high=limit, high_open=exclusive))]


def _read_multiple_of(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    divisor: Decimal = decimal(as_number(setting, place))
    if divisor <= 0:
        raise SchemaError(f"a divisor is greater than 0, not {setting}", pointer=place)
    multiples(divisor, source.parser.options.limits.divisor)  # which checks the limit
    return [MultipleOf(divisor)]


def _read_min_length(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [StringIn(length(as_count(setting, place), None))]


def _read_max_length(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [StringIn(length(0, as_count(setting, place)))]


def _read_pattern(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [StringIn(source.pattern(setting, place))]


def _read_format(source: SchemaObject, setting: Json, place: str) -> list[Assertion] | Remark:
    if not isinstance(setting, str):
        wrong(setting, "a string", place)
    if not source.parser.options.enforce_formats:
        return Remark("an annotation, as asked for")
    known = format_language(setting, source.draft.title)
    if known is None:
        return on_format(setting)
    if known.note:  # an enforced format may leave strings out, which the report says as well
        source.parser.annotations.append(ReportEntry(source.pointer, "format", known.note))
    return [StringIn(known.language)]


SCALAR_KEYWORDS: Final[dict[str, KeywordReader]] = {
    "minimum": partial(_read_bound, lower=True, exclusive=False),
    "maximum": partial(_read_bound, lower=False, exclusive=False),
    "exclusiveMinimum": partial(_read_bound, lower=True, exclusive=True),
    "exclusiveMaximum": partial(_read_bound, lower=False, exclusive=True),
    "multipleOf": _read_multiple_of,
    "minLength": _read_min_length,
    "maxLength": _read_max_length,
    "pattern": _read_pattern,
    "format": _read_format,
}
