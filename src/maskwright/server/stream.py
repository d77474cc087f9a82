"""Deltas of the generations of one request, in the order of their arrival, and how often streams
are written to. What nearly always ends in time, and happens for each token, has a timer of its own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from maskwright.engine import Delta, Generation


class Timer:
    """Calls back when `seconds` have passed between `begin` and `end`.

    The event loop has one entry for it, which is moved when it is due and not at each `begin`, so
    that both methods cost next to nothing. To be used in one event loop.
    """

    def __init__(self, seconds: float, call: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._call = call
        self._due: float | None = None
        self._entry: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Begin to count, from 0."""
        self._due = self._loop.time() + self._seconds
        if self._entry is None:
            self._entry = self._loop.call_at(self._due, self._look)

    def end(self) -> None:
        """Stop counting."""
        self._due = None

    def close(self) -> None:
        """Never call back again."""
        self._due = None
        if self._entry is not None:
            self._entry.cancel()

    def _look(self) -> None:
        self._entry = None
        if self._due is None:
            return
        if self._loop.time() < self._due:
            self._entry = self._loop.call_at(self._due, self._look)
        else:
            self._due = None
            self._call()


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


class Arrivals:
    """Reads several generations in one event loop, without a task for each. Nothing is read ahead:
    what has not been asked for stays in its generation, which joins it and pauses when it becomes
    too much."""

    def __init__(
        self, generations: Sequence[Generation], idle: float, pace: Pace | None = None
    ) -> None:
        """`idle`: seconds of silence after which `next` returns None. `pace`: that of all streams;
        None to hold nothing. To be called in the event loop that reads."""
        for generation in generations:
            generation.stream()
        self._generations = generations
        self._idle = idle
        self._ready = deque(range(len(generations)))
        """Which generations may have something new."""
        self._waiters = [
            generation.waiter(partial(self._arrived, index))
            for index, generation in enumerate(generations)
        ]
        self._waiter: asyncio.Future[bool] | None = None
        self._timer: Timer | None = None
        self._loop = asyncio.get_running_loop()
        self._pace = pace
        self._runs = False
        self._takes = False
        self._due = 0.0
        """The time from which on nothing is held."""
        self._held: list[int] = []
        """Which generations have something new that is held."""

    async def next(self) -> tuple[int, Delta] | None:
        """Return the next delta, with the number of its generation, or None after silence. To be
        called until the last delta of each generation has come."""
        while True:
            while self._ready:
                index = self._ready.popleft()
                self._takes = True
                delta = self._generations[index].take(self._waiters[index])
                self._takes = False
                if delta is not None:
                    self._hold_next()
                    return index, delta
            if not await self._arrival():
                return None

    def close(self) -> None:
        """Stop reading."""
        if self._timer is not None:
            self._timer.close()
        if self._pace is not None and self._runs:
            self._pace.running -= 1
            self._runs = False

    async def _arrival(self) -> bool:
        """Wait for a delta; False if there was silence instead."""
        self._waiter = asyncio.get_running_loop().create_future()
        if self._timer is None:
            self._timer = Timer(self._idle, lambda: self._wake(False))
        self._timer.begin()
        try:
            return await self._waiter
        finally:
            self._timer.end()

    def _arrived(self, index: int) -> None:
        # What a generation tells while it is read was there already, and joins with nothing.
        if self._pace is None or self._takes or self._loop.time() >= self._due:
            self._ready.append(index)
            self._wake(True)
            return
        if not self._held:
            self._pace.call_at(self._due, self._release)
        self._held.append(index)

    def _hold_next(self) -> None:
        """Hold what comes before the next write is due."""
        pace = self._pace
        if pace is not None:
            if not self._runs:
                self._runs = True
                pace.running += 1
            gap = pace.gap
            self._due = self._loop.time() + gap if gap else 0.0

    def _release(self) -> None:
        self._ready += self._held
        self._held.clear()
        self._wake(True)

    def _wake(self, arrived: bool) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(arrived)
