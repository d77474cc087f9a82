"""Automata over characters as the compiled code reads them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import astuple, replace

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.character_dfa import CharacterDfa
from maskwright.grammar.regular.overlay import Split
from maskwright.grammar.regular.terms import Chars
from maskwright.immutable import Acyclic

UNKNOWN: Final = -2
"""The target of a character in a state whose transitions have not been found."""
NOWHERE: Final = -1
FOUND: Final = 0
_FIRST: Final = 0x80
_SURROGATES: Final = 1
"""The class of halves of surrogate pairs, which are no characters."""

Int32 = npt.NDArray[np.int32]


class CharacterArrays(Acyclic):
    ascii: Int32
    """[states, 128]: the next state, NOWHERE or UNKNOWN."""
    known: Int32
    """[states]: FOUND if a state's transitions have been found, else UNKNOWN."""
    start: Int32
    """[intervals]: characters outside ASCII fall into intervals; each begins here and ends before
    the next."""
    of_interval: Int32
    """[intervals]: the class of an interval's characters. Characters of one class are
    interchangeable."""
    beyond: Int32
    """[states, classes]: the next state after a character outside ASCII, NOWHERE or UNKNOWN."""
    loop_low: npt.NDArray[np.uint64]
    loop_high: npt.NDArray[np.uint64]
    """[states]: the characters that lead from a state to itself: bit n of the first for the ASCII
    character n < 64, of the second for n - 64; bit 0 if all characters outside ASCII do. Control
    characters, which JSON escapes, are left out."""


class Characters:
    """The arrays of one `CharacterDfa`, kept up with it."""

    def __init__(self, automaton: CharacterDfa) -> None:
        self.automaton = automaton
        self.arrays = CharacterArrays(
            ascii=np.zeros((0, 128), np.int32),
            known=np.zeros(0, np.int32),
            start=np.array([_FIRST, 0xD800, 0xE000], np.int32),
            of_interval=np.array([0, _SURROGATES, 0], np.int32),
            beyond=np.zeros((0, 2), np.int32),
            loop_low=np.zeros(0, np.uint64),
            loop_high=np.zeros(0, np.uint64),
        )
        self._classes: dict[Chars, Int32] = {}
        """The classes that each set of characters consists of."""
        self._states = 0

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in astuple(self.arrays))

    def update(self) -> CharacterArrays:
        """Take over what has been found since the last call."""
        self._make_room(len(self.automaton.terms))
        fresh = self.automaton.found[self._states :]
        self._states += len(fresh)
        splits = [(state, self.automaton.splits[state]) for state in fresh]
        sets = {some for _, found in splits if found for some, _ in found.beyond}
        unknown = [some for some in sets if some not in self._classes]
        if unknown:
            self._distinguish(unknown)
        for state, found in splits:
            if found is not None:
                self._enter(state, found)
        return self.arrays

    def _make_room(self, states: int) -> None:
        arrays = self.arrays
        if states > len(arrays.known):
            more = max(states, 2 * len(arrays.known)) - len(arrays.known)
            self.arrays = replace(
                arrays,
                ascii=_longer(arrays.ascii, more, UNKNOWN),
                known=_longer(arrays.known, more, UNKNOWN),
                beyond=_longer(arrays.beyond, more, UNKNOWN),
                loop_low=_longer(arrays.loop_low, more, 0),
                loop_high=_longer(arrays.loop_high, more, 0),
            )

    def _distinguish(self, sets: list[Chars]) -> None:
        """Refine the classes so that each of `sets` consists of whole ones."""
        arrays = self.arrays
        edges = [np.array(some.ranges, np.int64) for some in sets]
        cuts = np.concatenate([arrays.start, *(np.append(e[:, 0], e[:, 1] + 1) for e in edges)])
        start = np.unique(cuts[(cuts >= _FIRST) & (cuts <= charset.LAST)])
        before = arrays.of_interval[np.searchsorted(arrays.start, start, side="right") - 1]
        of_interval = before.astype(np.int64)
        memberships: list[npt.NDArray[np.bool_]] = []
        for ranges in edges:
            at = np.searchsorted(ranges[:, 0], start, side="right") - 1
            inside = (at >= 0) & (start <= ranges[np.maximum(at, 0), 1])
            memberships.append(inside & (before != _SURROGATES))
            _, of_interval = np.unique(of_interval * 2 + memberships[-1], return_inverse=True)
        # Surrogates keep their number, so that no set needs to name them.
        lone = of_interval[before == _SURROGATES][0]
        swap = np.arange(int(of_interval.max()) + 1)
        swap[[lone, _SURROGATES]] = _SURROGATES, lone
        of_interval = swap[of_interval]
        origin = np.zeros(len(swap), np.int64)
        origin[of_interval] = before
        self._classes = {
            some: np.flatnonzero(np.isin(origin, classes)).astype(np.int32)
            for some, classes in self._classes.items()
        }
        for some, inside in zip(sets, memberships, strict=True):
            self._classes[some] = np.unique(of_interval[inside]).astype(np.int32)
        self.arrays = replace(
            arrays,
            start=start.astype(np.int32),
            of_interval=of_interval.astype(np.int32),
            beyond=np.ascontiguousarray(arrays.beyond[:, origin]),
        )

    def _enter(self, state: int, found: Split) -> None:
        arrays, number = self.arrays, self.automaton.number
        row, beyond = arrays.ascii[state], arrays.beyond[state]
        row[:] = beyond[:] = NOWHERE
        for low, high, target in found.ascii:
            row[low : high + 1] = number(target)
        for some, target in found.beyond:
            beyond[self._classes[some]] = number(target)
        loops = row == state
        loops[:0x20] = False
        others = beyond == state
        others[_SURROGATES] = True
        loops[0] = others.all()
        bits = np.packbits(loops, bitorder="little").view(np.uint64)
        arrays.loop_low[state], arrays.loop_high[state] = bits
        arrays.known[state] = FOUND


def _longer(array: npt.NDArray[Any], more: int, fill: int) -> npt.NDArray[Any]:
    return np.concatenate([array, np.full((more, *array.shape[1:]), fill, array.dtype)])
