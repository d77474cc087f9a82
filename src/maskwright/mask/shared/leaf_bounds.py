"""Tokens that can certainly complete a text: rough bounds, as sums over leaf and stack.

A walk adds them up for each token that it allows (`mask.walk`), so that a mask under an ample
budget costs hardly more than one without. Where a bound is `ENDLESS`, or above the budget, the
exact search in `mask.budget` decides.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.finish.completion import Finisher
from maskwright.automaton.leaf.keys import (
    Choice,
    Continuation,
    Dead,
    End,
    Escape,
    Hex,
    Limited,
    Literal,
    LowHex,
    LowSurrogate,
    Padded,
    Partial,
    Spaced,
    Text,
)
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.value.witness_text import spelled
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import Parallel, Regular, Vector
from maskwright.limits import Limits

ENDLESS: Final = 1 << 24
_UNKNOWN: Final = -1

Int32 = npt.NDArray[np.int32]


class LeafNeeds:
    """For each leaf state the bytes, and so tokens, after which it can be left; shared as it is.

    Inside a property name that is none: the bounds of contexts count whole names.
    """

    def __init__(self) -> None:
        self.array: Int32 = np.full(256, _UNKNOWN, np.int32)

    def reach(self, size: int) -> None:
        """Make room for `size` states."""
        self.array = _reaching(self.array, size)

    def find(self, leaves: LeafTable, leaf: int, limits: Limits) -> int:
        """Fill in what a walk asked for."""
        known = int(self.array[leaf]) if leaf < len(self.array) else _UNKNOWN
        if known == _UNKNOWN:
            known = min(self._of(leaves, leaf, limits), ENDLESS)
            self.reach(leaf + 1)
            self.array[leaf] = known
        return known

    def _of(self, leaves: LeafTable, leaf: int, limits: Limits) -> int:
        match leaves.keys[leaf]:
            case Text(inside=inside, term=term):
                return 0 if _is_name(term) else _rest(term, inside, limits)
            case Partial() | Escape() | Hex() | LowHex() | LowSurrogate() as key:
                if _is_name(key.term):
                    return 0
                return 1 + self.find(leaves, min(leaves.next_states(leaf).values()), limits)
            case Continuation(left=left, target=target):
                return left + self.find(leaves, target, limits)
            case Limited(target=target):
                return 1 + self.find(leaves, target, limits)
            case Literal(data=data, target=target):
                return len(data) + self.find(leaves, target, limits)
            case Padded(target=target):
                return self.find(leaves, target, limits)
            case Choice(marks=marks):  # which may be the colon behind a name
                ways = (1 + self.find(leaves, target, limits) for _, target in marks)
                return max(ways, default=0)
            case End() | Spaced() | Dead():
                return 0
            case _:
                return ENDLESS


class NodeNeeds:
    """For each stack node the tokens that complete the text once its leaf has been left."""

    def __init__(self, machine: Machine, finisher: Finisher) -> None:
        self.array: Int32 = np.full(256, _UNKNOWN, np.int32)
        self._machine = machine
        self._finisher = finisher
        self._behind: dict[int, int] = {-1: 0}

    def reach(self, size: int) -> None:
        """Make room for `size` nodes."""
        self.array = _reaching(self.array, size)

    def find(self, node: int) -> None:
        """Fill in what a walk asked for."""
        arrays = self._machine.arrays
        bound = self._finisher.bound(int(arrays.node_context[node]))
        total = ENDLESS
        if bound is not None:
            total = bound.after_leaf + self._levels_below(int(arrays.node_parent[node]))
        self.array[node] = min(total, ENDLESS)

    def _levels_below(self, node: int) -> int:
        """What completes the levels from `node` down, once a value in it has been read."""
        known = self._behind.get(node)
        if known is None:
            arrays = self._machine.arrays
            bound = self._finisher.bound(int(arrays.node_context[node]))
            known = ENDLESS
            if bound is not None:
                known = bound.after_value + self._levels_below(int(arrays.node_parent[node]))
            self._behind[node] = known
        return known


def _is_name(term: Regular) -> bool:
    return isinstance(term, Vector) and term.named


def _rest(term: Regular, inside: bool, limits: Limits) -> int:
    if isinstance(term, Parallel):
        return ENDLESS
    text = shortest(term, limits.witness_search)
    if text is None:
        return ENDLESS
    return len((spelled(text)[1:] if inside else text).encode("utf-8", "surrogatepass"))


def _reaching(array: Int32, size: int) -> Int32:
    if size <= len(array):
        return array
    longer = np.full(max(size, 2 * len(array)), _UNKNOWN, np.int32)
    longer[: len(array)] = array
    return longer
