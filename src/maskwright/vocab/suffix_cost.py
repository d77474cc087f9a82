"""How many tokens the endings of a text take, counted over the trie.

Bounds on what completes a text ask this of thousands of names and values, at a first mask.
"""

from __future__ import annotations

from typing import Final

from maskwright.vocab import layout
from maskwright.vocab.trie import SiblingTrie

LONG: Final = 512
"""Length in bytes from which on a text's tokens are bounded by its bytes instead of counted."""


def most_for_a_suffix(trie: SiblingTrie, data: bytes) -> int:
    """Return the largest number of tokens that a suffix of `data` needs, spelled with the fewest;
    the number of bytes if this is above `LONG`. Every byte has to be a token."""
    if len(data) > LONG:
        return len(data)
    byte, first, children, token, _, roots = trie
    return layout.most_for_a_suffix(byte, first, children, token, roots, data)
