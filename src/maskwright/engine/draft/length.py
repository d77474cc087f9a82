"""The number of tokens that a draft model should propose, from its acceptance rate and its cost.

If each draft token is accepted with probability p, k draft tokens give 1 + p + … + p^k tokens a
step instead of 1 (Leviathan et al., ICML'23). For each sequence they cost k passes of the draft
model and k more rows of the large model. The best k follows from this; if it is 0, nothing is
proposed. No clock is read here: the caller measures durations and passes them on.
"""

from __future__ import annotations

from maskwright.engine.schedule.step_time import moving_mean

FIRST_ACCEPTANCE = 0.8
"""The acceptance rate that is assumed before any draft token has been verified."""

RATE = 0.3
"""Weight of one draft token in the acceptance rate of its sequence."""

SLOW_RATE = 0.03
"""Weight of one draft token in the acceptance rate that new sequences begin with."""

RECOVERY = 0.003
"""What the acceptance rate of a sequence gains in each step without proposals, so that a draft
model that is usually wrong is tried again about once in a hundred tokens."""

FADING = 0.999
"""Factor on the measured cost of a pass in each step without one, so that it is measured again."""

MEMORY = 0.1
"""Weight of the last step in the moving averages of durations."""


class DraftLengthModel:
    """Chooses the number of draft tokens. `most`: upper bound a step. `fixed_rows`: the fixed cost
    of a step of either model, in rows. `ratio`: assumed cost of a pass of the draft model relative
    to one of the large model, until both have been measured."""

    def __init__(self, most: int, *, fixed_rows: int, ratio: float) -> None:
        self.acceptance = FIRST_ACCEPTANCE
        """The acceptance rate that new sequences begin with."""
        self._most = most
        self._fixed_rows = fixed_rows
        self._ratio = ratio
        self._large: float | None = None
        self._small: float | None = None

    @property
    def ratio(self) -> float:
        """The cost of a pass of the draft model relative to a step of the large model of as many
        rows."""
        if self._large is None or self._small is None:
            return self._ratio
        return self._small / self._large

    def length(self, acceptance: float, decoding: int) -> int:
        """The number of draft tokens that gives the most tokens a second if all `decoding`
        sequences have this acceptance rate; 0 where decoding without drafts is faster."""
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
        """The updated acceptance rate of a sequence, of whose `proposed` draft tokens the first
        `accepted` were accepted. Tokens after the first rejected one don't count."""
        for number in range(min(accepted + 1, proposed)):
            true = float(number < accepted)
            acceptance += RATE * (true - acceptance)
            self.acceptance += SLOW_RATE * (true - self.acceptance)
        return acceptance

    def rested(self, acceptance: float) -> float:
        """The updated acceptance rate of a sequence after a step without proposals."""
        return min(1.0, acceptance + RECOVERY)

    def fade(self) -> None:
        """Reduce the measured cost of a pass, in a step that made none."""
        if self._small is not None:
            self._small *= FADING

    def observe_step(self, rows: int, seconds: float) -> None:
        """Record that the large model took `seconds` for a step of `rows` decode rows."""
        self._large = moving_mean(self._large, seconds / (self._fixed_rows + rows), MEMORY)

    def observe_pass(self, rows: int, seconds: float) -> None:
        """Record that a pass of the draft model took `seconds` for `rows` rows, with the draws and
        masks that belong to it."""
        self._small = moving_mean(self._small, seconds / (self._fixed_rows + rows), MEMORY)
