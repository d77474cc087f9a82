"""The automaton of stop strings, against looking at the end of the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.engine.request.stops import START, StopAutomaton

TEXTS: list[tuple[list[str], str, list[int], list[int]]] = [
    # stops, text, and after each character: what may still become a stop, what has matched
    (["ab"], "aab", [1, 1, 2], [0, 0, 2]),
    (["aab"], "aaab", [1, 2, 2, 3], [0, 0, 0, 3]),
    (["abcd", "bc"], "abce", [1, 2, 3, 0], [0, 0, 2, 0]),
    (["he", "she", "hers"], "shers", [1, 2, 3, 3, 4], [0, 0, 3, 0, 4]),
    (["aabaac"], "aabaabaac", [1, 2, 3, 4, 5, 3, 4, 5, 6], [0] * 8 + [6]),
    (["日本"], "日日本", [1, 1, 2], [0, 0, 2]),
    (["a", "aa"], "aa", [1, 2], [1, 2]),
    ([], "ab", [0, 0], [0, 0]),
]


@pytest.mark.parametrize(("stops", "text", "depths", "matches"), TEXTS)
def test_states(stops: list[str], text: str, depths: list[int], matches: list[int]) -> None:
    automaton = StopAutomaton(stops)
    state = START
    found: list[tuple[int, int]] = []
    for character in text:
        state = automaton.step(state, character)
        found.append((automaton.depth(state), automaton.matched(state)))
    assert found == list(zip(depths, matches, strict=True))


@given(st.lists(st.text("ab", min_size=1, max_size=4), max_size=4), st.text("abc", max_size=12))
def test_it_is_looking_at_the_end(stops: list[str], text: str) -> None:
    automaton = StopAutomaton(stops)
    state = START
    begun = {stop[:size] for stop in stops for size in range(1, len(stop) + 1)}
    for end, character in enumerate(text, 1):
        state = automaton.step(state, character)
        ends = [text[start:end] for start in range(end)]
        assert automaton.depth(state) == max((len(e) for e in ends if e in begun), default=0)
        assert automaton.matched(state) == max((len(e) for e in ends if e in stops), default=0)
