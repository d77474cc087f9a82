"""The work of one step, which every cost model reads."""

from __future__ import annotations

from typing import Protocol

from maskwright.engine.schedule.plan import StepPlan
from maskwright.immutable import Immutable


class StepWork(Immutable):
    """`decoding`: tokens of decoding sequences, drafts included. `context`: positions that their
    attention reads, in all. `prompt`: prompt tokens; `position`: the mean number of positions
    before each. `copied`: positions whose keys and
    values are copied between the model's pool and the host's."""

    decoding: int = 0
    context: int = 0
    prompt: int = 0
    position: float = 0.0
    copied: int = 0

    @property
    def tokens(self) -> int:
        """All tokens of the step."""
        return self.decoding + self.prompt

    @property
    def prompt_positions(self) -> float:
        """Positions that the attention of the prompt tokens reads, in all."""
        return self.prompt * self.position


def work_of(plan: StepPlan, copied: int) -> StepWork:
    """The work of a plan that copies `copied` positions between the pools."""
    tokens, _, prompt, position = plan.totals
    context = sum(
        chunk.count * chunk.start + chunk.count * (chunk.count + 1) // 2
        for chunk in plan.chunks
        if chunk.decodes
    )
    return StepWork(
        tokens - prompt,
        context,
        prompt,
        position,
        copied,
    )


class CostModel(Protocol):
    """Predicts the duration of a step."""

    def seconds(self, work: StepWork) -> float:
        """The seconds of a step with this work."""
        ...
