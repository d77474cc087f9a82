"""Rows of leaf states: shared, stored as differences, and kept as the arrays grow."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright.automaton.leaf.rows import DEAD, UNBUILT, LeafRows, Overrides


def row(**targets: int) -> np.ndarray:
    found = np.full(256, DEAD, np.int32)
    for byte, target in targets.items():
        found[ord(byte)] = target
    return found


def test_equal_rows_are_stored_once() -> None:
    rows = LeafRows()
    assert not rows.is_built(1)
    for state, targets in ((1, row(a=5)), (2, row(a=5)), (3, row(a=6)), (4, row())):
        rows.store(state, targets, None)
    base = rows.base
    assert base[1] == base[2] != base[3]
    assert base[4] == 0, "the row in which every byte is dead"
    assert (rows.rows, rows.is_built(1)) == (3, True)
    assert [rows.next_states(state) for state in (1, 3, 4)] == [{97: 5}, {97: 6}, {}]


@pytest.mark.parametrize("differing", [0, 1, 8, 9])
def test_a_row_near_its_trunk_is_stored_as_the_difference(differing: int) -> None:
    rows = LeafRows()
    trunk = np.arange(256, dtype=np.int32)
    rows.store(0, trunk, None)
    other = trunk.copy()
    other[10 : 10 + differing] = 900
    if differing:
        other[10] = DEAD
    rows.store(1, other, int(rows.base[0]))
    few = differing <= 8
    assert (rows.base[1] == rows.base[0]) == few
    expected = {byte: int(target) for byte, target in enumerate(other) if target != DEAD}
    assert rows.next_states(1) == expected


def test_living_bytes_are_those_with_a_next_state() -> None:
    rows = LeafRows()
    rows.store(1, row(a=5, b=6, z=0), None)
    bits = rows.living[rows.base[1]]
    living = [byte for byte in range(256) if int(bits[byte >> 6]) >> (byte & 63) & 1]
    assert living == [97, 98, 122]


def test_everything_is_kept_as_the_arrays_grow() -> None:
    rows = LeafRows()
    for state in range(2_000):
        rows.make_room(state)
        if state % 2:
            rows.store(state, row(a=state, b=state % 7), None)
        else:
            rows.override(state, 0, {ord("c"): state, ord("d"): DEAD})
    rows.make_room(4_000)
    assert rows.base[3_999] == UNBUILT
    for state in range(2_000):
        expected = {97: state, 98: state % 7} if state % 2 else {99: state}
        assert rows.next_states(state) == expected


def test_many_states_at_once() -> None:
    rows = LeafRows()
    rows.store(0, row(a=7), None)
    trunk = int(rows.base[0])
    overrides = Overrides(
        np.array([0, 2, 2, 3], np.int32),
        np.array([97, 98, 99], np.uint8),
        np.array([DEAD, 4, 5], np.int32),
    )
    rows.override_all(10, (trunk, trunk, 0), overrides)
    assert [rows.next_states(state) for state in (10, 11, 12)] == [{98: 4}, {97: 7}, {99: 5}]
