"""How many characters of a string one token may hold."""

from __future__ import annotations

import numpy as np

from maskwright.mask.ready_rows.tokens import most_characters
from maskwright.vocab.trie import Trie


class Reach:
    """The longest tokens of one vocabulary, by the bytes with which their characters begin."""

    def __init__(self, trie: Trie) -> None:
        self._trie = trie
        self._known: dict[int, int] = {}

    def characters(self, alphabet: int) -> int:
        """An upper bound on the characters that one token adds to a string whose characters begin
        with the bytes in `alphabet` (bit n for byte n), one that the token only ends or begins
        included. Escapes may stand for any character."""
        found = self._known.get(alphabet)
        if found is None:
            bits = np.frombuffer(alphabet.to_bytes(32, "little"), np.uint8)
            allowed = np.unpackbits(bits, bitorder="little")
            found = self._known[alphabet] = most_characters(self._trie, allowed)
        return found
