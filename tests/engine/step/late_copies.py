"""A stand-in for a GPU's stream of copies, whose events come late and in any order.

A GPU makes a copy at some time between its beginning and the event of its end. Here it is made
either at once or in the last moment. So a block that others read or write before the event has the
wrong contents in one of the two cases.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class LateEvent:
    """The end of copies, which `asked` still has to make if it isn't None. Each time that somebody
    looks, the copies end with this likelihood."""

    asked: Callable[[], object] | None
    likelihood: float
    rng: random.Random
    ended: bool = False
    seconds: float = 1e-3

    def done(self) -> bool:
        if not self.ended and self.rng.random() < self.likelihood:
            self.wait()
        return self.ended

    def wait(self) -> None:
        if self.asked is not None:
            self.asked()
        self.asked, self.ended = None, True


class LateCopies:
    """Begins copies that end late."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.begun: list[LateEvent] = []

    def begin(self, copy: Callable[[], object]) -> LateEvent:
        at_once = self._rng.random() < 0.5
        if at_once:
            copy()
        likelihood = self._rng.choice([0.02, 0.2, 0.7, 1.0])
        event = LateEvent(None if at_once else copy, likelihood, self._rng)
        self.begun.append(event)
        return event

    @property
    def in_flight(self) -> int:
        """Copies that have not ended."""
        return sum(not event.ended for event in self.begun)
