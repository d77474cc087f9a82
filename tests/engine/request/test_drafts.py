"""Drafts from what was written before."""

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine.request.drafts import SIZES, LookBack


def oracle(tokens: list[int], length: int) -> list[int]:
    """After the last earlier place of the longest ending that has one."""
    for size in SIZES:
        ending = tokens[-size:]
        for place in range(len(tokens) - 1, size - 1, -1):
            if len(ending) == size and tokens[place - size : place] == ending:
                return tokens[place : place + length]
    return []


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=40), st.integers(1, 7))
def test_proposals_are_what_followed_last_time(tokens: list[int], step: int) -> None:
    drafter = LookBack(8)
    for end in range(0, len(tokens) + 1, step):
        assert drafter.propose(tokens[:end]) == oracle(tokens[:end], 2)


@pytest.mark.parametrize("before", [10, 5_000, 70_000])
def test_long_texts_have_drafts_as_short_ones(before: int) -> None:
    """However much was written before, a text that repeats itself is guessed, and at full length;
    also what stood at the very beginning."""
    beginning = [-1, -2, -3, -4, -5, -6]
    text = [*beginning, *range(before)]
    drafter = LookBack(8)
    right = 0
    for _ in range(300):
        draft = drafter.propose(text)
        true = [before + 1_000_000 + (len(text) + ahead) % 23 for ahead in range(9)]
        matched = [*map(operator.eq, draft, true), False].index(False)
        if draft:
            drafter.judge(len(draft), matched)
        right += matched
        text += true[: matched + 1]
    assert right > 250 * 8
    assert drafter.propose([*text, *beginning[:4]])[:2] == beginning[4:]


def test_length_follows_success() -> None:
    drafter = LookBack(8)
    tokens = list(range(20)) * 2
    lengths = []
    for accepted in (2, 4, 8, 3, 0):
        draft = drafter.propose(tokens[:24])
        lengths.append(len(draft))
        drafter.judge(len(draft), min(accepted, len(draft)))
    assert lengths == [2, 4, 8, 8, 4]
    assert drafter.propose(tokens[:24]) == [], "after a failure it rests"
    assert len(drafter.propose(tokens[:24])) == 2
    assert (drafter.proposed, drafter.accepted) == (26, 17)
