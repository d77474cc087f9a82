"""Lists of words made at once are the same automata as those that grow where they are read."""

import random

import pytest

from maskwright.automaton.leaf.keys import Text
from maskwright.automaton.leaf.table import LeafTable
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    MOST_AT_ONCE,
    Regular,
    tagged,
    word_list,
    word_slice,
)

LISTS = [
    ["name", "age", "na", "tags/x", 'q"uo', "back\\s", "tab\tx", ""],
    ["a"],
    [""],
    ["ab", "abc", "abd", "b"],
    ["".join(random.Random(seed).choices("ab/", k=seed % 6)) for seed in range(20)],
]
BESIDE: list[tuple[Regular, ...] | None] = [None, (EMPTY,), (ANYTHING,), (ANYTHING, EMPTY)]
MOST_PAIRS = 300


def planted(
    strings: list[str], others: tuple[Regular, ...] | None, *, bare: bool, whole: bool
) -> tuple[LeafTable, int]:
    table = word_list(strings, bare=bare)
    table.whole = table.whole and whole
    term: Regular = word_slice(table)
    if others is not None:
        term = tagged((term, *others), named=True)
    leaves = LeafTable()
    return leaves, leaves.state(Text(True, term))


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("others", BESIDE, ids=["none", "closed", "open", "two"])
@pytest.mark.parametrize("strings", LISTS, ids=str)
def test_both_ways_give_the_same_automaton(
    strings: list[str], others: tuple[Regular, ...] | None, bare: bool
) -> None:
    if bare and others is not None and ANYTHING in others:
        return  # lists are bare where nothing else may come
    left, first = planted(strings, others, bare=bare, whole=True)
    right, second = planted(strings, others, bare=bare, whole=False)
    pairs = [(first, second)]
    seen = set(pairs)
    for one, other in pairs:
        rows = left.next_states(one), right.next_states(other)
        assert rows[0].keys() == rows[1].keys(), (left.keys[one], right.keys[other])
        assert left.label_of(one) == right.label_of(other)
        assert gate(left, one) == gate(right, other)
        following = {(rows[0][byte], rows[1][byte]) for byte in rows[0]} - seen
        if len(seen) < MOST_PAIRS:
            seen |= following
            pairs += sorted(following)


def gate(leaves: LeafTable, state: int) -> tuple[int, int]:
    return int(leaves.rows.gate_low[state]), int(leaves.rows.gate_high[state])


def test_a_state_is_the_place_that_its_key_says() -> None:
    leaves, first = planted(["ab", "abc", "b"], (EMPTY,), bare=False, whole=True)
    states = range(first, len(leaves.keys))
    assert len(states) == 5 * 5  # the empty beginning, a, ab, abc and b; by part of a character
    for state in states:
        assert leaves.state(leaves.keys[state]) == state


def test_states_of_lists_weigh_less() -> None:
    leaves, _ = planted(["a" * 100], (EMPTY,), bare=False, whole=True)
    assert leaves.weight < leaves.count / 2


def test_long_lists_grow_where_they_are_read() -> None:
    leaves, first = planted(["a" * (MOST_AT_ONCE + 1)], (EMPTY,), bare=False, whole=True)
    leaves.build(first)
    assert leaves.count < 10
