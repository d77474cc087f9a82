"""Automata over characters as the compiled code reads them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.character_dfa import CharacterDfa

UNKNOWN: Final = -2
"""The target of an ASCII character in a state whose transitions have not been found."""
NOWHERE: Final = -1

Int32 = npt.NDArray[np.int32]


class CharacterArrays(NamedTuple):
    ascii: Int32
    """[states, 128]: the next state, NOWHERE or UNKNOWN."""
    start: Int32
    stop: Int32
    """[states]: where a state's transitions stand in the next three; start < 0 if not found."""
    low: Int32
    high: Int32
    target: Int32
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
            start=np.zeros(0, np.int32),
            stop=np.zeros(0, np.int32),
            low=np.zeros(0, np.int32),
            high=np.zeros(0, np.int32),
            target=np.zeros(0, np.int32),
            loop_low=np.zeros(0, np.uint64),
            loop_high=np.zeros(0, np.uint64),
        )
        self._steps = 0
        self._states = 0

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)

    def update(self) -> CharacterArrays:
        """Take over what has been found since the last call."""
        states = len(self.automaton.terms)
        if states > len(self.arrays.start):
            more = max(states, 2 * len(self.arrays.start)) - len(self.arrays.start)
            self.arrays = self.arrays._replace(
                ascii=_longer(self.arrays.ascii, more, UNKNOWN),
                start=_longer(self.arrays.start, more, UNKNOWN),
                stop=_longer(self.arrays.stop, more, UNKNOWN),
                loop_low=_longer(self.arrays.loop_low, more, 0),
                loop_high=_longer(self.arrays.loop_high, more, 0),
            )
        found = self.automaton.found[self._states :]
        self._states += len(found)
        fresh = [(state, self.automaton.steps[state] or ()) for state in found]
        flat = np.array([step for _, steps in fresh for step in steps], np.int32).reshape(-1, 3)
        room = len(self.arrays.low) - self._steps
        if len(flat) > room:
            more = max(len(flat) - room, len(self.arrays.low))
            self.arrays = self.arrays._replace(
                low=_longer(self.arrays.low, more, 0),
                high=_longer(self.arrays.high, more, 0),
                target=_longer(self.arrays.target, more, 0),
            )
        arrays = self.arrays
        at = self._steps
        arrays.low[at : at + len(flat)] = flat[:, 0]
        arrays.high[at : at + len(flat)] = flat[:, 1]
        arrays.target[at : at + len(flat)] = flat[:, 2]
        for state, steps in fresh:
            row = arrays.ascii[state]
            row[:] = NOWHERE
            for low, high, target in steps:
                if low > 0x7F:
                    break
                row[low : high + 1] = target
            loops = row == state
            loops[:0x20] = False
            loops[0] = _loops_beyond_ascii(state, steps)
            bits = np.packbits(loops, bitorder="little").view(np.uint64)
            arrays.loop_low[state], arrays.loop_high[state] = bits
            arrays.start[state], arrays.stop[state] = at, at + len(steps)
            at += len(steps)
        self._steps = at
        return arrays


def _loops_beyond_ascii(state: int, steps: tuple[tuple[int, int, int], ...]) -> bool:
    """Whether every character outside ASCII leads from a state to itself."""
    reached = 0x80
    for low, high, target in steps:
        if high >= reached:
            if target != state or low > reached:
                return False
            reached = 0xE000 if 0xD800 <= high + 1 < 0xE000 else high + 1
    return reached > charset.LAST


def _longer(array: npt.NDArray[Any], more: int, fill: int) -> npt.NDArray[Any]:
    return np.concatenate([array, np.full((more, *array.shape[1:]), fill, array.dtype)])
