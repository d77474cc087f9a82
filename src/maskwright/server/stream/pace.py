"""How often streams are written to."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

EACH_S: Final = 0.0008
"""Seconds between two writes to any streams, on average. A write takes the server about 40
microseconds, in which the engine can't compute, so that all writes take a twentieth of the time."""

LEAST_S: Final = 0.002
"""Texts that would be held for less are not held. Timers of an event loop are no more exact."""

MOST_S: Final = 0.05
"""Upper bound on the seconds for which a text is held, however many streams there are: readers
don't notice them."""

SLACK_S: Final = 0.002
"""Streams that are due within so many seconds of each other are written to together."""


class Pace:
    """Spaces the writes to each stream of one event loop.

    Each token of each stream could be sent by itself, but where a small model generates many
    answers at a time, the writes would take as long as the model. So a text that comes less than
    `gap` seconds after the one before it is held until then, together with what follows it. A text
    that comes later, and the first of a stream, is not held.
    """

    def __init__(self) -> None:
        self.running = 0
        """Streams that have sent something and have not ended."""
        self._waiting: deque[tuple[float, Callable[[], None]]] = deque()

    @property
    def gap(self) -> float:
        """Seconds from one write to a stream to the next, 0 for no limit."""
        gap = EACH_S * self.running
        return 0.0 if gap < LEAST_S else min(gap, MOST_S)

    def call_at(self, due: float, call: Callable[[], None]) -> None:
        """Have `call`, which must not raise, called at the time `due` of the running event loop.
        It may be a little earlier, and as late as any call before it."""
        if not self._waiting:
            self._look_at(due)
        self._waiting.append((due, call))

    def _look_at(self, due: float) -> None:
        asyncio.get_running_loop().call_at(due, self._look)

    def _look(self) -> None:
        """Make the calls that are due. All streams share one timer of the loop."""
        until = asyncio.get_running_loop().time() + SLACK_S
        calls: list[Callable[[], None]] = []
        while self._waiting and self._waiting[0][0] <= until:
            calls.append(self._waiting.popleft()[1])
        if self._waiting:
            self._look_at(self._waiting[0][0])
        for call in calls:
            call()
