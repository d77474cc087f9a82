"""The row table: each content once, whatever it is based on."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from maskwright.mask.walk.row_table import TABLE_FULL, RowTable, packed, row_number, write_row

WORDS = 8


def row(*tokens: int) -> np.ndarray:
    found = np.zeros(32 * WORDS, np.bool_)
    found[list(tokens)] = True
    return packed(found)


def number(table: RowTable, fingerprint: int, base: int, *tokens: int) -> int:
    added = row(*tokens)
    touched = np.flatnonzero(added).astype(np.int32)
    work = np.empty(2 * WORDS, np.int32)
    while True:
        found = row_number(table.arrays, fingerprint, base, added, touched, len(touched), work)
        if found != TABLE_FULL:
            return int(found)
        table.grow()


def test_row_0_allows_nothing() -> None:
    table = RowTable(WORDS)
    assert len(table) == 1
    assert not table[0].any()
    assert table.number(row()) == 0


def test_equal_rows_have_one_number() -> None:
    table = RowTable(WORDS)
    first, second = table.number(row(1, 200)), table.number(row(1, 201))
    assert first != second
    assert (table.number(row(1, 200)), table.number(row(1, 201))) == (first, second)
    assert np.array_equal(table[first], row(1, 200))


@pytest.mark.parametrize(
    "others",
    [
        (3, 70),  # other words, as many of them
        (1, 71),  # another bit of a word
        (1, 70, 71),
        (1,),
    ],
)
@pytest.mark.parametrize("based", [False, True])
def test_a_fingerprint_alone_makes_no_two_rows_one(others: tuple[int, ...], based: bool) -> None:
    table = RowTable(WORDS)
    base = table.ready(row(130, 131)).address if based else 0
    first = number(table, 77, base, 1, 70)
    second = number(table, 77, base, *others)
    assert first != second
    more = (130, 131) if based else ()
    assert np.array_equal(table[first], row(1, 70, *more))
    assert np.array_equal(table[second], row(*others, *more))
    assert number(table, 77, base, 1, 70) == first


def test_a_row_is_the_same_whatever_it_is_based_on() -> None:
    table = RowTable(WORDS)
    whole = number(table, 5, 0, 1, 70, 130)
    assert number(table, 5, table.ready(row(70, 130)).address, 1) == whole
    assert number(table, 5, table.ready(row(70)).address, 1, 130) == whole
    assert number(table, 5, table.ready(row(70)).address, 1, 131) != whole


def test_a_ready_row_is_kept_once() -> None:
    table = RowTable(WORDS)
    given = row(4, 90)
    first = table.ready(given)
    assert table.ready(given) == first
    assert table.ready(row(4, 90)) == first
    assert table.ready(row(4, 91)) != first
    address = first.address
    del given
    assert np.array_equal(table[number(table, 9, address)], row(4, 90)), "the table keeps it alive"


def test_numbers_and_addresses_stay_as_the_table_grows() -> None:
    random = Random(3)
    table = RowTable(WORDS)
    rows = [row(*random.sample(range(32 * WORDS), random.randrange(1, 40))) for _ in range(9_000)]
    numbers = [table.number(each) for each in rows]
    first = table.address(numbers[0])
    assert len(table.arrays.records) > 8_000
    assert len(table._pages) > 1, "more than one page"
    assert [table.number(each) for each in rows] == numbers
    assert table.address(numbers[0]) == first
    out = np.empty(WORDS, np.int32)
    for each, found in zip(rows[::97], numbers[::97], strict=True):
        write_row(table.address(found), out)
        assert np.array_equal(out, each)
    assert np.array_equal(table[1:4], np.array([table[1], table[2], table[3]]))
