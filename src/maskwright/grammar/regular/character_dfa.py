"""The DFA of a term written out: numbered states, and how long their strings are.

The automaton of a `LengthBounded` term (a pattern within length bounds) would have a copy of its
states for each number of characters left. The automaton of its core is written out instead, once,
with the lengths that the strings of each state can have: they say whether a string of an allowed
length can still follow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final
from weakref import ref

import numpy as np
import numpy.typing as npt

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.terms import Regular
from maskwright.limits import CHEAP, spend

MOST_STATES: Final = 1_024
"""States up to which an automaton is written out in full."""
MOST_LENGTHS: Final = 1 << 20
"""Entries of `fewest` up to which least lengths are followed."""
NEVER: Final = 1 << 30
"""More characters than any string has."""

Arc = tuple[int, int, Regular]
Int32 = npt.NDArray[np.int32]

_ESCAPE: Final = 6
"""Bytes of `\\u0000`."""

_SURROGATES: Final = ((0xD800, 0xDFFF),)


class CharacterDfa:
    """What has been seen of the automaton of `root`; state 0 is `root` itself. Grows only."""

    def __init__(self, root: Regular, arcs: Callable[[Regular], Sequence[Arc]]) -> None:
        self.terms: list[Regular] = []
        self.steps: list[tuple[tuple[int, int, int], ...] | None] = []
        """By state: (low, high, target), None where it has not been asked for."""
        self.found: list[int] = []
        """The states whose transitions are known, in the order in which they were found."""
        self._arcs = arcs
        self._numbers: dict[Regular, int] = {}
        self._seen: deque[int] = deque()
        self._reference = ref(self)
        self._number(root)

    @property
    def complete(self) -> bool:
        """Whether every state's transitions are known."""
        while self._seen and self.steps[self._seen[0]] is not None:
            self._seen.popleft()
        return not self._seen

    def explore(self, most: int) -> None:
        """Find the transitions of up to `most` more states, nearest first."""
        while most and not self.complete:
            self.find(self._seen[0])  # which may be abandoned; `complete` drops it once it is found
            most -= 1

    def find(self, state: int) -> None:
        """Find the transitions of one state."""
        if self.steps[state] is None:
            spend()
            found = self._arcs(self.terms[state])
            self.steps[state] = tuple((low, high, self._number(t)) for low, high, t in found)
            self.found.append(state)

    def can_measure(self, least: int) -> bool:
        """Whether `fewest` can be asked for this length."""
        self.explore(max(0, MOST_STATES - len(self.terms)))
        return self.complete and (least + 1) * len(self.terms) <= MOST_LENGTHS

    def fewest(self, least: int) -> Int32:
        """[lengths, states]: row n is the length of each state's shortest string of n or more
        characters, NEVER if it has none; for n up to at least `least`. Asked for when complete."""
        while len(self._lengths) <= least:
            spend(1 + CHEAP * len(self.terms) / 8)
            self._lengths = np.vstack([self._lengths, self._one_more(self._lengths[-1])])
        return self._lengths

    @cached_property
    def _lengths(self) -> Int32:
        """The first row, by search backwards from the ends."""
        before: list[list[int]] = [[] for _ in self.terms]
        for state, steps in enumerate(self.steps):
            for _, _, target in steps or ():
                before[target].append(state)
        found = np.full((1, len(self.terms)), NEVER, np.int32)
        near = [state for state, term in enumerate(self.terms) if term.nullable]
        distance = 0
        while near:
            spend(CHEAP * len(near))
            found[0, near] = distance
            distance += 1
            near = list({s for n in near for s in before[n] if found[0, s] == NEVER})
        return found

    @cached_property
    def _edges(self) -> tuple[Int32, Int32]:
        """(source, target) of all transitions, by source."""
        pairs = sorted({(s, t) for s, steps in enumerate(self.steps) for _, _, t in steps or ()})
        edges = np.array(pairs, np.int32).reshape(-1, 2)
        return edges[:, 0], edges[:, 1]

    def _one_more(self, lengths: Int32) -> Int32:
        source, target = self._edges
        found = np.full(len(self.terms), NEVER, np.int32)
        np.minimum.at(found, source, np.minimum(lengths[target] + 1, NEVER))
        return found

    @cached_property
    def free(self) -> frozenset[int]:
        """The states after which any characters may come, for ever. Asked for when complete."""
        total = {
            state
            for state, steps in enumerate(self.steps)
            if charset.union(tuple((low, high) for low, high, _ in steps or ()), _SURROGATES)
            == charset.EVERY
        }
        while True:
            spend(CHEAP * len(total))
            kept = {s for s in total if all(t in total for _, _, t in self.steps[s] or ())}
            if kept == total:
                return frozenset(kept)
            total = kept

    @cached_property
    def widest(self) -> int:
        """Bytes that a character of a shortest string takes at most, as JSON spells it. Asked for
        when complete."""
        points = {charset.readable(low, high) for s in self.steps for low, high, _ in s or ()}
        escaped = any(point < 0x20 or point in (0x22, 0x5C) for point in points)
        wide = max((len(chr(p).encode("utf-8", "surrogatepass")) for p in points), default=1)
        return wide * (_ESCAPE if escaped else 1)

    def _number(self, term: Regular) -> int:
        known = self._numbers.get(term)
        if known is not None:
            return known
        number = self._numbers[term] = len(self.terms)
        self.terms.append(term)
        self.steps.append(None)
        self._seen.append(number)
        if known_place(term) is None:
            term.place = (self._reference, number)
        return number


def known_place(term: Regular) -> tuple[CharacterDfa, int] | None:
    """The automaton that `term` is known to be a state of, and its number there."""
    if term.place is None:
        return None
    automaton = term.place[0]()
    return None if automaton is None else (automaton, term.place[1])
