"""The DFA of a term written out: numbered states, and how long their strings are.

The automaton of a `LengthBounded` term (a pattern within length bounds) would have a copy of its
states for each number of characters left. The automaton of its core is written out instead, once,
with the lengths that the strings of each state can have: they say whether a string of an allowed
length can still follow.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from functools import cached_property
from typing import Final
from weakref import ref

import numpy as np
import numpy.typing as npt

from maskwright.garbage import hide
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.character_classes import BEYOND_ASCII, sample, size
from maskwright.grammar.regular.overlay import Split
from maskwright.grammar.regular.terms import Regular
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, spend

MOST_STATES: Final = 1_024
"""States up to which an automaton is written out in full."""
MOST_LENGTHS: Final = 1 << 20
"""Entries of `fewest` up to which least lengths are followed."""
NEVER: Final = 1 << 30
"""More characters than any string has."""

Int32 = npt.NDArray[np.int32]

_ESCAPE: Final = 6
"""Bytes of `\\u0000`."""


class LatestText(Acyclic):
    """A shortest string of `least` or more characters, with the state before each of them."""

    text: str
    least: int
    states: list[int]

    def passes(self, state: int, least: int, length: int) -> bool:
        """Whether its last `length` characters are what is found from a state for `least` or more
        characters."""
        read = len(self.text) - length
        return read >= 0 and self.states[read] == state and max(self.least - read, 0) == least


class CharacterDfa:
    """What has been seen of the automaton of `root`; state 0 is `root` itself. Grows only."""

    def __init__(
        self, root: Regular, split: Callable[[Regular], Split], *, marks: bool = True
    ) -> None:
        """`marks`: whether this is the automaton that `known_place` finds for its terms. One to
        which terms are added (`add`) marks none: what is asked of a complete one would change."""
        self.terms: list[Regular] = []
        self.splits: list[Split | None] = []
        """By state: its transitions, None where they have not been asked for."""
        self.found: list[int] = []
        """The states whose transitions are known, in the order in which they were found."""
        self._successors: dict[int, tuple[int, ...]] = {}
        self._split = split
        self._marks = marks
        self._is_asked = False
        """Whether somebody waits for the answer of `can_measure`."""
        self._numbers: dict[Regular, int] = {}
        self._seen: deque[int] = deque()
        self._reference = ref(self)
        self.moves: dict[int, tuple[tuple[str, int], ...]] = {}
        """By state: the characters that are tried for a shortest string, each with the state after
        it, as far as they have been asked for."""
        self.latest = LatestText("", 0, [])
        """The latest string that was found. Completions of one place differ in their first
        characters, and may have thousands in common."""
        self._number(root)

    @property
    def complete(self) -> bool:
        """Whether every state's transitions are known."""
        while self._seen and self.splits[self._seen[0]] is not None:
            self._seen.popleft()
        return not self._seen

    def explore(
        self, most: int, most_ranges: float = math.inf, most_seen: float = math.inf
    ) -> None:
        """Find the transitions of up to `most` more states, nearest first; of fewer if these have
        `most_ranges` ranges and sets of characters, or once more than `most_seen` states are known
        to be there."""
        while most > 0 and most_ranges > 0 and len(self.terms) <= most_seen and not self.complete:
            # This may be abandoned; `complete` drops the state once it is found.
            most_ranges -= self.find(self._seen[0])
            most -= 1

    def find(self, state: int) -> int:
        """Find the transitions of one state. Returns how many ranges and sets of characters they
        have."""
        found = self.splits[state]
        if found is None:
            spend()
            found = self._split(self.terms[state])
            self._successors[state] = tuple(map(self._number, found.targets))
            self.splits[state] = found
            self.found.append(state)
        return len(found.ascii) + len(found.beyond)

    def number(self, term: Regular) -> int:
        """The number of a state."""
        return self._numbers[term]

    def knows(self, term: Regular) -> bool:
        """Whether a term is known to be a state."""
        return term in self._numbers

    def add(self, term: Regular) -> int:
        """The number of a term, which becomes a state if it is none."""
        assert not self._marks
        return self._number(term)

    def can_measure(self, least: int) -> bool:
        """Whether `fewest` can be asked for this length. It can't while that is being found out:
        whether a string of some length leads on from a state may be part of the question."""
        if self._is_asked:
            return False
        self._is_asked = True
        try:
            self.explore(max(0, MOST_STATES - len(self.terms)), most_seen=MOST_STATES)
        finally:
            self._is_asked = False
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
        spend(1 + len(self.terms) // 16)
        before: list[list[int]] = [[] for _ in self.terms]
        for state, targets in self._successors.items():
            for target in targets:
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
        pairs = sorted((s, t) for s, targets in self._successors.items() for t in targets)
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
        total = {state for state, found in enumerate(self.splits) if found and is_total(found)}
        while True:
            spend(CHEAP * len(total))
            kept = {s for s in total if all(t in total for t in self._successors[s])}
            if kept == total:
                return frozenset(kept)
            total = kept

    @cached_property
    def widest(self) -> int:
        """Bytes that a character of a shortest string takes at most, as JSON spells it. Asked for
        when complete."""
        known = [found for found in self.splits if found is not None]
        points = {charset.readable(low, high) for found in known for low, high, _ in found.ascii}
        points.update(
            sample(some) for some in {some for found in known for some, _ in found.beyond}
        )
        escaped = any(point < 0x20 or point in (0x22, 0x5C) for point in points)
        wide = max((len(chr(p).encode("utf-8", "surrogatepass")) for p in points), default=1)
        return wide * (_ESCAPE if escaped else 1)

    def _number(self, term: Regular) -> int:
        known = self._numbers.get(term)
        if known is not None:
            return known
        number = self._numbers[term] = len(self.terms)
        self.terms.append(term)
        self.splits.append(None)
        self._seen.append(number)
        if self._marks and known_place(term) is None:
            term.place = hide((self._reference, number))
        return number


def known_place(term: Regular) -> tuple[CharacterDfa, int] | None:
    """The automaton that `term` is known to be a state of, and its number there."""
    if term.place is None:
        return None
    automaton = term.place[0]()
    return None if automaton is None else (automaton, term.place[1])


def is_total(found: Split) -> bool:
    """Whether every character has a transition."""
    return (
        sum(high - low + 1 for low, high, _ in found.ascii) == 0x80
        and sum(size(some) for some, _ in found.beyond) == BEYOND_ASCII
    )
