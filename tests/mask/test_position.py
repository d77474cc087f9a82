"""Configurations as compiled code gives them, and what a new position doesn't know yet."""

from __future__ import annotations

import pytest

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.position import UNKNOWN, Position, unpacked

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
    assert position.configuration == (3, 4)
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
