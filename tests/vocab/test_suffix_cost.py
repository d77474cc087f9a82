"""The tokens that endings of a text take: by tables, and against the fewest of each ending."""

from __future__ import annotations

import random

import pytest

from maskwright.vocab.spellings import Spellings
from maskwright.vocab.trie import LONG, SiblingTrie, Trie


def trie(tokens: list[bytes]) -> SiblingTrie:
    return SiblingTrie.of(Trie.build(tokens))


@pytest.mark.parametrize(
    ("tokens", "data", "most"),
    [
        (["a", "b"], "", 0),
        (["a", "b"], "abab", 4),
        (["a", "b", "ab"], "abab", 2),
        (["a", "b", "abab"], "abab", 3),
        (["a", "b", "a" * LONG], "a" * LONG, LONG - 1),
        (["a", "b", "a" * LONG], "a" * (LONG + 1), LONG + 1),  # too long to be counted
    ],
)
def test_the_most_that_an_ending_takes(tokens: list[str], data: str, most: int) -> None:
    assert trie([each.encode() for each in tokens]).most_for_a_suffix(data.encode()) == most


@pytest.mark.parametrize("seed", range(20))
def test_every_ending_of_random_texts(seed: int) -> None:
    draw = random.Random(seed)

    def text(longest: int) -> bytes:
        return bytes(draw.choices(b"ab\xc3\xff", k=draw.randint(1, longest)))

    tokens = [b"a", b"b", b"\xc3", b"\xff", b"", *(text(6) for _ in range(draw.randint(0, 40)))]
    spellings, children = Spellings.of(tokens), trie(tokens)
    for _ in range(20):
        data = text(24)
        each = [len(spellings.fewest(data[at:])) for at in range(len(data))]
        assert children.most_for_a_suffix(data) == max(each)
