"""Positions as far as they are learned: where tokens lead, sent in parts, and shared arrays."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright.processes.learned import LearnedPosition, new_bytes, shared_array
from maskwright.processes.messages import Description
from maskwright.processes.text_path import Ways

STRING = list(range(100, 400))


def position(number: int = 0) -> LearnedPosition:
    return LearnedPosition(Description(number, (number,), accepting=False, complete=False))


def expand(
    here: LearnedPosition,
    tokens: list[int],
    groups: list[int],
    targets: list[LearnedPosition],
    *,
    whole: bool = True,
) -> int:
    as_bytes = np.array(tokens, np.int32).tobytes(), np.array(groups, np.uint8).tobytes()
    return here.expand(*as_bytes, targets, whole=whole)


def test_what_is_sent_in_parts_comes_together() -> None:
    here, one, two, three = map(position, range(4))
    assert here.expands
    expand(here, [3, 8], [0, 1], [one, two], whole=False)
    assert here.expands
    expand(here, [1, 5, 9], [0, 0, 0], [three])
    assert not here.expands
    leads = {1: three, 3: one, 5: three, 8: two, 9: three}
    assert {token: here.after(token) for token in range(11)} == {
        token: leads.get(token) for token in range(11)
    }
    tokens, groups, targets = here.known_moves()
    found = {
        int(token): targets[group] for token, group in zip(tokens, groups.tolist(), strict=True)
    }
    assert found == leads


def test_equal_arrays_are_one() -> None:
    """The tokens within a string are sent for each property of each schema."""
    first, second, target = position(1), position(2), position(3)
    size = expand(first, STRING, [0] * len(STRING), [target])
    assert size == 5 * len(STRING)
    assert expand(second, STRING, [0] * len(STRING), [position(4)]) == 0
    assert first.known_moves()[0].tolist() == second.known_moves()[0].tolist() == STRING
    assert first.after(100) is target
    assert second.after(100) is not target
    more = expand(first, [7], [0], [position(5)])
    assert more == 5 * (len(STRING) + 1)
    assert second.known_moves()[0].tolist() == STRING


def test_an_array_is_freed_with_its_last_position() -> None:
    tokens = list(range(1_000, 1_300))
    first, second, target = map(position, range(3))
    assert expand(first, tokens, [0] * len(tokens), [target]) > 0
    assert expand(second, tokens, [0] * len(tokens), [target]) == 0
    del first, second
    again = position(3)
    assert expand(again, tokens, [0] * len(tokens), [target]) >= 4 * len(tokens)


def test_bytes_count_once() -> None:
    row = shared_array(bytes(range(200)), np.int32)
    assert shared_array(bytes(range(200)), np.int32) is row
    assert shared_array(bytes(range(200)), np.uint8).dtype == np.uint8
    assert [new_bytes(row), new_bytes(row)] == [200, 0]
    assert new_bytes(row.copy()) == 200


def test_ways_fit_together() -> None:
    tokens, groups = np.array([2, 5], np.int32), np.array([0, 1], np.uint8)
    one, two = position(1), position(2)
    ways = Ways(tokens, groups, [one, two])
    assert [ways.find(token) for token in (1, 2, 3, 5, 6)] == [None, one, None, two, None]
    with pytest.raises(ValueError, match="2 tokens, and groups for 1"):
        Ways(tokens, groups[:1], [one, two])
    with pytest.raises(IndexError, match="group 1, and 1 targets"):
        Ways(tokens, groups, [one])
