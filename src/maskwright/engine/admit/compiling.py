"""Requests whose grammar is still being compiled. They hold no slot and no block, delay no other
request, and keep the number that they were given when they were submitted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

from maskwright.engine.request.generation import Generation
from maskwright.engine.request.request import Request
from maskwright.immutable import Immutable
from maskwright.mask import CompiledGrammar


class Waiting(Immutable):
    """A request that waits for its grammar."""

    request: Request
    generation: Generation
    future: Future[CompiledGrammar]


class Compiling:
    """The requests that wait for their grammars. May be used from any thread. `wake` is called from
    the compiling thread when a grammar is done."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._waiting: dict[int, Waiting] = {}
        self._done: list[Waiting] = []

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def ready(self) -> bool:
        """Whether `take` has something to give."""
        return bool(self._done)

    def add(
        self, request: Request, generation: Generation, future: Future[CompiledGrammar]
    ) -> None:
        """Wait for the grammar of a request."""
        waiting = Waiting(request, generation, future)
        with self._lock:
            self._waiting[generation.id] = waiting
        future.add_done_callback(lambda _: self._arrived(waiting))

    def remove(self, number: int) -> Generation | None:
        """Remove a request and return its generation; None if it does not wait here."""
        with self._lock:
            waiting = self._waiting.pop(number, None)
        return None if waiting is None else waiting.generation

    def expired(self, now: float) -> list[int]:
        """The numbers of the requests whose deadline has passed at time `now`."""
        with self._lock:
            return [
                number
                for number, waiting in self._waiting.items()
                if waiting.generation.deadline is not None and waiting.generation.deadline <= now
            ]

    def next_deadline(self) -> float | None:
        """The earliest deadline; None without one."""
        with self._lock:
            deadlines = [waiting.generation.deadline for waiting in self._waiting.values()]
        return min((time for time in deadlines if time is not None), default=None)

    def take(self) -> list[Waiting]:
        """Remove and return the requests whose grammar is compiled or has failed."""
        with self._lock:
            done, self._done = self._done, []
            return [item for item in done if self._waiting.pop(item.generation.id, None)]

    def take_all(self) -> list[Generation]:
        """Remove and return the generations of all requests, when the engine ends."""
        with self._lock:
            left = [waiting.generation for waiting in self._waiting.values()]
            self._waiting = {}
        return left

    def _arrived(self, waiting: Waiting) -> None:
        with self._lock:
            self._done.append(waiting)
        self._wake()
