"""Ready rows of plain text in which one set of characters may be repeated any number of times.

Examples are identifiers, words and the inside of a quoted string. A token with characters of the
set only continues the text, in every context. These tokens are found by their characters. The other
tokens that begin with a character of the set have a trie of their own, and only they are walked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.grammar.regular.terms import Regular
from maskwright.mask.ready_rows.runs import CharacterRun, CharacterSet, widest_run
from maskwright.mask.ready_rows.tokens import Texts, divide, in_order, texts_of
from maskwright.mask.walk.row_table import RowTable
from maskwright.mask.walk.walk import PrecomputedMask, Spelling
from maskwright.vocab.trie import SiblingTrie, Trie


class TokenTexts(NamedTuple):
    """The characters of the tokens of one vocabulary."""

    whole: Texts
    """Of every token."""
    after_space: Texts
    """Of what follows the space in tokens that begin with one."""

    @classmethod
    def of(cls, trie: Trie, spelling: Spelling) -> TokenTexts:
        order = in_order(trie)
        whole = texts_of(spelling.data, spelling.start, order, 0)
        spaced = order[whole.begins[0x20] : whole.begins[0x21]]
        longer = spelling.start[spaced + 1] - spelling.start[spaced] > 1
        return cls(whole, texts_of(spelling.data, spelling.start, spaced[longer], 1))


class TextRows:
    """The ready rows of plain text of one vocabulary, each computed when it is first needed."""

    def __init__(self, texts: TokenTexts, spelling: Spelling, table: RowTable) -> None:
        self._table = table
        self._spelling = spelling
        self._texts = texts
        self._runs: dict[Regular, CharacterRun | None] = {}
        self._known: dict[tuple[CharacterRun | None, CharacterRun | None], PrecomputedMask] = {}

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
        return known

    def _make(self, run: CharacterRun | None, spaced: CharacterRun | None) -> PrecomputedMask:
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
                others.append(divide(texts, first, *each.later, allowed))
        rest = others[0] if len(others) == 1 else self._merged(*others)
        trie = Trie.of_ordered(self._spelling.data, self._spelling.start, rest)
        return PrecomputedMask(self._table.ready(allowed), SiblingTrie.of(trie), skipped)

    def _merged(
        self, whole: npt.NDArray[np.int32], spaced: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int32]:
        """Return tokens in order, including those that begin with a space."""
        data, start = self._spelling.data, self._spelling.start
        at = int(np.searchsorted(data[start[whole]], 0x20)) if len(whole) else 0
        return np.concatenate([whole[:at], spaced, whole[at:]])


def _mark_first_bytes(letters: CharacterSet, found: npt.NDArray[np.uint8]) -> None:
    """Set `found` (uint8 [256]) to 1 for the bytes with which one of the characters begins."""
    bits = letters.high << 64 | letters.low
    found[[point for point in range(128) if bits >> point & 1]] = 1
    if letters.beyond:
        found[0xC2:0xF5] = 1
