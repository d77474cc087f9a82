"""Character automata as arrays: they say what the automaton says, however it has been explored."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import astuple

from maskwright.automaton.leaf.character_arrays import FOUND, NOWHERE, UNKNOWN, Characters
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.character_dfa import CharacterDfa
from maskwright.grammar.regular.derivative import split
from maskwright.grammar.regular.terms import EMPTY

PATTERNS = [
    "[a-z]+[0-9]{2}",
    "[^<]*<end>",
    "[^]*x",
    "[^a-z]*",
    "[\\u0001-\\u007f]*é*",
    "a|日+|\\x01*",
]


def automaton(pattern: str) -> CharacterDfa:
    return CharacterDfa(full_match(pattern), split)


def target(found: CharacterDfa, state: int, point: int) -> int:
    steps = found.splits[state]
    assert steps is not None
    after = steps.after(point)
    return NOWHERE if after is EMPTY else found.number(after)


POINTS = [*range(128), 0x80, 0xE8, 0xE9, 0xEA, 0x65E5, 0xD7FF, 0xE000, 0x10FFFF]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_transitions_are_those_of_the_automaton(pattern: str) -> None:
    found = automaton(pattern)
    characters = Characters(found)
    while not found.complete:
        found.explore(1)
        assert characters.update() is characters.arrays
    arrays = characters.arrays
    for state in found.found:
        assert arrays.ascii[state].tolist() == [target(found, state, p) for p in range(128)]
        for point in POINTS[128:]:
            interval = int(np.searchsorted(arrays.start, point, side="right")) - 1
            after = arrays.beyond[state, arrays.of_interval[interval]]
            assert after == target(found, state, point)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_loops_are_the_characters_that_lead_back(pattern: str) -> None:
    found = automaton(pattern)
    found.explore(100)
    arrays = Characters(found).update()
    for state in found.found:
        bits = int(arrays.loop_high[state]) << 64 | int(arrays.loop_low[state])
        loops = {point for point in range(1, 128) if bits >> point & 1}
        expected = {p for p in range(0x20, 128) if target(found, state, p) == state}
        assert loops == expected
        beyond = range(0x80, 0x110000, 0x3F)
        every = all(target(found, state, p) == state for p in (*beyond, *POINTS[128:])
                    if not 0xD800 <= p < 0xE000)  # fmt: skip
        assert bool(bits & 1) == every


def test_states_that_have_not_been_explored_are_unknown() -> None:
    found = automaton("ab|cd|ef")
    characters = Characters(found)
    found.explore(1)
    arrays = characters.update()
    others = [state for state in range(len(found.terms)) if state not in found.found]
    assert others
    assert {int(arrays.known[state]) for state in others} == {UNKNOWN}
    assert {int(each) for state in others for each in arrays.ascii[state]} == {UNKNOWN}
    found.find(others[-1])
    arrays = characters.update()
    assert arrays.known[others[-1]] == FOUND
    assert [int(arrays.known[state]) for state in others[:-1]] == [UNKNOWN] * (len(others) - 1)
    assert characters.nbytes == sum(array.nbytes for array in astuple(arrays))
