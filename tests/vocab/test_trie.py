"""Both layouts of the trie, by the tokens that can be read back from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.vocab.trie import NO_TOKEN, SiblingTrie, Trie


def twins(token: int, twin: np.ndarray) -> list[int]:
    """A token and those with equal bytes that follow it."""
    found: list[int] = []
    while token != NO_TOKEN:
        found.append(int(token))
        token = twin[token]
    return found


def read(trie: Trie) -> dict[bytes, set[int]]:
    """The tokens by their bytes, as a walk over the index meets them."""
    found: dict[bytes, set[int]] = {}
    path = b""
    for node in range(len(trie.byte)):
        path = path[: trie.depth[node] - 1] + bytes([trie.byte[node]])
        assert len(path) == trie.depth[node]
        if trie.token[node] != NO_TOKEN:
            assert path not in found
            found[path] = set(twins(trie.token[node], trie.twin))
    return found


def read_siblings(trie: SiblingTrie) -> dict[bytes, set[int]]:
    """The tokens by their bytes, from the roots to the leaves."""
    found: dict[bytes, set[int]] = {}
    todo = [(node, b"") for node in range(trie.roots)]
    visited = 0
    for node, before in todo:  # which grows
        visited += 1
        path = before + bytes([trie.byte[node]])
        if trie.token[node] != NO_TOKEN:
            found[path] = set(twins(trie.token[node], trie.twin))
        first = trie.first[node]
        todo += [(child, path) for child in range(first, first + trie.children[node])]
    assert visited == len(trie.byte), "each node has one parent"
    return found


def expected(tokens: list[bytes], chosen: list[int] | None = None) -> dict[bytes, set[int]]:
    found: dict[bytes, set[int]] = {}
    for token in range(len(tokens)) if chosen is None else chosen:
        if tokens[token]:
            found.setdefault(tokens[token], set()).add(token)
    return found


def test_the_layout() -> None:
    trie = Trie.build([b"ab", b"b", b"", b"a", b"abc", b"ad", b"b"])
    assert bytes(trie.byte) == b"abcdb"
    assert trie.depth.tolist() == [1, 2, 3, 2, 1]
    assert trie.skip.tolist() == [4, 3, 3, 4, 5]
    assert trie.token[:4].tolist() == [3, 0, 4, 5]
    assert set(twins(trie.token[4], trie.twin)) == {1, 6}
    assert trie.height == 3


def test_children_are_adjacent() -> None:
    trie = SiblingTrie.of(Trie.build([b"ab", b"ac", b"b", b"acd", b"ace"]))
    assert trie.roots == 2
    assert bytes(trie.byte) == b"abbcde"
    assert trie.children.tolist() == [2, 0, 0, 2, 0, 0]
    assert (trie.first[0], trie.first[3]) == (2, 4)
    assert trie.token.tolist() == [NO_TOKEN, 2, 0, 1, 3, 4]


TOKENS = st.lists(st.text("abc", max_size=4).map(str.encode), max_size=12)


@given(TOKENS)
def test_every_token_is_found_once(tokens: list[bytes]) -> None:
    trie = Trie.build(tokens)
    assert read(trie) == expected(tokens)
    assert read_siblings(SiblingTrie.of(trie)) == expected(tokens)
    assert trie.height == max(map(len, tokens), default=0)


@given(TOKENS)
def test_a_subtree_is_skipped_whole(tokens: list[bytes]) -> None:
    trie = Trie.build(tokens)
    for node in range(len(trie.byte)):
        inside = trie.depth[node + 1 : trie.skip[node]]
        assert (inside > trie.depth[node]).all()
        assert trie.skip[node] == len(trie.byte) or trie.depth[trie.skip[node]] <= trie.depth[node]


@given(TOKENS, st.data())
def test_some_tokens_alone(tokens: list[bytes], data: st.DataObject) -> None:
    ids = st.integers(0, len(tokens) - 1)
    chosen = data.draw(st.lists(ids, unique=True)) if tokens else []
    assert read(Trie.build(tokens, chosen)) == expected(tokens, chosen)
    alike = [i for i in range(len(tokens)) if tokens[i] in {tokens[other] for other in chosen}]
    ordered = sorted((i for i in alike if tokens[i]), key=tokens.__getitem__)
    text = np.frombuffer(b"".join(tokens), np.uint8)
    start = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
    twin = Trie.build(tokens).twin
    made = Trie.of_ordered(text.copy(), start, np.array(ordered, np.int32), twin)
    assert read(made) == expected(tokens, alike)


def test_all_tokens_leave_their_run() -> None:
    low, high = 0, (1 << ord("a") - 64) | (1 << ord("b") - 64)
    SiblingTrie.of(Trie.build([b"a(", b"abb(", b"b()", b"("])).note_run(low, high, False)
    SiblingTrie.of(Trie.build([b"aa(", b"("])).note_run(low, high, True)
    with pytest.raises(ValueError, match="within the run"):
        SiblingTrie.of(Trie.build([b"a(", b"ab"])).note_run(low, high, False)
    with pytest.raises(ValueError, match="within the run"):
        SiblingTrie.of(Trie.build([b"-ab", b"-a("])).note_run(low, high, True)


@pytest.mark.parametrize("tokens", [[], [b""], [b"", b""]])
def test_no_token_is_no_node(tokens: list[bytes]) -> None:
    trie = Trie.build(tokens)
    assert (len(trie.byte), trie.height) == (0, 0)
    assert SiblingTrie.of(trie).roots == 0


def test_every_byte_may_stand_in_a_token() -> None:
    tokens = [bytes([byte, 255 - byte]) for byte in range(256)]
    assert read(Trie.build(tokens)) == expected(tokens)


@given(TOKENS)
def test_what_longer_tokens_begin_with(tokens: list[bytes]) -> None:
    trie = SiblingTrie.of(Trie.build(tokens))
    texts = {token[:length] for token in tokens for length in range(len(token) + 1)}
    for text in texts | {text + b"a" for text in texts}:
        begun = any(token.startswith(text) and token != text for token in tokens)
        assert trie.continues(text) is begun
