"""Ready rows of plain text in which one set of characters may be repeated any number of times.

Examples are identifiers, words and the inside of a quoted string. A token with characters of the
set only continues the text, in every context. These tokens are found by their characters. The other
tokens that begin with a character of the set have a trie of their own, and only they are walked.
"""

# In compiled code array elements are plain numbers, which numpy's type stubs don't express.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.compiled import compiled
from maskwright.grammar.regular.terms import Regular
from maskwright.mask.ready_rows.runs import CharacterRun, CharacterSet, widest_run
from maskwright.mask.walk.arrays import PrecomputedMask, SiblingTable, Spelling
from maskwright.mask.walk.row_table import RowTable
from maskwright.vocab.trie import SiblingTrie, Trie

# The kind of a token's text.
NONE: Final = 0
ASCII: Final = 1
BEYOND: Final = 2
"""Characters, some of them outside ASCII; the last one may be incomplete."""
BROKEN: Final = 3
"""It begins within a character, or is not UTF-8."""


class Texts(NamedTuple):
    """The characters of texts, in the order of the texts' bytes."""

    token: npt.NDArray[np.int32]
    """The token of each text."""
    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.uint64]
    """The ASCII characters of each text, as in `CharacterSet`."""
    kind: npt.NDArray[np.uint8]
    begins: npt.NDArray[np.int32]
    """[257]: the first text that begins with each byte, or the first one after them."""

    @classmethod
    def of(cls, spelling: Spelling, order: npt.NDArray[np.int32], skipped: int) -> Texts:
        """Return the texts of the tokens in `order`, without the first `skipped` bytes of each."""
        count = len(order)
        low, high = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
        kind, begins = np.zeros(count, np.uint8), np.zeros(257, np.int32)
        _describe(spelling.data, spelling.start, order, skipped, low, high, kind, begins)
        return cls(order, low, high, kind, begins)


class TokenTexts(NamedTuple):
    """The characters of the tokens of one vocabulary."""

    whole: Texts
    """Of every token."""
    after_space: Texts
    """Of what follows the space in tokens that begin with one."""

    @classmethod
    def of(cls, trie: Trie, spelling: Spelling) -> TokenTexts:
        order = _in_order(trie)
        whole = Texts.of(spelling, order, 0)
        spaced = order[whole.begins[0x20] : whole.begins[0x21]]
        longer = spelling.start[spaced + 1] - spelling.start[spaced] > 1
        return cls(whole, Texts.of(spelling, spaced[longer], 1))


class TextRows:
    """The ready rows of plain text of one vocabulary, each computed when it is first needed."""

    def __init__(self, texts: TokenTexts, spelling: Spelling, table: RowTable) -> None:
        self._table = table
        self._spelling = spelling
        self._texts = texts
        self._runs: dict[Regular, CharacterRun | None] = {}
        self._known: dict[tuple[CharacterRun | None, CharacterRun | None], _Kept] = {}

    def run(self, parts: tuple[Regular, ...]) -> CharacterRun | None:
        """Return the run with the most characters with which one of `parts` may continue."""
        best: CharacterRun | None = None
        for part in parts:
            if part not in self._runs:
                self._runs[part] = widest_run(part)
            run = self._runs[part]
            if run is not None and (best is None or run.first.size > best.first.size):
                best = run
        return best

    def precomputed(self, run: CharacterRun | None, spaced: CharacterRun | None) -> PrecomputedMask:
        """Return the precomputed part of a mask if the text may continue with `run`, or with a
        space and then `spaced`."""
        if run is not None and run.first.low >> 32 & 1:
            spaced = None
        known = self._known.get((run, spaced))
        if known is None:
            known = self._known[run, spaced] = self._make(run, spaced)
        return known.precomputed

    def _make(self, run: CharacterRun | None, spaced: CharacterRun | None) -> _Kept:
        allowed = np.zeros(self._table.words, np.int32)
        others: list[npt.NDArray[np.int32]] = []
        skipped = np.zeros(768, np.uint8)
        for texts, each, at in (
            (self._texts.whole, run, 0),
            (self._texts.after_space, spaced, 256),
        ):
            if each is not None:
                first = skipped[at : at + 256]
                _mark_first_bytes(each.first, first)
                found = np.empty(len(texts.token), np.int32)
                low, high, beyond = each.later
                count = _part(
                    *texts, first, np.uint64(low), np.uint64(high), beyond, allowed, found
                )
                others.append(found[:count])
        rest = others[0] if len(others) == 1 else self._merged(*others)
        trie = Trie.of_ordered(self._spelling.data, self._spelling.start, rest)
        table = SiblingTable(SiblingTrie.of(trie))
        precomputed = PrecomputedMask(
            *self._table.ready(allowed), table.address, int(skipped.ctypes.data)
        )
        return _Kept(precomputed, table, skipped)

    def _merged(
        self, whole: npt.NDArray[np.int32], spaced: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int32]:
        """Return tokens in order, including those that begin with a space."""
        data, start = self._spelling.data, self._spelling.start
        at = int(np.searchsorted(data[start[whole]], 0x20)) if len(whole) else 0
        return np.concatenate([whole[:at], spaced, whole[at:]])


