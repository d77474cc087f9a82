"""Seconds of a step as a linear function of its work."""

from __future__ import annotations

from maskwright.immutable import Immutable
from maskwright_sim.costs.work import StepWork


class LinearCosts(Immutable):
    """Seconds of a step: `fixed` before its first row, `row` for each decoded token, `token` for
    each prompt token, `place` for each position that the attention of a prompt token reads,
    `read` for each position that a decoded token reads, `copy` for each position that is
    copied between the pools."""

    fixed: float = 0.004
    row: float = 0.0005
    token: float = 0.0001
    place: float = 0.0
    read: float = 0.0
    copy: float = 0.0

    def of(self, decoding: int, prompt: int) -> float:
        """The seconds of a step with `decoding` decoded tokens and `prompt` prompt tokens, without
        what attention adds."""
        return self.fixed + self.row * decoding + self.token * prompt

    def seconds(self, work: StepWork) -> float:
        """The seconds of a step with this work."""
        return (
            self.of(work.decoding, work.prompt)
            + self.place * work.prompt_positions
            + self.read * work.context
            + self.copy * work.copied
        )
