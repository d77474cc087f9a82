"""Two options that share a value are rivals, whatever they are made of."""

from __future__ import annotations

import random
from typing import Any

import pytest

from maskwright.grammar.shape.one_of import KINDS, Rivals, have_rivals
from tests.grammar.shape.semantics import VALUES, kind, satisfies, schema

CONSTANTS: list[Any] = [None, True, 1, 1.0, 2, "a", "b", "x", [], [1], {}, {"a": 1}]
NAMES = ("a", "b", "ab")
MEMBERS: list[Any] = [{"const": 1}, {"const": "x"}, True, False, {}]
OTHERS: list[Any] = [{}, {"additionalProperties": False}, {"patternProperties": {"b": True}}]


def random_option(draw: random.Random, depth: int = 2) -> Any:
    made: dict[str, Any] = {}
    for make in draw.sample(PARTS, draw.choice((1, 1, 2, 3))):
        made |= make(draw, depth)
    return made


def _options(draw: random.Random, depth: int) -> list[Any]:
    return [random_option(draw, depth - 1) for _ in range(draw.choice((1, 2)))] if depth else [True]


PARTS: list[Any] = [
    lambda draw, _: {"type": draw.choice([*KINDS, "integer", ["object", "null"]])},
    lambda draw, _: {"const": draw.choice(CONSTANTS)},
    lambda draw, _: {"enum": draw.sample(CONSTANTS, 3)},
    lambda draw, _: {"not": {"const": draw.choice(CONSTANTS)}},
    lambda draw, _: {"pattern": draw.choice(["^a$", "^(a|b)$", "b"])},
    lambda draw, _: {"minimum": draw.choice([1, 2])},
    lambda draw, _: {"required": draw.sample(NAMES, draw.choice((1, 2)))},
    lambda draw, _: {
        "properties": {name: draw.choice(MEMBERS) for name in draw.sample(NAMES, 2)},
        **draw.choice(OTHERS),
    },
    lambda draw, depth: {"allOf": _options(draw, depth)},
    lambda draw, depth: {"anyOf": _options(draw, depth)},
]


@pytest.mark.parametrize("seed", range(60))
def test_options_that_share_a_value_are_rivals(seed: int) -> None:
    draw = random.Random(seed)
    documents = [random_option(draw) for _ in range(12)]
    options = [schema(each) for each in documents]
    fitting = [[value for value in VALUES if satisfies(each, value)] for each in options]
    of_any, of_kind = Rivals(options), {each: Rivals(options, (each,)) for each in KINDS}
    for at in range(len(options)):
        for other in range(len(options)):
            if other == at:
                continue
            for value in fitting[at]:
                if any(value is each for each in fitting[other]):
                    pair = documents[at], documents[other], value
                    assert other in of_any.of(at), pair
                    assert other in of_kind[kind(value)].of(at), pair


@pytest.mark.parametrize(
    ("documents", "rivals"),
    [
        ([{"const": 1}, {"const": 2}, {"const": 1.0}, {"const": "1"}], [[2], [], [0], []]),
        ([{"const": 10**23}, {"const": 1e23}], [[1], [0]]),
        ([{"const": 1}, {"minimum": 1, "type": "number"}, {"type": "string"}], [[1], [0], []]),
        ([{"const": True}, {"const": 1}], [[], []]),
        ([{"type": "array"}, {"type": "object"}, {"type": ["array", "null"]}], [[2], [], [0]]),
        (
            [
                {"required": ["a"], "properties": {"a": {"const": 1}}, "type": "object"},
                {"required": ["a"], "properties": {"a": {"enum": [2, 3]}}, "type": "object"},
                {"properties": {"a": {"const": 3}}, "type": "object"},
                {"properties": {"b": True}, "additionalProperties": False, "type": "object"},
            ],
            [[], [2], [1, 3], [2]],
        ),
    ],
    ids=str,
)
def test_rivals(documents: list[Any], rivals: list[list[int]]) -> None:
    found = Rivals([schema(each) for each in documents])
    ours = [found.of(at) for at in range(len(documents))]
    seen = [
        [other for other in each if at in ours[other]] for at, each in enumerate(ours)
    ]  # by both of a pair
    assert seen == rivals


@pytest.mark.parametrize("seed", range(20))
def test_pairs_of_rivals_are_counted_once(seed: int) -> None:
    options = [schema(random_option(random.Random(seed * 100 + at))) for at in range(9)]
    rivals = Rivals(options)
    pairs = {frozenset((at, other)) for at in range(9) for other in rivals.of(at)}
    assert [have_rivals(options, most) for most in range(40)] == [
        most < len(pairs) for most in range(40)
    ]
