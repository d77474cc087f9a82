"""`oneOf` with each oracle: what is known of its options changes the union, never its values."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import Json, OneOf, Schema
from maskwright.grammar.shape.one_of import ExclusiveUnions
from maskwright.grammar.shape.shape import Conjunction
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import Limits
from tests.grammar.shape.semantics import VALUES, fits, satisfies, schema

KIND_A: Json = {"properties": {"a": {"const": 1}}, "required": ["a"]}
KIND_B: Json = {"properties": {"a": {"const": "x"}}, "required": ["a"]}
OPTIONS: list[list[Json]] = [
    [{"type": "integer"}, {"type": "string"}],
    [{"type": "integer"}, {"minimum": 2}],
    [{"type": "integer"}, {"type": "integer"}],
    [True, {"minLength": 1}],
    [KIND_A, KIND_B],
    [KIND_A, KIND_B, {"type": "object"}],
    [{"type": "array"}, {"minItems": 1}, {"maxItems": 2}],
    [False, {"const": 1}],
    [{"const": 1}, {"const": 2}, {"enum": [1, 3, "a"]}, {"const": "a"}, {"type": "string"}],
    [{"const": "a"}, {"const": "b"}, {"enum": ["a", "ab"]}, {"minLength": 2}, {"pattern": "b"}],
    [{"const": "a"}, {"const": "b"}, {"not": {"const": "a"}, "type": "string"}],
    [{"enum": [None, True, 1]}, {"enum": [False, None, 1.0]}, {"const": 1.5}],
    [{"const": []}, {"const": [1]}, {"const": {}}, {"type": "array", "minItems": 1}],
    [KIND_A, {**KIND_A, "required": ["b"]}, {**KIND_B, "type": "object"}, {"required": ["b"]}],
    [
        {"properties": {"a": True}, "required": ["a"], "additionalProperties": False},
        {"properties": {"b": True}, "required": ["b"], "additionalProperties": False},
        {"properties": {"a": True, "b": {"const": 1}}, "additionalProperties": False},
    ],
    [{"allOf": [KIND_A, {"properties": {"a": {"const": 2}}}]}, KIND_A, {"allOf": [KIND_B]}],
    [{"required": ["a"]}, {"required": ["b"]}, {"properties": {"a": False}}],
    [{"minProperties": 1}, {"properties": {"a": {"const": 1}}}, {"items": False}],
]


def assertion(options: list[Json]) -> OneOf:
    root = schema({"oneOf": options})
    (found,) = root.assertions
    assert isinstance(found, OneOf)
    return found


def of_one_value(conjunction: Conjunction) -> bool:
    """An exact oracle over the values of the tables."""
    return any(all(satisfies(each, value) for each in conjunction) for value in VALUES)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_exactly_one_option_holds(options: list[Json]) -> None:
    one_of = assertion(options)
    for possible in (of_one_value, lambda _: True):
        unions = ExclusiveUnions(Limits(), possible)
        for kind in ("null", "boolean", "number", "string", "array", "object"):
            union = Schema("", (unions.union(one_of, kind),))
            for value in VALUES:
                if satisfies(schema({"type": kind}), value):
                    exactly_one = sum(satisfies(o, value) for o in one_of.options) == 1
                    assert satisfies(union, value) is exactly_one, (kind, value)


def test_disjoint_options_stay_as_they_are() -> None:
    one_of = assertion([KIND_A, KIND_B])
    asked: list[Conjunction] = []

    def possible(conjunction: Conjunction) -> bool:
        asked.append(conjunction)
        return False

    unions = ExclusiveUnions(Limits(), possible)
    assert unions.union(one_of, "object").options == one_of.options
    assert asked == []  # the constants show it
    assert unions.union(one_of, "array").options == ()  # every array satisfies both
    lengths = assertion([{"minItems": 2}, {"maxItems": 1}])
    assert unions.union(lengths, "array").options == lengths.options
    assert len(asked) == 1  # each pair once
    assert unions.union(lengths, "array") is unions.union(lengths, "array")


def test_an_option_that_is_listed_twice_never_holds() -> None:
    """In a document made in Python, two options can be one and the same object."""
    option: dict[str, Any] = {"type": "integer"}
    for options in ([option, option], [option, option, {"type": "string"}]):
        shapes, root = Shapes(), frozenset([schema({"oneOf": options})])
        accepted = [value for value in VALUES if fits(shapes, root, value)]
        assert all(isinstance(value, str) for value in accepted)
        assert bool(accepted) is (len(options) == 3)


def test_an_oracle_that_asks_back_gets_an_answer() -> None:
    one_of = assertion([{"type": "integer"}, {"minimum": 2}])
    answers: list[int] = []

    def possible(conjunction: Conjunction) -> bool:
        answers.append(len(unions.union(one_of, "number").options))
        return True

    unions = ExclusiveUnions(Limits(), possible)
    assert len(unions.union(one_of, "number").options) == 2
    assert answers == [2]


@pytest.mark.parametrize(
    "option",
    [
        lambda n: {"const": f"c{n}"},
        lambda n: {"const": f"c{n}", "title": f"Choice {n}"},
        lambda n: {"const": n},
        lambda n: {"type": "string", "enum": [f"c{n}", f"d{n}"]},
        lambda n: {"properties": {"a": {"const": n}}, "required": ["a"]},
        lambda n: {"type": "object", "properties": {"a": {"enum": [n, -n - 1]}}, "required": ["a"]},
        lambda n: {"allOf": [{"required": ["b", "a"]}, {"properties": {"a": {"const": n}}}]},
        lambda n: {
            "type": "object",
            "properties": {f"p{n}": {"type": "integer"}},
            "required": [f"p{n}"],
            "additionalProperties": False,
        },
    ],
    ids=["const", "titled", "number", "enum", "member", "members", "combined", "external"],
)
def test_many_options_that_are_told_apart(option: Any) -> None:
    """Constants, enumerations and required members, in a count far above what could be compared
    pair by pair; also beside one option that shares values with all of them."""
    asked: list[Conjunction] = []

    def possible(conjunction: Conjunction) -> bool:
        asked.append(conjunction)
        return False

    count = 3_000
    one_of = assertion([option(n) for n in range(count)])
    for kind in ("null", "boolean", "number", "array", "object"):
        union = ExclusiveUnions(Limits(), possible).union(one_of, kind)
        assert union.options in (one_of.options, ())
    assert asked == []
    wide = assertion([*(option(n) for n in range(count)), {"not": {"type": "null"}}])
    ExclusiveUnions(Limits(), possible).union(wide, "object")
    assert len(asked) <= count


def test_the_negation_of_many_options_that_are_told_apart() -> None:
    options = [{"const": f"c{n}"} for n in range(1_000)]
    shapes = Shapes(possible=lambda _: False)
    root = frozenset([schema({"not": {"oneOf": options}})])
    for value, expected in (("c0", False), ("c999", False), ("c1000", True), (1, True), ({}, True)):
        assert fits(shapes, root, value) is expected


def test_too_many_pairs_are_refused() -> None:
    one_of = assertion([{"minimum": at} for at in range(5)])
    with pytest.raises(LimitError, match="pairs of options") as raised:
        ExclusiveUnions(Limits(alternatives=9), lambda _: True).union(one_of, "number")
    assert raised.value.limit == "alternatives"
    union = ExclusiveUnions(Limits(alternatives=10), lambda _: True).union(one_of, "number")
    assert len(union.options) == 5
