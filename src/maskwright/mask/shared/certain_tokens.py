"""The tokens with which a completion can certainly be written, whatever has to differ in it.

Some tokens may end two names or items that must differ, and then no mask offers them (see
`mask.walk.ends`). What completes a text may need to do without them, so bounds are counted without
them from the beginning: what is counted later for a whole text is never more than the sum of what
its parts take.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from maskwright.mask.walk.ends import SEPARATORS, uncertain
from maskwright.vocab import Vocabulary
from maskwright.vocab.spellings import Spellings
from maskwright.vocab.trie import SiblingTrie


class CertainTokens:
    """Those of one vocabulary. All others are `uncertain`."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.uncertain: Final = uncertain(
            [vocabulary.tokens[token_id] for token_id in vocabulary.with_bytes(SEPARATORS)]
        )

    def price(self, data: bytes) -> int:
        """An upper bound on the tokens that any suffix of `data` needs, at most its number of
        bytes. Every byte has to be a token."""
        return self._siblings.most_for_a_suffix(data)

    def spelled(self, data: bytes) -> list[int]:
        """The fewest of these tokens that the machine reads as `data`. Raises `UnspellableError`
        if none do."""
        return self._vocabulary.spelled(data, self._texts)

    @cached_property
    def _siblings(self) -> SiblingTrie:
        siblings = self._vocabulary.siblings
        if not self.uncertain:
            return siblings
        left_out = [n for n, each in enumerate(self._vocabulary.tokens) if each in self.uncertain]
        return siblings.without(left_out)

    @cached_property
    def _texts(self) -> Spellings:
        left_out, tokens = self.uncertain, self._vocabulary.tokens
        return Spellings.of([b"" if each in left_out else each for each in tokens])
