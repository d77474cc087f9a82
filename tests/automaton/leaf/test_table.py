"""The leaf table: equal keys are one state, labels and gates of states, and rows built ahead."""

from __future__ import annotations

import pytest

from maskwright.automaton.leaf.keys import Begun, End, Key, LiteralState, Skipped, Text
from maskwright.automaton.leaf.rows import UNBUILT
from maskwright.automaton.leaf.spelling import ANY_BYTES
from maskwright.automaton.leaf.table import LeafTable
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import parallel_start
from maskwright.grammar.regular.terms import (
    ANY_CHAR,
    ANYTHING,
    EMPTY,
    Regular,
    WordList,
    repeat,
    tagged,
    word_slice,
    words,
)
from tests.ids import named
from tests.leaf_states import leaf_after

NAMES = ("a", "abc", "abd", "b")
BEYOND = ("a", "é", "ê")


def closed(*others: Regular, whole: bool = True, names: tuple[str, ...] = NAMES) -> Text:
    """The key of a list of names, made at once (`whole`) or state by state where it is read."""
    table = WordList(names, False)
    table.whole = table.whole and whole
    return Text(True, tagged((word_slice(table), *others), named=True))


def gate(leaves: LeafTable, state: int) -> tuple[int, int]:
    return int(leaves.rows.gate_low[state]), int(leaves.rows.gate_high[state])


@pytest.mark.parametrize("whole", [False, True], ids=["one by one", "at once"])
@pytest.mark.parametrize(
    ("names", "data", "expected"),
    [
        (NAMES, b"", (0, 4)),
        (NAMES, b"a", (0, 3)),
        (NAMES, b"ab", (1, 3)),
        (NAMES, b"abd", (2, 3)),
        (NAMES, b"b", (3, 4)),
        (NAMES, b"a\\", (1, 3)),
        (NAMES, b"a\\u", (1, 3)),
        (BEYOND, "é".encode(), (1, 2)),
        (BEYOND, b"\xc3", (1, 3)),
        (BEYOND, b"\\u00e", (1, 3)),
    ],
)
def test_a_gate_holds_the_names_that_can_still_be_reached(
    names: tuple[str, ...], data: bytes, expected: tuple[int, int], whole: bool
) -> None:
    leaves = LeafTable()
    start = leaves.state(closed(EMPTY, whole=whole, names=names))
    assert gate(leaves, leaf_after(leaves, start, data)) == expected
    beside = leaves.state(closed(ANYTHING, whole=whole, names=names))
    assert gate(leaves, leaf_after(leaves, beside, data)) == (0, 0), "other names are possible"


def test_a_state_before_a_gated_one_has_its_gate() -> None:
    leaves = LeafTable()
    gated = leaves.state(closed(EMPTY))
    plain = leaves.state(Text(True, ANYTHING))
    assert gate(leaves, leaves.state(Skipped(ANY_BYTES + 1, gated))) == gate(leaves, gated)
    assert gate(leaves, leaves.state(Skipped(ANY_BYTES + 1, plain))) == (0, 0)


@pytest.mark.parametrize(
    ("key", "label"),
    [
        (Text(False, full_match("a*")), 1),
        (Text(False, full_match("a")), None),
        (Text(True, full_match("a*")), None),
        (End(("x", 1)), ("x", 1)),
        (LiteralState(b"a", 0), None),
    ],
    ids=named,
)
def test_labels(key: Key, label: object) -> None:
    leaves = LeafTable()
    assert leaves.label_of(leaves.state(key)) == label


def test_labels_of_two_types_are_two_labels() -> None:
    leaves = LeafTable()
    numbers = [leaves.label_id(each) for each in (1, True, None, (1,))]
    assert len(set(numbers)) == 4
    assert numbers[2] == 0, "the label of a state that can't be left"
    assert leaves.label_id(1) == numbers[0]
    assert [leaves.labels[each] for each in numbers] == [1, True, None, (1,)]


def test_a_parallel_text_without_look_ahead_is_left_eagerly_where_one_part_ends() -> None:
    terms = (full_match("ab"), full_match("a"))
    leaves = LeafTable()
    start = leaves.state(Text(False, parallel_start(terms, None)))
    reached = leaf_after(leaves, start, b"a")
    assert [bool(leaves.rows.eager[state]) for state in (start, reached)] == [False, True]


@pytest.mark.parametrize(("most", "built"), [(0, 0), (1, 1), (3, 3), (100, 6)])
def test_expansion_builds_the_nearest_rows_up_to_a_limit(most: int, built: int) -> None:
    """The states of `abcde` and the dead state, which is built from the start."""
    leaves = LeafTable()
    start = leaves.state(Text(False, full_match("abcde")))
    leaves.expand(start, most)
    rows = leaves.rows.base[: leaves.count] != UNBUILT
    assert int(rows.sum()) == 1 + built
    texts = [leaf_after(leaves, start, b"abcde"[:length]) for length in range(min(most, 6))]
    assert bool(rows[[state for state in texts if state < len(rows)]].all())


@pytest.mark.parametrize("state", [-1, 5_000, 100_000_000, -100_000_000])
def test_expansion_refuses_what_is_no_state(state: int) -> None:
    with pytest.raises(IndexError, match="no leaf state"):
        LeafTable().expand(state, 3)


def test_expansion_leaves_escapes_for_when_a_token_has_one() -> None:
    leaves = LeafTable()
    leaves.expand(leaves.state(Text(True, ANYTHING)), 100)
    unbuilt = [key for state, key in enumerate(leaves.keys)
               if leaves.rows.base[state] == UNBUILT]  # fmt: skip
    assert [type(key) for key in unbuilt] == [Begun]


def test_keys_of_a_list_are_found_when_asked_for() -> None:
    leaves = LeafTable()
    key = closed(EMPTY)
    start = leaves.state(key)
    trie = leaves.keys.trie(start)
    assert trie is not None
    assert leaves.keys.trie(start - 1) is None
    assert leaves.keys.trie(start + trie.count) is None
    assert leaves.keys.known[start : start + trie.count] == [None] * trie.count
    assert leaves.keys[start] == key
    assert leaves.keys[start : start + 2] == [leaves.keys[start], leaves.keys[start + 1]]
    assert leaves.weight == leaves.count - trie.count + trie.count // 16


@pytest.mark.parametrize("most", [1, 2, 3, 9])
@pytest.mark.parametrize("least", [0, 1, 3])
@pytest.mark.parametrize(
    "data", [b"", b"a", b"abc", "é€😀".encode(), b"\x7f", b"a\tb", b'a"', b"\\n", b"\xc3", b"\xa9"]
)
def test_whole_characters_lead_where_their_bytes_lead(least: int, most: int, data: bytes) -> None:
    table = LeafTable()
    state = table.state(Text(True, repeat(ANY_CHAR, least, max(least, most))))
    at_once = table.after_characters(state, data)
    assert at_once in (None, leaf_after(table, state, data))
    plain = not any(byte in b'\t"\\' for byte in data) and data[-1:] not in (b"\xc3", b"\xa9")
    fits = len(data.decode(errors="replace")) <= max(least, most)
    is_counted = (least, max(least, most)) != (1, 1)
    assert (at_once is not None) == (plain and fits and is_counted)


def test_characters_of_a_pattern_are_read_byte_by_byte() -> None:
    table = LeafTable()
    for term in (full_match("[a-z]{1,9}"), repeat(ANY_CHAR), ANY_CHAR, words(["abc"])):
        for inside in (True, False):
            assert table.after_characters(table.state(Text(inside, term)), b"a") is None
