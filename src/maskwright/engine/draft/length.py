"""How many tokens a draft model should guess, from what its guesses and its time have been worth.

With a chance of p that a guess comes true, k guesses bring 1 + p + … + p^k tokens a step instead of
1 (Leviathan et al., ICML'23), and cost k passes of the draft model and k rows more of the large one
for each sequence. The best k follows; where it is 0, the draft model rests. Durations are told.
"""

from __future__ import annotations

FIRST_ACCEPTANCE = 0.8
"""The chance of a guess before any has been judged."""

RATE = 0.3
"""Weight of a guess in the acceptance of its sequence."""

SLOW_RATE = 0.03
"""Weight of a guess in the acceptance that new sequences begin with."""

RECOVERY = 0.003
"""What the acceptance rate of a sequence gains in each step without proposals, so that a draft
model that is usually wrong is tried again about once in a hundred tokens."""

FADING = 0.999
"""What stays of the measured cost of a pass in each step in which none is made."""

MEMORY = 0.1
"""Weight of the last step in the averages of durations."""


class DraftLengthModel:
    """`most`: guesses a step at most. `fixed_rows`: a step takes as long before its first row as
    for so many rows, with either model. `ratio`: about what a pass of the draft model costs, as a
    part of one of the large model, until both have been measured."""

    def __init__(self, most: int, *, fixed_rows: int, ratio: float) -> None:
        self.acceptance = FIRST_ACCEPTANCE
        """What new sequences begin with."""
        self._most = most
        self._fixed_rows = fixed_rows
        self._ratio = ratio
        self._large: float | None = None
        self._small: float | None = None

    @property
    def ratio(self) -> float:
        """What a pass of the draft model costs, as a part of a step of as many rows."""
        if self._large is None or self._small is None:
            return self._ratio
        return self._small / self._large

    def length(self, acceptance: float, decoding: int) -> int:
        """Guesses that bring the most tokens a second where `decoding` sequences do as this one;
        0 where one token a step is faster."""
        alone = self._fixed_rows + decoding
        best, best_speed = 0, 1.0
        tokens = chance = 1.0
        for count in range(1, self._most + 1):
            chance *= acceptance
            tokens += chance
            speed = tokens / ((alone + count * decoding) / alone + count * self.ratio)
            if speed > best_speed:
                best, best_speed = count, speed
        return best

    def judged(self, acceptance: float, proposed: int, accepted: int) -> float:
        """The acceptance of a sequence after the first `accepted` of `proposed` guesses came true.
        What comes after the first wrong one says nothing."""
        for number in range(min(accepted + 1, proposed)):
            true = float(number < accepted)
            acceptance += RATE * (true - acceptance)
            self.acceptance += SLOW_RATE * (true - self.acceptance)
        return acceptance

    def rested(self, acceptance: float) -> float:
        """The acceptance of a sequence after a step without guesses."""
        return min(1.0, acceptance + RECOVERY)

    def fade(self) -> None:
        """No pass was made: what one costs may have changed."""
        if self._small is not None:
            self._small *= FADING

    def observe_step(self, rows: int, seconds: float) -> None:
        """The large model took so long for a step of so many rows, none of them of prompts."""
        self._large = _mean(self._large, seconds / (self._fixed_rows + rows))

    def observe_pass(self, rows: int, seconds: float) -> None:
        """As `observe_step`, of the draft model, with what it takes to draw and to make masks."""
        self._small = _mean(self._small, seconds / (self._fixed_rows + rows))


def _mean(before: float | None, value: float) -> float:
    return value if before is None else before + MEMORY * (value - before)