class _Kept(NamedTuple):
    """A precomputed mask, and the arrays to which its addresses point."""

    precomputed: PrecomputedMask
    table: SiblingTable
    skipped: npt.NDArray[np.uint8]


def _mark_first_bytes(letters: CharacterSet, found: npt.NDArray[np.uint8]) -> None:
    """Set `found` (uint8 [256]) to 1 for the bytes with which one of the characters begins."""
    bits = letters.high << 64 | letters.low
    found[[point for point in range(128) if bits >> point & 1]] = 1
    if letters.beyond:
        found[0xC2:0xF5] = 1


@compiled
def _in_order(trie: Trie) -> npt.NDArray[np.int32]:
    """The tokens of a trie by their texts."""
    order = np.empty(len(trie.twin), np.int32)
    count = 0
    for first in trie.token:
        token = first
        while token >= 0:
            order[count] = token
            count += 1
            token = trie.twin[token]
    return order[:count].copy()


@compiled
def _part(
    tokens: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    kind: np.ndarray,
    begins: np.ndarray,
    first: np.ndarray,
    later_low: np.uint64,
    later_high: np.uint64,
    beyond: bool,
    allowed: np.ndarray,
    others: np.ndarray,
) -> int:
    """Set the bits of the texts that stay within a run, and list the others that begin with a byte
    with which a run begins (`first`). Returns the number of these."""
    count = 0
    most = BEYOND if beyond else ASCII
    for byte in range(256):
        if first[byte] == 0:
            continue
        for at in range(begins[byte], begins[byte + 1]):
            token = tokens[at]
            if (
                kind[at] <= most
                and (low[at] & ~later_low) == np.uint64(0)
                and (high[at] & ~later_high) == np.uint64(0)
            ):
                allowed[token >> 5] |= np.int32(1) << np.int32(token & 31)
            elif kind[at] < BROKEN:
                others[count] = token
                count += 1
    return count


@compiled
def _describe(
    data: np.ndarray,
    start: np.ndarray,
    order: np.ndarray,
    skipped: int,
    low: np.ndarray,
    high: np.ndarray,
    kind: np.ndarray,
    begins: np.ndarray,
) -> None:
    """By text: its ASCII characters (as in `CharacterSet`) and what it is; and where the texts are
    that begin with each byte."""
    one = np.uint64(1)
    for number in range(len(order)):
        at, stop = start[order[number]] + skipped, start[order[number] + 1]
        if at == stop:
            continue
        begins[np.int64(data[at]) + 1] += 1
        kind[number] = ASCII
        while at < stop:
            byte = data[at]
            at += 1
            if byte < 64:
                low[number] |= one << np.uint64(byte)
            elif byte < 128:
                high[number] |= one << np.uint64(byte - 64)
            else:
                kind[number] = max(kind[number], BEYOND)
                left = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
                if byte < 0xC2 or byte > 0xF4:
                    kind[number] = BROKEN
                    break
                least = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
                most = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
                for _ in range(min(left, stop - at)):
                    if data[at] < least or data[at] > most:
                        kind[number] = BROKEN
                    least, most = 0x80, 0xBF
                    at += 1
    for byte in range(256):
        begins[byte + 1] += begins[byte]
