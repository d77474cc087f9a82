"""Runs the steps of one engine on the clock."""

from __future__ import annotations

from collections.abc import Callable

from maskwright.engine.schedule.sequence import Sequence as LiveSequence
from maskwright.sim.engine.simulated_engine import SimulatedEngine
from maskwright.sim.fleet.clock import EventClock

Ended = Callable[[LiveSequence], None]


class Driver:
    """Runs one engine's steps on the clock. `ended` is called with each sequence that has ended,
    after its blocks were released."""

    def __init__(self, engine: SimulatedEngine, clock: EventClock, ended: Ended) -> None:
        self.engine = engine
        self._clock = clock
        self._ended = ended
        self._running = False
        self.began = 0.0
        """When the last step was begun."""

    def wake(self) -> None:
        """Begin a step unless one runs or there is nothing to do. To be called when a request has
        arrived."""
        if self._running or self.engine.scheduler.idle:
            return
        self.began = self._clock.now
        plan, seconds = self.engine.begin()
        if plan.chunks:
            self._running = True
            self._clock.at(self._clock.now + seconds, self._finish)
        else:
            self.engine.finish()  # a request that fits nowhere: it waits for ever, and is counted

    def _finish(self) -> None:
        self._running = False
        self.engine.now = self._clock.now
        for sequence in self.engine.finish():
            self._ended(sequence)
        self.wake()
