"""What the keywords about scalars become in the tree."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from maskwright.errors import SchemaError
from maskwright.grammar.number.interval import Interval
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import length
from maskwright.grammar.schema.drafts import Draft
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import (
    Assertion,
    DigitsOnly,
    MultipleOf,
    NumberIn,
    StringIn,
    TypeIs,
    Values,
)


def types(*names: str) -> TypeIs:
    return TypeIs(frozenset(names))


def low(value: int, is_open: bool = False) -> NumberIn:
    return NumberIn(Interval(low=Decimal(value), low_open=is_open))


def high(value: int, is_open: bool = False) -> NumberIn:
    return NumberIn(Interval(high=Decimal(value), high_open=is_open))


OLD, NEW = Draft.DRAFT4, Draft.DRAFT2020
READ: list[tuple[Draft, Any, list[Assertion]]] = [
    (NEW, {"type": "string"}, [types("string")]),
    (NEW, {"type": ["string", "null", "string"]}, [types("string", "null")]),
    (NEW, {"type": "integer"}, [types("integer")]),
    (OLD, {"type": "integer"}, [types("integer"), DigitsOnly()]),
    (OLD, {"type": ["integer", "null"]}, [types("integer", "null"), DigitsOnly()]),
    (OLD, {"type": ["integer", "number"]}, [types("integer", "number")]),
    (OLD, {"type": "number"}, [types("number")]),
    (NEW, {"enum": [1, "a", [None]]}, [Values((1, "a", [None]))]),
    (NEW, {"enum": []}, [Values(())]),
    (NEW, {"const": None}, [Values((None,))]),
    (OLD, {"const": 1}, []),
    (NEW, {"minimum": 2}, [low(2)]),
    (NEW, {"maximum": 2.0}, [high(2)]),
    (NEW, {"exclusiveMinimum": 2}, [low(2, True)]),
    (NEW, {"exclusiveMaximum": 2}, [high(2, True)]),
    (OLD, {"exclusiveMinimum": True, "minimum": 2}, [low(2, True), low(2)]),
    (OLD, {"exclusiveMaximum": True, "maximum": 2}, [high(2, True), high(2)]),
    (OLD, {"exclusiveMaximum": False, "maximum": 2}, [high(2)]),
    (OLD, {"exclusiveMinimum": True}, []),
    (OLD, {"exclusiveMinimum": True, "maximum": 2}, [high(2)]),
    (NEW, {"multipleOf": 0.5}, [MultipleOf(Decimal("0.5"))]),
    (NEW, {"minLength": 2}, [StringIn(length(2, None))]),
    (NEW, {"maxLength": 3.0}, [StringIn(length(0, 3))]),
]


@pytest.mark.parametrize(
    ("draft", "document", "expected"),
    READ,
    ids=[f"{draft.name} {document}" for draft, document, _ in READ],
)
def test_assertions(draft: Draft, document: Any, expected: list[Assertion]) -> None:
    root = parse_schema(document, ParseOptions(draft=draft)).root
    assert list(root.assertions) == expected


@pytest.mark.parametrize(
    ("draft", "document", "expected"),
    [
        (NEW, {"type": "integer"}, [types("integer"), DigitsOnly(preferred=True)]),
        (OLD, {"type": "integer"}, [types("integer"), DigitsOnly()]),
        (NEW, {"type": "number"}, [types("number")]),
        (NEW, {"const": 1}, [Values((1,), plain_numbers=True)]),
        (NEW, {"enum": [1, [2]]}, [Values((1, [2]), plain_numbers=True)]),
    ],
    ids=str,
)
def test_plain_numbers_by_option(draft: Draft, document: Any, expected: list[Assertion]) -> None:
    root = parse_schema(document, ParseOptions(draft=draft, plain_integers=True)).root
    assert list(root.assertions) == expected


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"type": "int"}, "unknown type 'int'; known are array, boolean"),
        ({"type": {}}, "the name of a type"),
        ({"enum": 1}, "an array"),
        ({"minimum": "1"}, "a number"),
        ({"exclusiveMinimum": "1"}, "a number"),
        ({"multipleOf": 0}, "greater than 0, not 0"),
        (
            {"multipleOf": 1e-400},
            "not 0.0; a smaller one than 5e-324 is read as 0.0",
        ),
        ({"multipleOf": -2}, "greater than 0, not -2"),
        ({"minLength": -1}, "a whole number of at least 0"),
        ({"pattern": 3}, "a string"),
        ({"format": ["date"]}, "a string"),
    ],
    ids=str,
)
def test_settings_of_the_wrong_type(document: Any, message: str) -> None:
    (keyword,) = document
    with pytest.raises(SchemaError, match=message) as raised:
        parse_schema({"items": document}, ParseOptions())
    assert raised.value.pointer == f"/items/{keyword}"


@pytest.mark.parametrize(
    ("document", "inside", "outside"),
    [
        ({"pattern": "b"}, ["b", "abc"], ["", "a"]),
        ({"pattern": "^b$"}, ["b"], ["abc"]),
        ({"format": "ipv4"}, ["1.2.3.4"], ["1.2.3"]),
        ({"format": "host-name"}, ["a.b"], ["-"]),
    ],
    ids=str,
)
def test_languages(document: Any, inside: list[str], outside: list[str]) -> None:
    (assertion,) = parse_schema(document, ParseOptions()).root.assertions
    assert isinstance(assertion, StringIn)
    assert all(contains(assertion.language, text) for text in inside)
    assert not any(contains(assertion.language, text) for text in outside)


def test_formats_may_be_annotations() -> None:
    parsed = parse_schema({"format": "ipv4"}, ParseOptions(enforce_formats=False))
    assert parsed.root.assertions == ()
    assert [entry.note for entry in parsed.report.annotations] == ["an annotation, as asked for"]
