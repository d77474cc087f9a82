"""Digests: equal for equal beginnings under one salt, different otherwise."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maskwright.dist.routing.prefix_digests import prefix_digests, text_digests

TOKENS = st.lists(st.integers(0, 3), max_size=24)


@given(TOKENS, TOKENS, st.integers(1, 5))
def test_digests_agree_as_far_as_whole_blocks_agree(
    first: list[int], second: list[int], size: int
) -> None:
    one, other = prefix_digests(first, size), prefix_digests(second, size)
    assert len(one) == len(first) // size
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        end = (index + 1) * size
        assert (left == right) == (first[:end] == second[:end])


def test_a_salt_separates() -> None:
    assert not set(prefix_digests([1] * 8, 4, "a")) & set(prefix_digests([1] * 8, 4, "b"))


def test_equal_blocks_after_unlike_beginnings_differ() -> None:
    """A hash of a block without what is before it could hit the keys and values of another text."""
    assert prefix_digests([1, 1, 2, 2], 2)[1] != prefix_digests([3, 3, 2, 2], 2)[1]


def test_texts() -> None:
    long, longer = text_digests(b"abcdefgh", 4), text_digests(b"abcdefghijkl", 4)
    assert longer[:2] == long
    assert len(set(longer)) == 3
    assert text_digests(b"abc", 4) == ()
