"""Matching items with values: against trying every choice."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from maskwright.automaton.satisfy.distinct import matching


def cheapest(options: list[set[str]], values: str) -> int | None:
    """The least sum of costs over all choices; a value costs its place in `values`."""
    choices = permutations(values, len(options))
    costs = [
        sum(map(values.index, choice))
        for choice in choices
        if all(value in allowed for value, allowed in zip(choice, options, strict=True))
    ]
    return min(costs, default=None)


@pytest.mark.parametrize("seed", range(300))
def test_the_cheapest_choice_is_found(seed: int) -> None:
    random = Random(seed)
    values = "abcdef"[: random.randint(1, 6)]
    options = [
        {value for value in values if random.random() < 0.6} for _ in range(random.randint(0, 5))
    ]
    best = cheapest(options, values)
    found = matching(options, values)
    if best is None:
        assert found is None
    else:
        assert found is not None
        assert len(set(found)) == len(options)
        assert all(value in allowed for value, allowed in zip(found, options, strict=True))
        assert sum(map(values.index, found)) == best


CHOICES: list[tuple[list[set[str]], list[str] | None]] = [
    ([], []),
    ([{"a"}], ["a"]),
    ([set()], None),
    ([{"a", "b"}, {"a"}], ["b", "a"]),  # the first item makes room for the one with one option
    ([{"a", "b"}, {"b", "c"}, {"a"}], ["b", "c", "a"]),  # so do two, one after the other
    ([{"b", "c"}, {"b", "c"}], ["c", "b"]),  # "a" is preferred, but no item allows it
    ([{"a"}, {"a"}], None),
    ([{"a", "b"}, {"a", "b"}, {"a", "b"}], None),
]


@pytest.mark.parametrize(("options", "chosen"), CHOICES)
def test_choices(options: list[set[str]], chosen: list[str] | None) -> None:
    assert matching(options, "abc") == chosen


def test_more_items_than_values_are_refused_without_a_search() -> None:
    assert matching([{"a", "b"}] * 5_000, "ab") is None
