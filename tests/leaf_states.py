"""Leaf states read byte by byte, by the plain form of their rows."""

from __future__ import annotations

from collections.abc import Hashable

from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.table import LeafTable


def leaf_after(leaves: LeafTable, state: int, data: bytes) -> int:
    """The leaf state that `data` leads to from `state`, DEAD if there is none."""
    for byte in data:
        state = leaves.next_states(state).get(byte, DEAD)
        if state == DEAD:
            break
    return state


def label_after(leaves: LeafTable, state: int, data: bytes) -> Hashable:
    """The label of the leaf state that `data` leads to; None if it is dead or has none."""
    state = leaf_after(leaves, state, data)
    return None if state == DEAD else leaves.label_of(state)
