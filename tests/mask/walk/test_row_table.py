"""The row table: each content once, whatever it is based on."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from maskwright.mask.walk.row_table import Ready, RowTable, packed

WORDS = 8


def row(*tokens: int) -> np.ndarray:
    found = np.zeros(32 * WORDS, np.bool_)
    found[list(tokens)] = True
    return packed(found)


def number(table: RowTable, fingerprint: int, base: Ready | None, *tokens: int) -> int:
    return table.number_on(base, row(*tokens), fingerprint)


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
    base = table.ready(row(130, 131)) if based else None
    first = number(table, 77, base, 1, 70)
    second = number(table, 77, base, *others)
    assert first != second
    more = (130, 131) if based else ()
    assert np.array_equal(table[first], row(1, 70, *more))
    assert np.array_equal(table[second], row(*others, *more))
    assert number(table, 77, base, 1, 70) == first


def test_a_row_is_the_same_whatever_it_is_based_on() -> None:
    table = RowTable(WORDS)
    whole = number(table, 5, None, 1, 70, 130)
    assert number(table, 5, table.ready(row(70, 130)), 1) == whole
    assert number(table, 5, table.ready(row(70)), 1, 130) == whole
    assert number(table, 5, table.ready(row(70)), 1, 131) != whole


def test_a_ready_row_is_kept_once() -> None:
    table = RowTable(WORDS)
    given = row(4, 90)
    first = table.ready(given)
    assert table.ready(given) == first
    assert table.ready(row(4, 90)) == first
    assert table.ready(row(4, 91)) != first
    del given
    assert np.array_equal(table[number(table, 9, first)], row(4, 90)), "the table keeps it alive"


def test_numbers_stay_as_the_table_grows() -> None:
    random = Random(3)
    table = RowTable(WORDS)
    rows = [row(*random.sample(range(32 * WORDS), random.randrange(1, 40))) for _ in range(9_000)]
    numbers = [table.number(each) for each in rows]
    assert len(table) > 8_000
    assert table.nbytes >= 2 << 19, "more than one page"
    assert [table.number(each) for each in rows] == numbers
    out = np.empty(WORDS, np.int32)
    for each, found in zip(rows[::97], numbers[::97], strict=True):
        table.write(found, out)
        assert np.array_equal(out, each)
    assert np.array_equal(table[1:4], np.array([table[1], table[2], table[3]]))


@pytest.mark.parametrize("words", [100, 140_000])
def test_a_record_may_be_as_large_as_a_page(words: int) -> None:
    table, random = RowTable(words), np.random.default_rng(words)
    rows = [random.integers(1, 1 << 30, words, np.int32) for _ in range(4)]
    numbers = [table.number(each) for each in rows]
    assert numbers == [1, 2, 3, 4]
    assert all(np.array_equal(table[n], each) for n, each in zip(numbers, rows, strict=True))


def test_tokens_are_taken_out_of_a_row() -> None:
    table = RowTable(WORDS)
    whole = table.number_on(table.ready(row(4, 90)), row(5, 91, 200))
    assert table.without(whole, np.array([91, 200, 3], np.int32)) == table.number(row(4, 90, 5))
    assert table.without(whole, np.array([], np.int32)) == whole
    for token in (-1, 32 * WORDS):
        with pytest.raises(IndexError, match="there is no token"):
            table.without(whole, np.array([token], np.int32))


@pytest.mark.parametrize("at", [1, -1, 7])
def test_a_row_that_is_not_there(at: int) -> None:
    table, out = RowTable(WORDS), np.zeros(WORDS, np.int32)
    with pytest.raises(IndexError, match="there is no row"):
        table.write(at, out)


@pytest.mark.parametrize("out", [np.zeros(WORDS + 1, np.int32), np.zeros(WORDS, np.int64),
                                 np.zeros(2 * WORDS, np.int32)[::2]])  # fmt: skip
def test_a_row_is_written_to_words_of_its_length(out: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"words|dtype|contiguous"):
        RowTable(WORDS).write(0, out)
