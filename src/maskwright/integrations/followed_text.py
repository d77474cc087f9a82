"""A text that another library writes, and its matcher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.mask import Grammar


class FollowedText:
    """One text of another library's batch, and how far it follows its grammar.

    The text is given as a whole each time. Only the tokens that differ from the last time are
    accepted anew, so a text may also be replaced or shortened, as beam search and drafts of a
    smaller model do.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.grammar: Final = grammar
        self._matcher = grammar.matcher()
        self._accepted: list[int] = []
        self._follows = True

    @property
    def is_open(self) -> bool:
        """Whether the mask has something to say about the next token: no end token has come, and
        no token that the grammar forbids."""
        return self._follows and not self._matcher.terminated

    def append(self, token: int) -> None:
        """Add a token to the text. What comes after the end of the text, or after a token that the
        grammar forbids, is ignored."""
        if not self.is_open:
            return
        if self._matcher.accept(token):
            self._accepted.append(token)
        else:
            self._follows = False

    def replace(self, tokens: Sequence[int]) -> None:
        """Have `tokens` as the whole text."""
        shared = _shared_length(self._accepted, tokens)
        self._matcher.rollback(len(self._accepted) - shared)
        del self._accepted[shared:]
        self._follows = True
        for token in tokens[shared:]:
            self.append(token)

    def fill_mask(self, out: npt.NDArray[np.int32], budget: int) -> bool:
        """Write the mask of the next token to `out`, int32 of `Vocabulary.words` words, so that the
        text can be completed within `budget` tokens, the next one included. Returns False, and
        writes nothing, if the text isn't open or the budget is used up.

        Raises `BudgetError` if the budget doesn't suffice for any completion.
        """
        if budget <= 0 or not self.is_open:
            return False
        self._matcher.fill_mask(out, budget)
        return True


def _shared_length(before: Sequence[int], after: Sequence[int]) -> int:
    """Return how many tokens two texts have in common at their beginning."""
    for place, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            return place
    return min(len(before), len(after))
