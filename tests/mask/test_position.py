"""Configurations as compiled code gives them, and what a new position doesn't know yet."""

from __future__ import annotations

import pytest

from maskwright import compile_regex
from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.position import UNKNOWN, Position, unpacked
from maskwright.mask.walk.walk import PrecomputedMask
from tests.matching import allowed, configuration, vocabulary

MOST = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("leaf", "node"),
    [(0, 0), (1, 0), (0, 1), (5, 7), (5, 1 << 31), (3, MOST), (MOST >> 1, MOST)],
)
def test_unpacking_is_the_inverse_of_packing(leaf: int, node: int) -> None:
    found = unpacked(leaf << 32 | node)
    assert isinstance(found, Configuration)
    assert (found.leaf, found.node) == (leaf, node)


def test_a_new_position_knows_nothing() -> None:
    position = Position(Configuration(3, 4))
    assert position.configuration == Configuration(3, 4)
    assert position.moved(0) is None
    assert position.row < 0, "no mask has been computed"
    assert (position.forced_byte, position.accepting, position.complete) == (None, None, None)


def test_no_budget_suffices_before_it_is_computed() -> None:
    """Every token limit that a client may send is below `UNKNOWN`."""
    assert Position(Configuration(0, 0)).sufficient_budget == UNKNOWN > 1 << 31


def test_positions_are_equal_if_they_are_one_object() -> None:
    one, other = Position(Configuration(1, 2)), Position(Configuration(1, 2))
    assert one == one
    assert one != other


VOCAB = vocabulary("12", "3 ", " 4", "5-", "ab", " a", "a ", "\\n", "é")


@pytest.mark.parametrize(
    ("pattern", "read", "at_once"),
    [
        ("[0-9]{4}-", "", True),
        ("[0-9]{4}-", "12", True),
        ("[0-9]+( [0-9]+)?", "1", True),
        ("[0-9]+ [a-z ]{20}", "1", False),  # many characters after a space
        ("[a-z]{20}", "a", False),
        ("[é-ÿ]{9}", "é", False),
        ("[\\\\n]{9}", "n", False),  # a backslash, as in strings
    ],
)
def test_a_walk_begins_at_once_where_few_bytes_may_come(
    pattern: str, read: str, at_once: bool
) -> None:
    grammar = compile_regex(pattern, VOCAB)
    matcher = grammar.matcher()
    assert matcher.accept_bytes(read.encode()) == len(read.encode())
    here = grammar.recognizer.position(configuration(grammar, read.encode()))
    grammar.recognizer.tables.leaves.expand(here.leaf, 1_000)
    walks: list[PrecomputedMask | None] = []
    assert grammar.walker.positions is not None
    grammar.walker.positions.find(here, lambda _, stopped: walks.append(stopped))
    assert (None not in walks) == at_once, "without, it is asked which rows are ready"
    tokens = {at for at, token in enumerate(VOCAB.tokens) if token}
    alone = {t for t in tokens if grammar.recognizer.advance(here.configuration, VOCAB.tokens[t])}
    assert allowed(matcher) & tokens == alone
