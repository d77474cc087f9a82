"""Work of other threads that the engine's thread does for them between two steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Calls:
    """A queue of functions to be called between steps, one each time, so that the running requests
    never wait for more than one of them."""

    def __init__(self) -> None:
        self._queue: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, work: Callable[[], T]) -> Future[T]:
        """Queue `work`; the future gets its result or its exception."""
        future: Future[T] = Future()
        self._queue.append((work, future))
        return future

    def run_one(self) -> None:
        """Call the first function of the queue, if there is one."""
        if not self._queue:
            return
        work, future = self._queue.popleft()
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)

    def refuse_all(self, error: Exception) -> None:
        """Give `error` to all that wait in the queue."""
        while self._queue:
            _, future = self._queue.popleft()
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
