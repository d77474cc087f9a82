"""What is remembered about budgets, replaced and forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.position import Position
from maskwright.mask.shared import budget_cache
from maskwright.mask.shared.budget_cache import NO_TOKEN, BudgetCache, MasksByBudget

HERE = Configuration(3, 4)
MASKS = MasksByBudget([2], np.zeros((2, 1), np.int32))


@pytest.mark.parametrize(
    ("ways", "needed", "first", "kept"),
    [
        ([(5, 11)], 5, 11, True),
        ([(5, 11), (3, 12)], 3, 12, False),
        ([(5, 11), (5, 12)], 5, 11, True),
        ([(5, 11), (6, 12)], 5, 11, True),
        ([(5, 11), (3, 12), (4, 13)], 3, 12, False),
    ],
)
def test_the_shortest_way_stays(
    ways: list[tuple[int, int]], needed: int, first: int, kept: bool
) -> None:
    """Masks that were computed for a longer way are forgotten, for they are too strict."""
    cache = BudgetCache()
    position = Position(HERE)
    assert cache.record(HERE, *ways[0])
    cache.keep_masks(position, MASKS)
    for way in ways[1:]:
        shorter = way[0] < cache.needed[HERE]
        assert cache.record(HERE, *way) is shorter
    assert (cache.needed[HERE], cache.first[HERE]) == (needed, first)
    assert (position in cache.masks) is kept
    assert cache.mask_bytes == (MASKS.rows.nbytes if kept else 0)


def test_places_of_one_text_are_forgotten_the_oldest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budget_cache, "MOST_TEXTS", 2)
    cache = BudgetCache()
    places = [(HERE, bytes([at])) for at in range(4)]
    cache.record(HERE, 9)
    for at, place in enumerate(places):
        cache.record(place, at, at)
        cache.ways[place] = [at]
    assert list(cache.needed) == [HERE, *places[2:]]
    assert set(cache.first) == {HERE, *places[2:]}
    assert list(cache.ways) == places[2:]
    assert cache.first[HERE] == NO_TOKEN


def test_the_rest_of_a_way_is_kept_with_the_way_that_it_belongs_to() -> None:
    cache = BudgetCache()
    cache.record(HERE, 4, 11)
    cache.record_onward(HERE, 12, [1, 2, 3])
    cache.record_onward(HERE, 11, [1, 2])
    assert not cache.onward, "another way"
    cache.record_onward(HERE, 11, [1, 2, 3])
    cache.record_onward(HERE, 11, [4, 5, 6])
    assert cache.onward == {HERE: [1, 2, 3]}
    assert cache.onward_bytes == 3 * 8
    cache.record(HERE, 2, 11)
    assert not cache.onward
    assert cache.onward_bytes == 0


def test_masks_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    size = MASKS.rows.nbytes
    monkeypatch.setattr(budget_cache, "MOST_ROW_BYTES", 2 * size)
    cache = BudgetCache()
    positions = [Position(Configuration(at, 0)) for at in range(4)]
    sizes: list[int] = []
    for position, masks in zip(positions, [MASKS, None, MASKS, MASKS], strict=True):
        cache.keep_masks(position, masks)
        sizes.append(cache.mask_bytes)
    assert sizes == [size, size, 2 * size, 2 * size]
    assert list(cache.masks) == positions[1:], "the oldest is forgotten"


@pytest.mark.parametrize(
    ("budget", "expected"),
    [(1, 0b0001), (2, 0b0001), (3, 0b0101), (4, 0b0101), (5, 0b1111), (6, 0b1111), (90, 0b1111)],
)
def test_masks_by_budget(budget: int, expected: int) -> None:
    """Token 0 needs nothing more, token 2 two tokens after it, tokens 1 and 3 four."""
    row = np.array([0b1111], np.int32)
    tokens, needs = np.array([2, 1, 3], np.int32), np.array([2, 4, 4])
    assert MasksByBudget.of(row, tokens, needs).mask(budget).tolist() == [expected]
