"""The quick check: it confirms most schemas, and nothing that has no value."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.automaton.satisfy.quick import (
    QuickCheck,
    is_simple,
    makes_progress,
    needed_values,
)
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.grammar.shape.evident import EvidentValues
from maskwright.grammar.shape.shape import Conjunction, Shape
from maskwright.grammar.shape.shapes import Shapes
from tests.automaton.solving import array, conjunction, object_, solver

TEXT: Any = {"type": "string"}
A_B: dict[str, Any] = {"properties": {"a": {}, "b": {}}}
SURE: list[Any] = [
    True,
    {"type": "string"},
    {"enum": [1, "a"]},
    {"type": "string", "minLength": 3, "pattern": "^a"},
    {"type": "array", "minItems": 3},
    {"type": "object", "required": ["a"], **A_B},
    {"type": "object", "minProperties": 2, **A_B},
    {"type": "object", "additionalProperties": False, "minProperties": 2, **A_B},
    {"type": "object", "not": {"required": ["a", "b"]}},
    {"type": "object", "patternProperties": {"^a$": {}}, "minProperties": 2},
    {"type": "object", "required": ["a"], "not": {"properties": {"a": {"type": "string"}}}},
    {
        "type": "object",
        "required": ["a", "b"],
        "not": {"properties": {"a": {"minLength": 2}, "b": {"type": "string"}}},
    },
]
IMPOSSIBLE: list[Any] = [
    False,
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": "array", "items": False, "minItems": 1},
    {"type": "object", "required": ["a"], "properties": {"a": False}},
    {
        "type": "object",
        "properties": {"xy": {}, "x": {}},
        "required": ["xy"],
        "minProperties": 3,
        "propertyNames": {"pattern": "^(a|b|x)$"},
        "patternProperties": {"^[^a]*$": {}},
    },
    {"type": "object", "additionalProperties": False, "minProperties": 3, **A_B},
    {"type": "object", "required": ["a"], "maxProperties": 0},
    {"type": "array", "uniqueItems": True, "items": {"type": "null"}, "minItems": 2},
    {"type": "array", "prefixItems": [{"$ref": "#"}], "minItems": 1},
]


ORDERS: tuple[PropertyOrder, ...] = ("any", "schema")


def check(schema: Any, order: PropertyOrder = "any") -> bool:
    return QuickCheck(solver(order).values, EvidentValues({})).has_value(conjunction(schema))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("schema", SURE, ids=str)
def test_values_are_confirmed(schema: Any, order: PropertyOrder) -> None:
    assert check(schema, order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("schema", IMPOSSIBLE, ids=str)
def test_no_value_is_confirmed_where_there_is_none(schema: Any, order: PropertyOrder) -> None:
    assert not check(schema, order)


def test_objects_of_many_members_are_confirmed() -> None:
    inner = {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"]}
    names = [f"member_{number}" for number in range(200)]
    wide = {"type": "object", "properties": {name: {**inner} for name in names}}
    assert check({**wide, "required": names})


def test_the_check_gives_up_after_some_steps() -> None:
    """A value 100 levels deep has to be searched for."""
    deep: Any = {"type": "null"}
    for _ in range(100):
        deep = {"type": "array", "items": deep, "minItems": 1}
    assert not check(deep)
    assert solver().satisfiable(conjunction(deep))


def test_what_needs_itself_takes_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    node: Any = {"$ref": "#/$defs/node"}
    required = {"type": "object", "required": ["a"], "properties": {"a": node}}
    asked: list[Conjunction] = []
    compute = Shapes.normal_form

    def normal_form(shapes: Shapes, value: Conjunction) -> Shape:
        asked.append(value)
        return compute(shapes, value)

    monkeypatch.setattr(Shapes, "normal_form", normal_form)
    assert not check({"$defs": {"node": required}, **node})
    assert len(asked) < 10


def test_what_is_known_is_not_checked_again() -> None:
    value = conjunction(False)
    assert QuickCheck(solver().values, EvidentValues({value: True})).has_value(value)


COMPLETED: list[Any] = [
    {**A_B, "required": ["a"], "not": {"required": ["a", "b"]}},
    {
        "properties": {"a": {"enum": ["a", 1]}, "b": False, "c": TEXT},
        "required": ["c"],
        "not": {"properties": {"a": TEXT, "b": TEXT}},
    },
    {
        **A_B,
        "allOf": [{"not": {"required": ["a"]}}, {"not": {"properties": {"a": TEXT, "b": TEXT}}}],
    },
    {**A_B, "required": ["b"], "not": {"properties": {"a": TEXT, "b": TEXT}}},
    {**A_B, "minProperties": 2, "maxProperties": 2, "not": {"required": ["a", "c"]}},
    {**A_B, "not": {"required": ["a"], "properties": {"a": TEXT, "b": TEXT}}},
    {
        "properties": {"a": {"const": 1}, **{name: {"enum": [2, "b"]} for name in "bcd"}},
        "additionalProperties": False,
        "allOf": [
            {"not": {"properties": {"b": TEXT, "d": TEXT}}},
            {"not": {"required": ["a"], "properties": {"c": TEXT}}},
        ],
        "maxProperties": 2,
    },
    {
        "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"enum": [3, 4]}},
        "required": ["c"],
        "additionalProperties": False,
        "anyOf": [{"not": {"required": ["a"]}}, {"properties": {"c": {"const": 4}}}],
        "maxProperties": 2,
    },
]


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("schema", COMPLETED, ids=str)
def test_only_what_can_be_completed_is_confirmed_whatever_was_asked_before(
    schema: Any, order: PropertyOrder
) -> None:
    """All beginnings of an object are asked for, so that members which complete one are tried on
    others; a search, which knows nothing of that, answers for each."""
    solving = solver(order)
    met = [*solving.values.containers(conjunction({"type": "object", **schema}))]
    for before in met:
        assert isinstance(before, ObjectProgress)
        following = [
            option.after
            for at in before.names(order)
            for option in before.take(at, order)
            if solving.satisfiable(option.value)
        ]
        met += [each for each in following if each not in met]
    quick, deciding = QuickCheck(solving.values, EvidentValues({})), solver(order)
    confirmed = 0
    for each in (*met, *reversed(met)):
        can_complete = solving.search.completion(each) is not None
        assert deciding.can_complete(each) is can_complete, each
        if quick.can_complete(each):
            confirmed += 1
            assert can_complete, each
    assert 0 < confirmed < 2 * len(met)


NEEDED: list[tuple[Any, int | None]] = [
    (array({}), 0),
    (array({"minItems": 3}), 1),  # all three must satisfy the same conjunction
    (array({"minItems": 3, "prefixItems": [{}, {}]}), 3),
    (array({"uniqueItems": True}), None),
    (array({"contains": {}}), 1),
    (array({"contains": {}, "minItems": 2}), 2),
    (array({"contains": {}, "maxContains": 2}), 1),
    (array({"contains": {}, "maxContains": 2, "minItems": 2}), None),
    (array({"contains": {}, "prefixItems": [{}]}), None),
    (array({"contains": {}, "minContains": 3, "maxItems": 2}), None),
    (array({"allOf": [{"contains": {"const": at}} for at in (1, 2)], "minItems": 3}), 3),
    (object_({**A_B, "required": ["b"]}), 1),
    (object_({**A_B, "required": ["a", "b"], "minProperties": 2}), 2),
    (object_({**A_B, "required": ["b"], "minProperties": 2}), None),
    (object_({**A_B, "required": ["b"], "maxProperties": 1}).with_member(0, "any"), None),
    (object_({**A_B, "required": ["b"], "not": {"required": ["a", "c"]}}), 1),
    (object_({**A_B, "required": ["a", "b"], "not": {"required": ["a", "b"]}}), None),
]


@pytest.mark.parametrize(("progress", "count"), NEEDED)
def test_needed_values(progress: Any, count: int | None) -> None:
    found = needed_values(progress)
    assert (None if found is None else len(found)) == count


def test_only_members_that_bring_the_end_nearer_make_progress() -> None:
    free, counted = object_(A_B), object_({**A_B, "minProperties": 1})
    wanting = object_({**A_B, "not": {"properties": {"a": TEXT, "b": TEXT}}})
    for before, progresses in ((free, [False]), (counted, [True]), (wanting, [False, True])):
        options = [option.after for option in before.take(0, "any")]
        assert [makes_progress(before, after) for after in options] == progresses
    assert [is_simple(each) for each in (free, counted, wanting)] == [True, False, False]
