"""Which values are distinguished while items that must differ are read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.json.distinguish import MOST_CONTAINERS, DistinguishedValues
from maskwright.automaton.satisfy.solver import Solver
from maskwright.limits import DEFAULT_LIMITS
from tests.automaton.solving import array, conjunction

INFINITE = float("inf")
BIT: Any = {"enum": [0, 1]}
CONTAINS_THREE: Any = {"contains": {"const": 3}}


def distinguished() -> DistinguishedValues:
    return DistinguishedValues(Solver("any", DEFAULT_LIMITS))


AFTER: list[tuple[dict[str, Any], int, set[str], set[str], float]] = [
    # array, items read, scalars and containers that are distinguished, the fewest of an item
    ({"items": {"enum": [1, "a", None]}}, 0, {"1", '"a"', "null"}, set(), 3),
    ({"items": {"enum": [1, [1], {"a": 1}]}}, 0, {"1"}, {"[1]", '{"a": 1}'}, 3),
    ({"items": {"type": "string"}}, 0, set(), set(), INFINITE),
    ({"items": {"type": "integer"}}, 0, set(), set(), INFINITE),
    ({"items": {"type": ["integer", "null"]}}, 0, {"null"}, set(), INFINITE),
    ({"items": {"type": "array", "items": BIT}}, 0, set(), set(), INFINITE),
    ({"items": {"type": "array", "items": BIT, "maxItems": 1}}, 0, set(),
     {"[]", "[0]", "[1]"}, 3),
    ({"prefixItems": [{"const": 1}, {"const": 2}], "items": False}, 0, {"1", "2"}, set(), 0),
    ({"prefixItems": [{"const": 1}, {"const": 2}], "maxItems": 2}, 0, {"1", "2"}, set(), 1),
    ({"prefixItems": [{"const": 1}, {"const": 2}], "maxItems": 2}, 1, {"2"}, set(), 1),
    ({"prefixItems": [{"const": 1}, {"const": 2}], "maxItems": 1}, 0, {"1"}, set(), 1),
    ({"prefixItems": [{"const": 1}], "items": BIT}, 1, {"0", "1"}, set(), 2),
    ({"prefixItems": [{"const": 1}], "items": BIT}, 7, {"0", "1"}, set(), 2),
    ({"items": {"type": "integer"}, **CONTAINS_THREE}, 0, {"3"}, set(), 1),
    ({"items": {"enum": [2, 3, 4]}, "contains": {"minimum": 3}, "maxContains": 1}, 0,
     {"2", "3", "4"}, set(), 1),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "index", "scalars", "containers", "fewest"), AFTER)
def test_values_of_the_items_to_come(
    schema: dict[str, Any], index: int, scalars: set[str], containers: set[str], fewest: float
) -> None:
    progress = replace(array({"uniqueItems": True, **schema}), index=index)
    values = distinguished()
    found = values.after(progress)
    assert set(found.scalars) == scalars
    assert set(found.containers) == containers
    assert found.fewest == fewest
    assert values.after(progress) is found, "found once"


def test_scalars_are_keyed_by_canonical_json() -> None:
    progress = array({"uniqueItems": True, "items": {"enum": [1e2, "é"]}})
    assert distinguished().after(progress).scalars == {"100": "100", '"\\u00e9"': '"\\u00e9"'}


def nested(depth: int) -> Any:
    """An array around arrays around 0 or 1, one item each."""
    schema: Any = BIT
    for _ in range(depth):
        schema = {"type": "array", "items": schema, "minItems": 1, "maxItems": 1}
    return schema


ONE: dict[str, Any] = {"minItems": 1, "maxItems": 1}
CONTAINERS: list[tuple[Any, int | None]] = [
    # schema, how many arrays and objects; None if many
    ({"type": "integer"}, 0),
    ({"type": "array", "items": BIT, "maxItems": 2}, 7),
    ({"type": "array", "items": BIT}, None),
    ({"type": "array", "items": {"type": "string"}, **ONE}, None),
    ({"type": "array", "items": {"type": "number"}, **ONE}, None),
    ({"type": "array", "items": False}, 1),
    ({"type": "array", "prefixItems": [{"type": "string"}], "maxItems": 0}, 1),
    ({"type": "array", "prefixItems": [BIT, {"type": "string"}], "maxItems": 1}, 3),
    ({"type": "array", "items": {"enum": list(range(MOST_CONTAINERS))}, **ONE}, MOST_CONTAINERS),
    ({"type": "array", "items": {"enum": list(range(MOST_CONTAINERS + 1))}, **ONE}, None),
    ({"type": "object", "properties": {"a": BIT}, "additionalProperties": False}, 3),
    ({"type": "object", "properties": {"a": BIT}}, None),
    ({"type": "object", "properties": {"a": False}, "additionalProperties": False}, 1),
    ({"type": "object", "maxProperties": 0}, 1),
    ({"type": "object", "properties": {"a": {"type": "string"}}, "maxProperties": 0}, 1),
    (nested(1), 2),
    (nested(3), 2),
    (nested(4), None),  # too deep to be searched
]


@pytest.mark.parametrize(("schema", "count"), CONTAINERS, ids=lambda each: str(each)[:60])
def test_containers(schema: Any, count: int | None) -> None:
    found = distinguished().containers(conjunction(schema))
    assert (None if found is None else len(found)) == count
    assert len({json.dumps(json.loads(text)) for text in found or ()}) == (count or 0)


@pytest.mark.parametrize(("several", "fewest"), [(4, 0), (5, 1)])
def test_many_contains_are_looked_at_one_by_one(several: int, fewest: int) -> None:
    every = [{"contains": {"maximum": n, "minimum": n}} for n in range(several)]
    schema = {"items": {"type": "integer"}, "allOf": every, "uniqueItems": True}
    found = distinguished().after(array(schema))
    assert set(found.scalars) == {str(n) for n in range(several)}
    assert found.fewest == fewest
