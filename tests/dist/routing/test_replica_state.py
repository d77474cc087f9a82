"""Digests of prompts: equal for equal beginnings under one salt, different otherwise."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maskwright.dist.routing.replica_state import prefix_digests

PROMPTS = st.lists(st.integers(0, 3), max_size=24).map(bytes)


@given(PROMPTS, PROMPTS, st.integers(1, 5))
def test_digests_agree_as_far_as_whole_blocks_agree(first: bytes, second: bytes, size: int) -> None:
    one, other = prefix_digests(first, size), prefix_digests(second, size)
    assert len(one) == len(first) // size
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        end = (index + 1) * size
        assert (left == right) == (first[:end] == second[:end])


def test_a_salt_separates() -> None:
    assert not set(prefix_digests(bytes(8), 4, "a")) & set(prefix_digests(bytes(8), 4, "b"))


def test_equal_blocks_after_unlike_beginnings_differ() -> None:
    """A hash of a block without what is before it could hit the keys and values of another text."""
    assert prefix_digests(b"aabb", 2)[1] != prefix_digests(b"ccbb", 2)[1]


def test_a_longer_prompt_begins_with_the_same_digests() -> None:
    long, longer = prefix_digests(b"abcdefgh", 4), prefix_digests(b"abcdefghijkl", 4)
    assert longer[:2] == long
    assert len(set(longer)) == 3
    assert prefix_digests(b"abc", 4) == ()
