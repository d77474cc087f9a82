"""Deltas of the generations of one request, in the order of their arrival."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from functools import partial

from maskwright.engine import Delta, Generation
from maskwright.server.stream.timer import Timer


class Arrivals:
    """Reads several generations in one event loop, without a task for each. Nothing is read ahead:
    what has not been asked for stays in its generation, which joins it and pauses when it becomes
    too much."""

    def __init__(self, generations: Sequence[Generation], idle: float) -> None:
        """`idle`: seconds of silence after which `next` returns None. To be called in the event
        loop that reads."""
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

    async def next(self) -> tuple[int, Delta] | None:
        """Return the next delta, with the number of its generation, or None after silence. To be
        called until the last delta of each generation has come."""
        while True:
            while self._ready:
                index = self._ready.popleft()
                delta = self._generations[index].take(self._waiters[index])
                if delta is not None:
                    return index, delta
            if not await self._arrival():
                return None

    def close(self) -> None:
        """Stop reading."""
        if self._timer is not None:
            self._timer.close()

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
        self._ready.append(index)
        self._wake(True)

    def _wake(self, arrived: bool) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(arrived)
