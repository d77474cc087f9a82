"""Draft tokens by prompt lookup: what followed the last time the text ended like this.

The longest of a few suffix lengths that has occurred before in prompt or output is looked up, and
the tokens that followed it are proposed. This costs a dictionary entry per length and token.
Sampling verifies the proposals.
"""

from __future__ import annotations

from collections.abc import Sequence

SIZES = (4, 3, 2)
"""Lengths in tokens of the suffixes that are looked up, the longest first."""


class LookBack:
    """The drafter of one sequence. Drafts get longer, up to `most` tokens, while they are accepted,
    and pause for up to 64 steps while they are rejected."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.proposed = 0
        self.accepted = 0
        self._length = min(2, most)
        self._rest = 0
        self._pause = 1
        self._seen = 0
        self._after: dict[tuple[int, ...], int] = {}

    def propose(self, tokens: Sequence[int]) -> list[int]:
        """Propose draft tokens after `tokens`; an empty list for none. Each call must pass the
        tokens of the previous call, with more appended."""
        self._learn(tokens)
        if self._rest:
            self._rest -= 1
            return []
        for size in SIZES:
            place = self._after.get(tuple(tokens[-size:]))
            if place is not None:
                return list(tokens[place : place + self._length])
        return []

    def judge(self, proposed: int, accepted: int) -> None:
        """Record that of `proposed` draft tokens the first `accepted` were sampled."""
        self.proposed += proposed
        self.accepted += accepted
        if accepted == proposed:
            self._length = min(self.most, 2 * self._length)
            self._pause = 1
        elif accepted:
            self._length = accepted + 1
        else:
            self._length = min(2, self.most)
            self._rest, self._pause = self._pause, min(64, 2 * self._pause)

    def _learn(self, tokens: Sequence[int]) -> None:
        """Index the position after each suffix in `tokens`; the last occurrence counts."""
        for end in range(max(self._seen, 1), len(tokens)):
            for size in SIZES:
                if end >= size:
                    self._after[tuple(tokens[end - size : end])] = end
        self._seen = max(self._seen, len(tokens))
