"""Events in the order of their times."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable


class EventClock:
    """Calls functions at simulated times. Events of one time are called in the order in which they
    were made."""

    def __init__(self) -> None:
        self.now = 0.0
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    def at(self, time: float, call: Callable[[], None]) -> None:
        """Call `call` at `time`, or now if that has passed."""
        heapq.heappush(self._events, (max(time, self.now), next(self._order), call))

    def run(self) -> None:
        """Call all events, those that they make included."""
        while self._events:
            self.now, _, call = heapq.heappop(self._events)
            call()
