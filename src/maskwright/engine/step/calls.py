"""Work of other threads that the engine's thread does for them between two steps."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeVar

T = TypeVar("T")

SHARE: Final = 0.04
"""Share of the time of steps that calls between them may take while requests run."""

LONGEST_PAUSE: Final = 0.2
"""Upper bound on the seconds after a call in which no other one is made."""


class Calls:
    """A queue of functions to be called between steps, one each time, so that the running requests
    never wait for more than one of them. While requests run, the next one is called only after
    steps have taken so long that calls take a small share of the time: blocks that arrive from
    another engine must not slow down the answers that run here.

    `clock` and `processor` return seconds: of the clock, and of the processor time of the thread
    that calls. A thread that was interrupted within a call has taken no more for it."""

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        processor: Callable[[], float] = time.thread_time,
    ) -> None:
        self._queue: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._clock = clock
        self._processor = processor
        self._due = 0.0

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, work: Callable[[], T]) -> Future[T]:
        """Queue `work`; the future gets its result or its exception."""
        future: Future[T] = Future()
        self._queue.append((work, future))
        return future

    def run_one(self, *, busy: bool = False) -> None:
        """Call the first function of the queue, if there is one. `busy`: requests are running, so
        that it may have to wait."""
        if not self._queue or (busy and self._clock() < self._due):
            return
        work, future = self._queue.popleft()
        if not future.set_running_or_notify_cancel():
            return
        began = self._processor()
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        pause = (self._processor() - began) / SHARE
        self._due = self._clock() + min(pause, LONGEST_PAUSE)

    def refuse_all(self, error: Exception) -> None:
        """Give `error` to all that wait in the queue."""
        while self._queue:
            _, future = self._queue.popleft()
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
