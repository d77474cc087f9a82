"""Masks that stay on a device: each is copied once, and a step's own keep their places."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from maskwright.sampling import Mask, MaskTable

WORDS = 4
CPU = torch.device("cpu")


def table(places: int) -> MaskTable:
    return MaskTable(WORDS, CPU, most_bytes=places * 4 * WORDS)


def mask(number: int, *, lasting: bool = False) -> Mask:
    """A mask of its own array; one that lasts can't be written to."""
    words = np.full(WORDS, number, np.int32)
    words.setflags(write=not lasting)
    return words


def contents(found: MaskTable, numbers: torch.Tensor) -> list[int]:
    """What the rows that are named hold."""
    assert numbers.dtype == torch.int32
    rows = found.masks[numbers]
    assert torch.equal(rows, rows[:, :1].expand_as(rows))
    return rows[:, 0].tolist()


@pytest.mark.parametrize("lasting", [False, True])
def test_a_mask_that_comes_again_is_copied_once(lasting: bool) -> None:
    found = table(8)
    kept = [mask(number, lasting=lasting) for number in (5, 6)]
    first = found.rows([kept[0], kept[1], kept[0]])
    assert (contents(found, first), found.copied) == ([5, 6, 5], 2)
    assert first[0] == first[2]
    again = found.rows([kept[1], mask(7), mask(5)])
    assert (contents(found, again), found.copied) == ([6, 7, 5], 3)
    assert found.rows(kept).equal(first[:2])


def test_the_mask_used_longest_ago_gives_its_place_away() -> None:
    found = table(3)
    for number in (1, 2, 3):
        found.rows([mask(number)])
    found.rows([mask(1)])
    assert contents(found, found.rows([mask(4)])) == [4]
    assert found.copied == 4
    assert contents(found, found.rows([mask(1), mask(3)])) == [1, 3]
    assert found.copied == 4, "2 was the oldest"
    found.rows([mask(2)])
    assert found.copied == 5


def test_no_mask_of_a_step_gives_its_place_away() -> None:
    """The oldest masks are of this step, and come after new ones in it."""
    found = table(4)
    found.rows([mask(number) for number in (1, 2, 3, 4)])
    numbers = found.rows([mask(9), mask(8), mask(1), mask(2)])
    assert contents(found, numbers) == [9, 8, 1, 2]
    assert found.copied == 6


def test_a_step_with_more_masks_than_places_gets_them() -> None:
    found = table(2)
    found.rows([mask(1), mask(2)])
    assert contents(found, found.rows([mask(number) for number in range(2, 9)])) == [*range(2, 9)]
    assert (len(found.masks), found.copied) == (7, 8)
    assert contents(found, found.rows([mask(2), mask(1)])) == [2, 1]


def test_a_mask_that_was_written_to_is_another_one() -> None:
    found, changing = table(8), mask(1)
    found.rows([changing])
    changing[:] = 2
    assert contents(found, found.rows([changing, mask(1)])) == [2, 1]


def test_an_array_at_the_address_of_an_earlier_one_is_another_mask() -> None:
    found, addresses = table(4), set[int]()
    for number in range(200):
        lasting = mask(number, lasting=True)
        addresses.add(id(lasting))
        assert contents(found, found.rows([lasting])) == [number]
        del lasting
    assert len(addresses) < 200
    assert len(found._digests) <= 17


@pytest.mark.parametrize("places", [1, 5, 40])
def test_any_order_of_use(places: int) -> None:
    rng, found = random.Random(places), table(places)
    lasting = [mask(number, lasting=True) for number in range(20)]
    for _ in range(300):
        chosen = [rng.randrange(40) for _ in range(rng.randint(1, 9))]
        masks = [lasting[n] if n < 20 and rng.random() < 0.5 else mask(n) for n in chosen]
        assert contents(found, found.rows(masks)) == chosen
    if places == 40:
        assert found.copied == 40
