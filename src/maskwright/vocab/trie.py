"""The vocabulary as a trie in flat arrays, laid out depth first.

The subtree of node i is i+1 .. skip[i]-1, so a walk is a loop over an index: it goes on to i+1 if
the byte at i is accepted, and to skip[i] if it is rejected. There is no root node; the first byte
of a token has depth 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.vocab.layout import lay_out, lay_out_siblings

NO_TOKEN = -1


class Trie(NamedTuple):
    """A prefix tree of tokens; each array but `twin` has one entry a node."""

    byte: npt.NDArray[np.uint8]
    depth: npt.NDArray[np.int16]
    """The number of bytes from the beginning of a token up to the node's own."""
    skip: npt.NDArray[np.int32]
    """The first node after the subtree."""
    token: npt.NDArray[np.int32]
    """The token that ends at the node, or NO_TOKEN."""
    twin: npt.NDArray[np.int32]
    """[V]: the next token with equal bytes, or NO_TOKEN."""

    @property
    def height(self) -> int:
        """The length of the longest token in bytes."""
        return int(self.depth.max()) if len(self.depth) else 0

    @classmethod
    def build(cls, tokens: Sequence[bytes], chosen: Sequence[int] | None = None) -> Trie:
        """The trie of all non-empty tokens, or of the `chosen` ids: a sort, then O(total bytes)."""
        ids = range(len(tokens)) if chosen is None else chosen
        order = sorted((i for i in ids if tokens[i]), key=tokens.__getitem__)
        data = b"".join(tokens[i] for i in order)
        start = np.cumsum([0, *(len(tokens[i]) for i in order)], dtype=np.int64)
        ids = np.array(order, np.int32)
        return cls(*lay_out(_as_array(data), start[:-1], start[1:], ids, len(tokens)))

    @classmethod
    def of_ordered(
        cls,
        data: npt.NDArray[np.uint8],
        start: npt.NDArray[np.int64],
        ids: npt.NDArray[np.int32],
    ) -> Trie:
        """The trie of the tokens `ids`, which are not empty and sorted by their bytes.

        The bytes of token i are data[start[i] : start[i + 1]].
        """
        return cls(*lay_out(data, start[ids], start[ids + 1], ids, len(start) - 1))


class SiblingTrie(NamedTuple):
    """A trie in which the children of each node are adjacent, for walks that reject most of them.

    The children of node i are first[i] .. first[i] + children[i] - 1, those of the root are
    0 .. roots - 1. The root itself is not a node.
    """

    byte: npt.NDArray[np.uint8]
    first: npt.NDArray[np.int32]
    children: npt.NDArray[np.int32]
    token: npt.NDArray[np.int32]
    twin: npt.NDArray[np.int32]
    roots: int

    @classmethod
    def of(cls, trie: Trie) -> SiblingTrie:
        """The tokens of a trie in this layout, in O(nodes)."""
        byte, first, children, token = lay_out_siblings(trie.byte, trie.skip, trie.token)
        return cls(byte, first, children, token, trie.twin, int((trie.depth == 1).sum()))

    def continues(self, text: bytes) -> bool:
        """Whether some token begins with `text` and is longer."""
        first, count = 0, self.roots
        for byte in text:
            found = np.flatnonzero(self.byte[first : first + count] == byte)
            if not len(found):
                return False
            node = first + int(found[0])
            first, count = int(self.first[node]), int(self.children[node])
        return count > 0


def _as_array(data: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8)
