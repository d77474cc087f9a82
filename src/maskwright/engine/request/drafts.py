"""Drafts by looking back: what followed the last time the text ended like this.

"Prompt lookup": the longest recent ending that occurred before, in prompt or output, and the tokens
that came after it. Costs one dictionary entry a token; the draws verify what it proposes.
"""

from __future__ import annotations

from collections.abc import Sequence

SIZES = (4, 3, 2)
"""Lengths of the endings looked for, the longest first."""


class LookBack:
    """The drafter of one sequence; its proposals grow while they come true, and rest when not."""

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
        """At most so many tokens as have been worth it; `tokens` only ever grow."""
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
        """Of `proposed` drafts, the first `accepted` were what was sampled."""
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
        """Where each ending is followed by something; the last occurrence counts."""
        for end in range(max(self._seen, 1), len(tokens)):
            for size in SIZES:
                if end >= size:
                    self._after[tuple(tokens[end - size : end])] = end
        self._seen = max(self._seen, len(tokens))
