"""How many characters of a string one token may hold."""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
from __future__ import annotations

import numpy as np
import numpy.typing as npt

from maskwright.compiled import compiled
from maskwright.vocab.trie import Trie


class Reach:
    """The longest tokens of one vocabulary, by the bytes with which their characters begin."""

    def __init__(self, trie: Trie) -> None:
        self._trie = trie
        self._height = trie.height
        self._known: dict[int, int] = {}

    def characters(self, alphabet: int) -> int:
        """An upper bound on the characters that one token adds to a string whose characters begin
        with the bytes in `alphabet` (bit n for byte n), one that the token only ends or begins
        included. Escapes may stand for any character."""
        found = self._known.get(alphabet)
        if found is None:
            bits = np.frombuffer(alphabet.to_bytes(32, "little"), np.uint8)
            allowed = np.unpackbits(bits, bitorder="little")
            found = self._known[alphabet] = int(_most_characters(self._trie, self._height, allowed))
        return found


@compiled(nogil=True)
def _most_characters(trie: Trie, height: int, allowed: npt.NDArray[np.uint8]) -> int:
    """The most characters on a way through the trie on which each begins with an allowed byte; all
    that follows a backslash counts as allowed, and each byte of an escape as a character."""
    count = np.zeros(height + 1, np.int64)
    escaped = np.zeros(height + 1, np.uint8)
    most = 0
    at = 0
    while at < len(trie.byte):
        depth, byte = trie.depth[at], trie.byte[at]
        free = escaped[depth - 1] == 1 or byte == 0x5C
        continues = byte & 0xC0 == 0x80
        is_short = count[depth - 1] + trie.skip[at] - at <= most  # a way is no longer than that
        if is_short or not (free or continues or allowed[byte] == 1):
            at = trie.skip[at]
            continue
        escaped[depth] = 1 if free else 0
        starts = not continues or depth == 1
        count[depth] = count[depth - 1] + (1 if starts else 0)
        most = max(most, count[depth])
        at += 1
    return most
