"""Columns overlaid at once against each character on its own."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from maskwright.grammar.regular.overlay import Arc, joined, spread
from maskwright.grammar.regular.terms import EMPTY, EPSILON, Regular, char, concat, words

TARGETS = [EPSILON, char("a"), char("é"), words(["ab", "ac"]), concat(char("x"), char("y"))]


def column(random: Random) -> tuple[Arc, ...]:
    """Ranges of ASCII, ascending, some of them next to each other."""
    cuts = sorted(random.sample(range(129), random.randint(0, 12)))
    ranges = [(low, high - 1) for low, high in pairwise(cuts)]
    kept = [each for each in ranges if random.random() < 0.7]
    return tuple((low, high, random.choice(TARGETS)) for low, high in kept)


@pytest.mark.parametrize("seed", range(60))
def test_each_character_has_what_its_columns_are_joined_to(seed: int) -> None:
    random = Random(seed)
    columns = [column(random) for _ in range(random.randint(0, 9))]
    asked: list[dict[int, Regular]] = []

    def join(current: dict[int, Regular]) -> Regular:
        asked.append(dict(current))
        return TARGETS[sum((at + 1) * TARGETS.index(t) for at, t in current.items()) % 5 - 1]

    def plain(point: int) -> dict[int, Regular]:
        here = enumerate(columns)
        return {at: t for at, arcs in here for low, high, t in arcs if low <= point <= high}

    found = spread(columns, join, {})
    assert all(one in asked for point in range(128) if (one := plain(point)))
    for point in range(128):
        target = [t for low, high, t in found if low <= point <= high]
        assert target == ([join(plain(point))] if plain(point) else [])
    for (_, high, target), (low, _, other) in pairwise(found):
        assert high < low
        assert high + 1 < low or target is not other


def test_what_leads_nowhere_is_left_out() -> None:
    columns: list[tuple[Arc, ...]] = [((0x30, 0x39, EPSILON),), ((0x35, 0x7F, EPSILON),)]
    found = spread(columns, lambda t: EPSILON if len(t) == 1 else EMPTY, {})
    assert found == [(0x30, 0x34, EPSILON), (0x3A, 0x7F, EPSILON)]


def test_equal_targets_are_joined_once() -> None:
    asked: list[dict[int, Regular]] = []

    def join(current: dict[int, Regular]) -> Regular:
        asked.append(current)
        return char("a")

    known: dict[bytes, Regular] = {}
    columns: list[tuple[Arc, ...]] = [((0, 9, EPSILON), (20, 29, EPSILON)), ((5, 6, char("b")),)]
    assert spread(columns, join, known) == [(0, 9, char("a")), (20, 29, char("a"))]
    assert joined({0: EPSILON}, join, known) is char("a")
    assert asked == [{0: EPSILON}, {0: EPSILON, 1: char("b")}]


@pytest.mark.parametrize("low_high", [(5, 4), (100, 128), (-1, 3)])
def test_a_range_is_within_ascii(low_high: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no range"):
        spread([((*low_high, EPSILON),)], lambda t: t[0], {})
