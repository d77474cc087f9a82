"""A matcher that counts the tokens of bounded texts, also when it goes back."""

from __future__ import annotations

import pytest

from maskwright import compile_structural_tag
from maskwright.mask.matcher.counting import CountingMatcher
from tests.mask.compile.test_tags import tag_of
from tests.matching import allowed, vocabulary

VOCAB = vocabulary("xx", alphabet="bxe<!")
"""Its first tokens are b x e < !, then xx and the end token."""
B, X, XX = 0, 1, 5
TEXT = {"type": "any_text", "max_tokens": 3}
TAG = tag_of({"type": "tag", "begin": "b", "content": TEXT, "end": "<e"})


@pytest.mark.parametrize(
    ("first", "undone", "second"),
    [
        ([X, X, X], 3, [X]),
        ([X, X], 1, [XX]),
        ([XX, X, XX], 2, [X]),
        ([X, X, X], 1, [X]),
        ([X], 1, [X, X, X]),
    ],
)
def test_tokens_that_are_rolled_back_count_no_longer(
    first: list[int], undone: int, second: list[int]
) -> None:
    grammar = compile_structural_tag(TAG, VOCAB)
    matcher = grammar.matcher()
    assert isinstance(matcher, CountingMatcher)
    assert all(matcher.accept(token) for token in [B, *first])
    matcher.rollback(undone)
    assert all(matcher.accept(token) for token in second)
    fresh = grammar.matcher()
    stays = first[: len(first) - undone] + second
    assert all(fresh.accept(token) for token in [B, *stays])
    assert allowed(matcher) == allowed(fresh)
    assert (X in allowed(matcher)) is (len(stays) < 3)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_a_text_goes_on_until_the_bound(count: int) -> None:
    matcher = compile_structural_tag(TAG, VOCAB).matcher()
    taken = [matcher.accept(token) for token in [B, *[X] * count]]
    assert taken == [True] * min(4, count + 1) + [False] * (count - 3)


def test_a_fork_counts_on_its_own() -> None:
    matcher = compile_structural_tag(TAG, VOCAB).matcher()
    assert all(matcher.accept(token) for token in [B, X, X])
    twin = matcher.copy()
    assert twin.accept(X)
    assert not twin.accept(X)
    matcher.rollback(2)
    assert [matcher.accept(X) for _ in range(4)] == [True, True, True, False]


def test_reset_counts_from_the_start() -> None:
    matcher = compile_structural_tag(TAG, VOCAB).matcher()
    assert all(matcher.accept(token) for token in [B, X, X, X])
    matcher.reset()
    assert [matcher.accept(token) for token in [B, X, X, X, X]] == [True] * 4 + [False]
