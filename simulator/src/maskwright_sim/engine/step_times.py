"""Models of step times that know the simulated costs."""

from __future__ import annotations

from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright_sim.costs.linear import LinearCosts

COPY_SECONDS = 0.0002


class ExactStepTimeModel(StepTimeModel):
    """Believes in costs, whatever time has passed. `most`, `stall`: as of `StepTimeModel`."""

    def __init__(self, most: int, stall: float | None, costs: LinearCosts) -> None:
        super().__init__(most, stall)
        self._costs = costs

    def observe(self, decoding: int, prompt: int, seconds: float, position: float = 0.0) -> None:
        """Record a step with the duration that the costs give it."""
        super().observe(decoding, prompt, self._costs.of(decoding, prompt), position)

    def observe_copies(self, blocks: int, seconds: float) -> None:
        """Record copies with the duration that they always have."""
        super().observe_copies(blocks, COPY_SECONDS * blocks)


def measured_step_times(costs: LinearCosts) -> StepTimeModel:
    """The step times of an engine that has measured such a machine for a while."""
    step_times = StepTimeModel(256, 4.0)
    for rows in (1, 4, 8, 2, 6) * 20:
        step_times.observe(rows, 0, costs.of(rows, 0))
        step_times.observe(rows, 100, costs.of(rows, 100))
    return step_times
