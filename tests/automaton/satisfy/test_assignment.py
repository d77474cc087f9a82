"""Dealing out values: against trying every way."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from maskwright.automaton.satisfy.assignment import assigned


def cheapest(places: list[dict[str, int]], values: str) -> int | None:
    """The least sum of costs over all ways to give each place a value of its own."""
    ways = permutations(values, len(places))
    fitting = [w for w in ways if all(v in p for v, p in zip(w, places, strict=True))]
    costs = [sum(p[v] for v, p in zip(way, places, strict=True)) for way in fitting]
    return min(costs, default=None)


@pytest.mark.parametrize("seed", range(300))
def test_the_cheapest_way_is_found(seed: int) -> None:
    random = Random(seed)
    values = "abcdef"[: random.randint(1, 6)]
    places = [
        {value: random.randint(1, 9) for value in values if random.random() < 0.6}
        for _ in range(random.randint(0, 5))
    ]
    best = cheapest(places, values)
    found = assigned(places)
    if best is None:
        assert found is None
    else:
        assert found is not None
        assert len(set(found)) == len(places)
        assert sum(p[v] for v, p in zip(found, places, strict=True)) == best


def test_the_cheapest_value_is_left_to_the_place_that_has_no_other() -> None:
    assert assigned([{"a": 1, "b": 5}, {"a": 1}]) == ["b", "a"]


def test_too_few_values() -> None:
    assert assigned([{"a": 1}, {"a": 1}]) is None
    assert assigned([{"a": 1, "b": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 1}]) is None
