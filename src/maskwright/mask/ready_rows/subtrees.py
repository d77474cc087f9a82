"""The characters and tokens in each subtree of the trie, so that a walk can take one as a whole.

If a state of a string has a transition to itself with every character in a subtree, all tokens of
the subtree are allowed. They are stored as a list.
"""

# In compiled code array elements are plain numbers, which numpy's type stubs don't express.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.compiled import compiled
from maskwright.vocab.trie import Trie

BEYOND_ASCII: Final = 0
"""The bit of all characters outside ASCII, in place of a control character's."""
SPECIAL: Final = 1
"""The bit of what always has to be walked: escapes, quotes, text that is not UTF-8."""


class Subtrees(NamedTuple):
    """Arrays by trie node. The subtree of a node is the node itself and all nodes below it."""

    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.uint64]
    """The characters in the subtree: bit n of the first for n < 64, of the second for n - 64."""
    height: npt.NDArray[np.int32]
    """Bytes of the longest path through the subtree."""
    first: npt.NDArray[np.int32]
    """[nodes + 1]: the place in `order` at which the subtree's tokens begin. They end at that of
    the node after the subtree."""
    order: npt.NDArray[np.int32]
    """All tokens, in the order of the trie."""

    @classmethod
    def of(cls, trie: Trie, stays: npt.NDArray[np.bool_]) -> Subtrees:
        """`stays` [V]: the tokens that stay inside a string of any characters."""
        size = len(trie.byte)
        found = cls(
            low=np.zeros(size, np.uint64),
            high=np.zeros(size, np.uint64),
            height=np.zeros(size, np.int32),
            first=np.zeros(size + 1, np.int32),
            order=np.zeros(int((trie.token >= 0).sum() + (trie.twin >= 0).sum()), np.int32),
        )
        _fill(trie, stays, found)
        return found


@compiled(nogil=True)
def _fill(trie: Trie, stays: np.ndarray, found: Subtrees) -> None:
    one = np.uint64(1)
    count = 0
    for at in range(len(trie.byte)):
        found.first[at] = count
        token = trie.token[at]
        special = False
        while token >= 0:
            found.order[count] = token
            count += 1
            special = special or not stays[token]
            token = trie.twin[token]
        byte = trie.byte[at]
        bit = BEYOND_ASCII if byte >= 0x80 else byte
        if special or byte < 0x20 or byte == 0x22 or byte == 0x5C:
            found.low[at] |= one << np.uint64(SPECIAL)
        if bit < 64:
            found.low[at] |= one << np.uint64(bit)
        else:
            found.high[at] |= one << np.uint64(bit - 64)
        found.height[at] = 1
    found.first[len(trie.byte)] = count
    tallest = 0
    for depth in trie.depth:
        tallest = max(tallest, depth)
    above = np.zeros(tallest + 2, np.int32)
    parent = np.zeros(len(trie.byte), np.int32)
    for at in range(len(trie.byte)):
        depth = trie.depth[at]
        above[depth] = at
        parent[at] = above[depth - 1] if depth > 1 else -1
    for at in range(len(trie.byte) - 1, -1, -1):
        up = parent[at]
        if up >= 0:
            found.low[up] |= found.low[at]
            found.high[up] |= found.high[at]
            found.height[up] = max(found.height[up], found.height[at] + 1)
