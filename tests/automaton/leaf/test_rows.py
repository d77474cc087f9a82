"""Rows of leaf states: shared, stored as differences, and kept as the arrays grow."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright.automaton.leaf.rows import DEAD, UNBUILT, LeafRows, WordPlaces


def row(**targets: int) -> dict[int, int]:
    return {ord(byte): target for byte, target in targets.items()}


def by_byte(targets: np.ndarray) -> dict[int, int]:
    return dict(enumerate(targets.tolist()))


def test_equal_rows_are_stored_once() -> None:
    rows = LeafRows()
    assert not rows.is_built(1)
    for state, targets in ((1, row(a=5)), (2, row(a=5)), (3, row(a=6)), (4, row())):
        rows.fill(state, targets, None)
    base = rows.base
    assert base[1] == base[2] != base[3]
    assert base[4] == 0, "the row in which every byte is dead"
    assert (rows.rows, rows.is_built(1)) == (3, True)
    assert [rows.next_states(state) for state in (1, 3, 4)] == [{97: 5}, {97: 6}, {}]


@pytest.mark.parametrize("differing", [0, 1, 8, 9])
def test_a_row_near_its_trunk_is_stored_as_the_difference(differing: int) -> None:
    rows = LeafRows()
    trunk = np.arange(256, dtype=np.int32)
    rows.fill(0, by_byte(trunk), None)
    other = trunk.copy()
    other[10 : 10 + differing] = 900
    if differing:
        other[10] = DEAD
    rows.fill(1, by_byte(other), int(rows.base[0]))
    few = differing <= 8
    assert (rows.base[1] == rows.base[0]) == few
    expected = {byte: int(target) for byte, target in enumerate(other) if target != DEAD}
    assert rows.next_states(1) == expected


@pytest.mark.parametrize("trunk", [None, 0, 1])
@pytest.mark.parametrize("count", [0, 1, 8, 9, 256])
def test_a_row_of_few_bytes_is_stored_as_them(count: int, trunk: int | None) -> None:
    rows = LeafRows()
    rows.fill(0, by_byte(np.arange(256)), None)
    targets = {(7 * at) % 256: at + 3 for at in range(count)}
    rows.fill(1, targets, trunk)
    assert rows.next_states(1) == targets
    assert (rows.base[1] == 0) == (count == 0 or (trunk == 0 and count <= 8))
    with pytest.raises(OverflowError):
        rows.fill(2, {256: 1}, None)


def test_the_weight_of_the_bytes_that_lead_on() -> None:
    rows, weights = LeafRows(), 1 << np.arange(256, dtype=np.int64) % 60
    rows.fill(0, row(a=5, b=6, c=7), None)
    rows.override(1, int(rows.base[0]), {ord("b"): DEAD, ord("z"): 9})
    assert rows.weigh(0, weights) == sum(int(weights[ord(byte)]) for byte in "abc")
    assert rows.weigh(1, weights) == sum(int(weights[ord(byte)]) for byte in "acz")
    with pytest.raises(ValueError, match="not been built"):
        rows.weigh(2, weights)
    with pytest.raises(ValueError, match="256 bytes"):
        rows.weigh(0, weights[:255])


def test_living_bytes_are_those_with_a_next_state() -> None:
    rows = LeafRows()
    rows.fill(1, row(a=5, b=6, z=0), None)
    bits = rows.living[rows.base[1]]
    living = [byte for byte in range(256) if int(bits[byte >> 6]) >> (byte & 63) & 1]
    assert living == [97, 98, 122]


def test_everything_is_kept_as_the_arrays_grow() -> None:
    rows = LeafRows()
    for state in range(2_000):
        rows.make_room(state)
        if state % 2:
            rows.fill(state, row(a=state, b=state % 7), None)
        else:
            rows.override(state, 0, {ord("c"): state, ord("d"): DEAD})
    rows.make_room(4_000)
    assert rows.base[3_999] == UNBUILT
    for state in range(2_000):
        expected = {97: state, 98: state % 7} if state % 2 else {99: state}
        assert rows.next_states(state) == expected


def test_the_places_of_a_list_of_words() -> None:
    places = WordPlaces(("a", "ab", "b\n"))
    assert places.size == 5
    assert [places.words_at(place) for place in range(5)] == [
        (0, 3, 0),
        (0, 2, 1),
        (1, 2, 2),
        (2, 3, 1),
        (2, 3, 2),
    ]
    assert [places.place(*place) for place in ((0, 0), (0, 1), (1, 2), (2, 1), (2, 2))] == [
        *range(5)
    ]
    for place in (-1, 5):
        with pytest.raises(IndexError, match="place"):
            places.words_at(place)
    with pytest.raises(IndexError, match="word"):
        places.place(3, 1)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("bare", [False, True])
def test_the_rows_of_a_list_of_words(is_open: bool, bare: bool) -> None:
    rows = LeafRows()
    rows.fill(0, row(x=7), None)
    trunk = int(rows.base[0])
    places = WordPlaces(("a", "ab", "b\n"))
    alike = (1, 2, 3, 4, 5)
    places.fill(rows, 10, [90, 91, 92], (trunk, 0, 0, 0), alike, is_open, bare, not is_open)
    quote, backslash, zero = ord('"'), ord("\\"), ord("0")
    expected = [{97: 11, 98: 13}, {quote: 90, 98: 12}, {quote: 91}, {}, {quote: 92}]
    for place, found in enumerate(expected):
        if is_open or (place in (0, 1, 3) and not bare):
            found[backslash] = 15 + place
        assert rows.next_states(10 + place) == {120: 7, **found}
    after_backslash = [{117: 20}, {117: 21}, {}, {117: 23, ord("n"): 14}, {}]
    assert [rows.next_states(15 + place) for place in range(5)] == after_backslash
    for first in (20, 25):  # with one hexadecimal digit less to come
        after = [rows.next_states(first + place) for place in range(5)]
        assert after == [{zero: first + 5 + at} if at in (0, 1, 3) else {} for at in range(5)]
    assert not any(map(rows.is_built, range(30, 35)))
    assert rows.ready_leaf[10:36].tolist() == [*(kind for kind in alike for _ in range(5)), 0]
    low, high = [0, 0, 1, 2, 2], [3, 2, 2, 3, 3]
    after = [0, 1, 2, 2, 3]  # an escape doesn't spell the end of a word
    gated = (low + after * 4, high * 5) if not is_open else ([0] * 25, [0] * 25)
    assert (rows.gate_low[10:35].tolist(), rows.gate_high[10:35].tolist()) == gated


def test_each_state_is_reached_by_its_first_byte() -> None:
    rows = LeafRows()
    rows.fill(0, row(a=3, b=4, c=3, d=5), None)
    rows.override(1, int(rows.base[0]), {ord("a"): 4, ord("d"): DEAD})
    assert rows.first_bytes(0, b"xcba") == [(ord("c"), 3), (ord("b"), 4)]
    assert rows.first_bytes(1, bytes(range(256))) == [(ord("a"), 4), (ord("c"), 3)]
    assert rows.first_bytes(0, b"") == []
    with pytest.raises(ValueError, match="has not been built"):
        rows.first_bytes(2, b"a")
    with pytest.raises(IndexError, match="no leaf state"):
        rows.first_bytes(-1, b"a")


def test_places_are_filled_with_as_many_states_as_there_are_words() -> None:
    with pytest.raises(ValueError, match="2 words have 1 states"):
        WordPlaces(("a", "b")).fill(LeafRows(), 1, [5], (0,) * 4, (1,) * 5, False, True, False)
