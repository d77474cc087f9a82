"""How many tokens the endings of a text take, counted over the trie in compiled code.

Bounds on what completes a text ask this of thousands of names and values, at a first mask.
"""

# In compiled code array elements are plain numbers, which numpy's type stubs don't express.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.compiled import compiled
from maskwright.vocab.trie import SiblingTrie

LONG: Final = 512
"""Length in bytes from which on a text's tokens are bounded by its bytes instead of counted."""


def most_for_a_suffix(trie: SiblingTrie, data: bytes) -> int:
    """Return the largest number of tokens that a suffix of `data` needs, spelled with the fewest;
    the number of bytes if this is above `LONG`. Every byte has to be a token."""
    if len(data) > LONG:
        return len(data)
    return int(_most_for_a_suffix(trie, np.frombuffer(data, np.uint8)))


@compiled(nogil=True)
def _most_for_a_suffix(trie: SiblingTrie, data: npt.NDArray[np.uint8]) -> int:
    """By dynamic programming from the end: a suffix takes a token and what the rest takes."""
    end = len(data)
    cost = np.zeros(end + 1, np.int32)
    most = 0
    for start in range(end - 1, -1, -1):
        cost[start] = end + 1
        at, node = start, -1
        while at < end:
            node = _child(trie, node, data[at])
            if node < 0:
                break
            at += 1
            if trie.token[node] >= 0:
                cost[start] = min(cost[start], cost[at] + 1)
        most = max(most, cost[start])
    return most


@compiled(nogil=True)
def _child(trie: SiblingTrie, node: int, byte: int) -> int:
    """The child of a node (of the root for -1) with a byte, -1 if there is none."""
    low = 0 if node < 0 else trie.first[node]
    high = low + (trie.roots if node < 0 else trie.children[node])
    end = high
    while low < high:
        middle = (low + high) // 2
        if trie.byte[middle] < byte:
            low = middle + 1
        else:
            high = middle
    return low if low < end and trie.byte[low] == byte else -1
