"""The report of a schema, the negation of a schema, and the schema of one value."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.grammar.schema.tree import (
    AllOf,
    Items,
    Json,
    Not,
    Properties,
    Report,
    ReportEntry,
    Schema,
    TypeIs,
    Values,
    negated,
    value_schema,
)
from tests.grammar.shape.semantics import VALUES, same, satisfies

STRING = TypeIs(frozenset(["string"]))


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_only_the_value_satisfies_its_schema(value: Json) -> None:
    schema = value_schema(value, "/const")
    assert [each for each in VALUES if satisfies(schema, each) != same(each, value)] == []


@pytest.mark.parametrize(
    ("value", "others"),
    [
        ([1, [2]], [[1], [1, [2], 3], [1, [3]], [[2], 1], {"0": 1}]),
        ({"a": 1, "b": {"c": []}}, [{"a": 1}, {"a": 1, "b": {"c": []}, "d": 0}, {"a": 1, "b": {}}]),
        ([], [None, {}, [None]]),
        ({}, [None, [], {"a": 1}]),
    ],
    ids=repr,
)
def test_containers_have_no_more_and_no_less(value: Json, others: list[Json]) -> None:
    schema = value_schema(value, "")
    assert satisfies(schema, value)
    assert [each for each in others if satisfies(schema, each)] == []


def test_every_schema_in_a_value_has_its_pointer() -> None:
    schema = value_schema([{"a": 1}], "/enum/3")
    pointers, waiting = set[str](), [schema]
    while waiting:
        here = waiting.pop()
        pointers.add(here.pointer)
        for assertion in here.assertions:
            waiting += getattr(assertion, "prefix", ())
            waiting += getattr(assertion, "named", {}).values()
    assert pointers == {"/enum/3"}


def test_plain_numbers_within_a_value() -> None:
    schema = value_schema([{"a": 1}], "", plain_numbers=True)
    [items] = (each for each in schema.assertions if isinstance(each, Items))
    [properties] = (each for each in items.prefix[0].assertions if isinstance(each, Properties))
    assert properties.named["a"].assertions == (Values((1,), plain_numbers=True),)


NEGATIONS: list[tuple[Schema, bool, tuple[Any, ...]]] = [
    (Schema("", (STRING,)), False, ("not",)),
    (Schema(""), True, ()),  # no value is outside the schema of all values
    (Schema("", never=True), False, ()),
]


@pytest.mark.parametrize(("schema", "never", "assertions"), NEGATIONS)
def test_negation(schema: Schema, never: bool, assertions: tuple[Any, ...]) -> None:
    opposite = negated(schema)
    assert opposite.never is never
    assert opposite.assertions == ((Not(schema),) if assertions else ())
    assert [each for each in VALUES if satisfies(opposite, each) == satisfies(schema, each)] == []


def test_the_negation_is_made_once_and_undone_by_itself() -> None:
    schema = Schema("/a", (STRING,))
    opposite = negated(schema)
    assert negated(schema) is opposite
    assert negated(opposite) is schema
    assert opposite.pointer == "/a"


def test_a_recursive_schema_has_a_negation() -> None:
    schema = Schema("")
    schema.assertions = (AllOf((schema,)),)
    assert negated(negated(schema)) is schema


REPORT = Report(
    enforced=(ReportEntry("", "type"), ReportEntry("/items", "grammar", "lark, 3 rules")),
    annotations=(
        ReportEntry("", "title"),
        ReportEntry("/items", "minLenght", "did you mean 'minLength'?", rule="unknown-keyword"),
        ReportEntry("/items", "format", "unknown"),
    ),
)


def test_warnings_are_the_names_that_look_misspelt() -> None:
    assert REPORT.warnings == ("/items/minLenght: did you mean 'minLength'?",)
    assert Report(REPORT.enforced, ()).warnings == ()


def test_a_report_is_a_line_for_each_keyword() -> None:
    assert str(REPORT).splitlines() == [
        "enforced    /type",
        "enforced    /items/grammar lark, 3 rules",
        "annotation  /title",
        "annotation  /items/minLenght did you mean 'minLength'?",
        "annotation  /items/format unknown",
    ]


@pytest.mark.parametrize(("pointer", "shown"), [("", "Schema(/)"), ("/a", "Schema(/a)")])
def test_a_schema_shows_its_place(pointer: str, shown: str) -> None:
    assert repr(Schema(pointer)) == shown


def test_schemas_are_numbered_in_the_order_of_their_making() -> None:
    first, second = Schema(""), Schema("")
    assert first.number < second.number
    assert first != second, "compared by identity"
