"""What the subtrees of a trie hold: characters, heights and tokens, against the tokens below."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright.mask.ready_rows.tokens import BEYOND_ASCII, SPECIAL, Subtrees
from maskwright.vocab.trie import Trie


def prefixes(tokens: list[bytes]) -> list[bytes]:
    """The nodes of a trie in their order, each by the bytes that lead to it."""
    return sorted({token[:length] for token in tokens for length in range(1, len(token) + 1)})


CASES: list[tuple[list[bytes], list[bool]]] = [
    ([b"a", b"ab", b"abc", b"b"], [True] * 4),
    ([b"a", b"a", b"aZ~", b"a@"], [True] * 4),
    ([b"a", b'a"', b"b"], [True, False, True]),
    ([b"\\n", b"a\nb", b"ab"], [True, True, True]),
    (["é".encode(), b"\xc3", b"a\xc3\xa9"], [True, False, True]),
    ([b"", b"?", b"\x3f@"], [True] * 3),
]


@pytest.mark.parametrize(("tokens", "stays"), CASES, ids=str)
def test_each_node_knows_what_is_below_it(tokens: list[bytes], stays: list[bool]) -> None:
    trie = Trie.build(tokens)
    found = Subtrees(trie, np.array(stays))
    nodes = prefixes(tokens)
    assert len(trie.byte) == len(nodes)
    for at, prefix in enumerate(nodes):
        below = {t for t, token in enumerate(tokens) if token.startswith(prefix)}
        start, stop = found.first[at], found.first[trie.skip[at]]
        assert sorted(found.order[start:stop].tolist()) == sorted(below), prefix
        assert found.height[at] == max(len(tokens[t]) for t in below) - len(prefix) + 1
        assert bits(found, at) == expected(tokens, stays, prefix), prefix


def bits(found: Subtrees, at: int) -> set[int]:
    whole = int(found.high[at]) << 64 | int(found.low[at])
    return {bit for bit in range(128) if whole >> bit & 1}


def expected(tokens: list[bytes], stays: list[bool], prefix: bytes) -> set[int]:
    """The bits of the node at `prefix`: its own byte and the bytes of all longer ways."""
    found: set[int] = set()
    for token, stay in zip(tokens, stays, strict=True):
        if token.startswith(prefix):
            data = token[len(prefix) - 1 :]
            found |= {BEYOND_ASCII if byte >= 0x80 else byte for byte in data}
            if not stay or any(byte < 0x20 or byte in b'"\\' for byte in data):
                found.add(SPECIAL)
    return found


def test_the_order_is_that_of_the_trie() -> None:
    tokens = [b"b", b"ab", b"a", b"", b"ab"]
    found = Subtrees(Trie.build(tokens), np.ones(5, np.bool_))
    assert [tokens[token] for token in found.order] == [b"a", b"ab", b"ab", b"b"]
    assert found.first.tolist() == [0, 1, 3, 4]


def test_an_empty_trie_has_no_subtrees() -> None:
    found = Subtrees(Trie.build([b""]), np.ones(1, np.bool_))
    assert [
        len(each) for each in (found.low, found.high, found.height, found.first, found.order)
    ] == [*(0, 0, 0, 1, 0)]
