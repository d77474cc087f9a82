"""Runs the steps of one engine on the clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from maskwright.engine.schedule.plan import StepPlan
from maskwright.engine.schedule.sequence import Sequence as LiveSequence
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.clock import EventClock
from maskwright_sim.policy.policy_scheduler import PolicyScheduler

Ended = Callable[[LiveSequence], None]


class Driver:
    """Runs one engine's steps on the clock. `ended` is called with each sequence that has ended,
    after its blocks were released.

    An engine with several stages works on several steps at a time (pipelined workers: Yu et al.,
    "Orca", OSDI'22, algorithm 1). Every stage takes an equal share of a step's seconds, and takes
    the steps in the order in which they were begun; a step waits for the stage before it and for
    the step before it, which leaves bubbles where steps are of unlike lengths."""

    def __init__(self, engine: SimulatedEngine, clock: EventClock, ended: Ended) -> None:
        self.engine = engine
        self._clock = clock
        self._ended = ended
        self._free = [0.0] * engine.stages
        self._begun: deque[float] = deque()
        self.began = 0.0
        """When the step was begun that finished last."""

    def wake(self) -> None:
        """Begin a step unless the first stage is busy, enough steps are in flight, or there is
        nothing to do. To be called when a request has arrived."""
        now, engine = self._clock.now, self.engine
        full = len(self._begun) >= engine.flights or (self._begun and self._free[0] > now)
        if full or engine.scheduler.idle:
            return
        engine.now = now
        plan, seconds = engine.begin()
        if not plan.chunks:
            engine.withdraw()  # what waits fits nowhere, or is in flight
            return
        self._begun.append(now)
        at = now
        for stage, free in enumerate(self._free):
            at = self._free[stage] = max(at, free) + seconds / engine.stages
        self._clock.at(at, self._finish)
        if engine.flights > 1:
            self._clock.at(self._free[0], lambda: self._pass_on(plan))

    def _pass_on(self, plan: StepPlan) -> None:
        scheduler = self.engine.scheduler
        assert isinstance(scheduler, PolicyScheduler), "our scheduler has no pipeline"
        scheduler.pass_on(plan)
        self.wake()

    def _finish(self) -> None:
        self.began = self._begun.popleft()
        self.engine.now = self._clock.now
        for sequence in self.engine.finish():
            self._ended(sequence)
        self.wake()
