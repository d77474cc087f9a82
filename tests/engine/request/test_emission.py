"""Text that is sent is final, and stop strings never are."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.engine.request.emission import Emitter
from maskwright.engine.request.stops import START, StopAutomaton


def emit(pieces: list[bytes], stops: list[str]) -> tuple[list[str], bool]:
    """What is sent after each piece, then at the end; pieces after a stop are not generated."""
    emitter = Emitter(StopAutomaton(stops) if stops else None)
    sent = []
    for piece in pieces:
        sent.append(emitter.push(piece))
        if emitter.stopped:
            break
    sent.append(emitter.finish())
    return sent, emitter.stopped


CASES = [
    ([b"ab", b"cd"], [], ["ab", "cd", ""], False),
    ([b"\xe6\x97", b"\xa5!"], [], ["", "日!", ""], False),
    ([b"a\xe6\x97"], [], ["a", "\ufffd"], False),
    ([b"a\xff", b"b"], [], ["a\ufffd", "b", ""], False),
    ([b"ab", b"cd", b"ef"], ["cd"], ["ab", "", ""], True),
    ([b"abc", b"d"], ["cd"], ["ab", "", ""], True),
    ([b"abc", b"x"], ["cd"], ["ab", "cx", ""], False),
    ([b"abc"], ["cd"], ["ab", "c"], False),
    ([b"aaab"], ["aab"], ["a", ""], True),
    ([b"aab", b"aac"], ["aabaac"], ["", "", ""], True),
    ([b"aab", b"aab", b"aac"], ["aabaac"], ["", "aab", "", ""], True),
    ([b"x\xe6", b"\x97\xa5y"], ["日"], ["x", "", ""], True),
    ([b"one stop two"], ["stop", "one stop t"], ["one ", ""], True),
    ([b"abcd"], ["abcde", "bc"], ["a", ""], True),
    ([b"she"], ["he", "she"], ["", ""], True),
    ([b"\xe6\x97"], ["\ufffd"], ["", ""], True),
]


@pytest.mark.parametrize(("pieces", "stops", "sent", "stopped"), CASES)
def test_cases(pieces: list[bytes], stops: list[str], sent: list[str], stopped: bool) -> None:
    assert emit(pieces, stops) == (sent, stopped)


def naive(text: str, stops: list[str]) -> tuple[str, bool]:
    """Cut at the stop string that ends first; of those that end there, at the longest."""
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            return text[: end - max(map(len, found))], True
    return text, False


PIECES = st.lists(st.text("ab日", max_size=6).map(str.encode), max_size=12)
STOPS = st.lists(st.text("ab日", min_size=1, max_size=4), min_size=1, max_size=4)


@given(PIECES, STOPS, st.lists(st.integers(0, 60), max_size=8))
def test_any_cutting_gives_the_naive_text(
    pieces: list[bytes], stops: list[str], cuts: list[int]
) -> None:
    data = b"".join(pieces)
    edges = sorted({0, len(data), *(c for c in cuts if c < len(data))})
    sent, stopped = emit([data[a:b] for a, b in pairwise(edges)], stops)
    assert ("".join(sent), stopped) == naive(data.decode(), stops)


@given(PIECES, STOPS)
def test_no_more_is_held_back_than_must_be(pieces: list[bytes], stops: list[str]) -> None:
    """What is held is the longest end of the text that begins a stop string."""
    emitter, text, sent = Emitter(StopAutomaton(stops)), "", ""
    for piece in pieces:
        text += piece.decode()
        sent += emitter.push(piece)
        if emitter.stopped:
            return
        held = max(
            (n for stop in stops for n in range(len(stop)) if text.endswith(stop[:n])), default=0
        )
        assert sent == text[: len(text) - held]


def test_a_stop_inside_another_is_found() -> None:
    automaton = StopAutomaton(["abcd", "bc"])
    state = START
    for character in "abc":
        state = automaton.step(state, character)
    assert (automaton.matched(state), automaton.depth(state)) == (2, 3)


def test_a_stop_string_can_be_part_of_the_text() -> None:
    emitter = Emitter(StopAutomaton(["cd"]), include_stop=True)
    assert [emitter.push(b"abc"), emitter.push(b"def"), emitter.finish()] == ["ab", "cd", ""]
    assert emitter.stopped


@pytest.mark.parametrize("include", [False, True])
def test_which_string_stopped_the_text(include: bool) -> None:
    emitter = Emitter(StopAutomaton(["bc", "cde"]), include_stop=include)
    assert emitter.stop is None
    for piece in (b"abd", b"c", b"d", b"e", b"bc"):
        emitter.push(piece)
    assert (emitter.stop, emitter.stopped) == ("cde", True)


def test_a_stop_string_that_begins_too_early_is_text() -> None:
    emitter = Emitter(StopAutomaton(["bc"]))
    sent = [emitter.push(b"abc", stops=False), emitter.push(b"b", stops=False)]
    assert [*sent, emitter.push(b"ca"), emitter.push(b"bc")] == ["abc", "b", "ca", ""]
    assert emitter.stopped
