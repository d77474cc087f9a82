"""What is expected of the next answer, from the last ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine.admit.gate import ENOUGH, WINDOW, History


def history_of(*lengths: int) -> History:
    history = History()
    for length in lengths:
        history.note(output=length, steps=length, prompt=10, cached=0)
    return history


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 300), max_size=WINDOW + 60), st.integers(0, 300), st.integers(1, 300)
)
def test_history_is_of_the_last(lengths: list[int], done: int, cap: int) -> None:
    history = History()
    for length in lengths:
        history.note(output=length, steps=max(1, length // 2), prompt=10, cached=4)
    last = sorted(lengths[-WINDOW:])
    if len(last) < ENOUGH:
        assert history.reserved(cap) == cap
        assert history.expected(cap) == cap
        assert history.to_come(done, cap, 0.5) == max(1, cap - done)
        return
    reserved = history.reserved(10**6)
    assert sum(length <= reserved for length in last) >= 0.95 * len(last)
    assert sum(length < reserved for length in last) < 0.95 * len(last)
    assert history.expected(10**6) == pytest.approx(sum(last) / len(last))
    longer = [length - done for length in last if length > done] or [1]
    assert history.to_come(done, 10**6, 0.0) == longer[0]
    assert history.computed == pytest.approx(0.6)


TENS = history_of(*range(10, 410, 10))
"""Forty answers, of 10, 20 … 400 tokens."""


@pytest.mark.parametrize(("cap", "expected"), [(1000, 380), (380, 380), (379, 379), (1, 1)])
def test_nearly_all_answers_fit_into_what_is_reserved(cap: int, expected: int) -> None:
    """38 of 40 are 95 percent."""
    assert TENS.reserved(cap) == expected


@pytest.mark.parametrize(("cap", "expected"), [(1000, 205.0), (100, 100.0), (0, 1.0)])
def test_the_mean_is_expected_and_no_more_than_the_cap(cap: int, expected: float) -> None:
    assert TENS.expected(cap) == expected


@pytest.mark.parametrize(
    ("done", "cap", "share", "expected"),
    [
        (0, 1000, 0.0, 10),
        (0, 1000, 0.5, 210),
        (0, 1000, 0.99, 400),
        (0, 100, 0.5, 100),
        (200, 1000, 0.0, 10),
        (200, 1000, 0.5, 110),
        (205, 1000, 0.5, 105),
        (10, 1000, 0.0, 10),  # an answer of 10 isn't longer
        (395, 1000, 0.5, 5),
        (399, 1000, 0.5, 1),
        (400, 1000, 0.5, 1.0),  # longer than all: nothing is known
        (950, 1000, 0.5, 1.0),
        (1000, 1000, 0.5, 1.0),
    ],
)
def test_of_several_answers_one_ends_soon_and_one_late(
    done: int, cap: int, share: float, expected: float
) -> None:
    assert TENS.to_come(done, cap, share) == expected


def test_little_says_nothing() -> None:
    """Until there is enough, a request is taken by its cap, and its prompt as a whole."""
    history = history_of(*[5] * (ENOUGH - 1))
    assert (history.reserved(70), history.expected(70)) == (70, 70)
    assert history.to_come(20, 70, 0.5) == 50
    assert (history.expected(0), history.to_come(70, 70, 0.5)) == (1, 1)
    assert history.computed == 1.0
    history.note(output=5, steps=5, prompt=10, cached=0)
    assert (history.reserved(70), history.expected(70), history.to_come(1, 70, 0.5)) == (5, 5, 4)


def test_tokens_a_step_and_cached_prompts() -> None:
    history = History()
    assert history.a_step == 1.0
    for _ in range(ENOUGH):
        history.note(output=30, steps=10, prompt=100, cached=25)
    assert (history.a_step, history.computed) == (3.0, 0.75)
    for _ in range(WINDOW):
        history.note(output=5, steps=10, prompt=50, cached=40)
    assert history.a_step == 1.0, "a step never gives less than a token"
    assert history.computed == pytest.approx(0.2), "those before the window are forgotten"
