"""Deltas of the generations of one request, in the order of their arrival."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from functools import partial

from maskwright.engine import Delta, Generation
from maskwright.server.stream.pace import Pace
from maskwright.server.stream.timer import Timer


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
