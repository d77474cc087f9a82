"""What is done for requests between two tokens: in line, or in a thread beside the forward.

Torch lets go of the interpreter during its products and Numba during its walks, so the thread works
while the model computes. All requests' `advance` come before any `prepare`, because the next step
waits a little for those, while masks are not needed before its end.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from maskwright.engine.request.active import Active, Advance, Masks


@dataclass(frozen=True, slots=True)
class Prepared:
    """The masks are there."""

    masks: Masks


@dataclass(frozen=True, slots=True)
class Failed:
    """A grammar raised; it concerns its request alone."""

    error: Exception


News = Advance | Prepared | Failed


class Digests:
    """Work for `start`ed requests, done at once, or with `overlap` in a thread of its own. What
    comes of it is for the engine's thread to `collect`."""

    def __init__(self, *, overlap: bool) -> None:
        self.busy = 0.0
        """Seconds of work so far."""
        self._done: queue.SimpleQueue[tuple[Active, News]] = queue.SimpleQueue()
        self._todo: queue.SimpleQueue[tuple[Active, list[int]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        if overlap:
            self._thread = threading.Thread(
                target=self._work, name="maskwright-digests", daemon=True
            )
            self._thread.start()

    def start(self, active: Active, tokens: list[int]) -> None:
        """Digest `tokens`, which have been sampled for `active`; none at the beginning."""
        if self._thread is not None:
            self._todo.put((active, tokens))
            return
        begin = time.perf_counter()
        advanced = self._advance(active, tokens)
        if advanced is not None:
            self._prepare(active, advanced)
        self.busy += time.perf_counter() - begin

    def collect(self, wait: float = 0.0) -> Iterator[tuple[Active, News]]:
        """What has been done since, in order; if there is nothing, wait so many seconds for it."""
        try:
            yield self._done.get(timeout=wait) if wait else self._done.get_nowait()
            while True:
                yield self._done.get_nowait()
        except queue.Empty:
            return

    def stop(self) -> None:
        """End the thread, after what is under way."""
        if self._thread is not None:
            self._todo.put(None)
            self._thread.join()

    def _work(self) -> None:
        later: deque[tuple[Active, Advance]] = deque()
        while True:
            try:
                todo = self._todo.get(block=not later)
            except queue.Empty:
                todo = None
                begin = time.perf_counter()
                self._prepare(*later.popleft())
            else:
                if todo is None:
                    return
                begin = time.perf_counter()
                advanced = self._advance(*todo)
                if advanced is not None:
                    later.append((todo[0], advanced))
            self.busy += time.perf_counter() - begin

    def _advance(self, active: Active, tokens: list[int]) -> Advance | None:
        """None if there is nothing to prepare."""
        try:
            advanced = active.advance(tokens)
        except Exception as error:  # whatever a grammar raises
            self._done.put((active, Failed(error)))
            return None
        self._done.put((active, advanced))
        return None if advanced.reason is not None else advanced

    def _prepare(self, active: Active, advanced: Advance) -> None:
        try:
            masks = active.prepare(advanced.draft)
        except Exception as error:  # as above
            self._done.put((active, Failed(error)))
        else:
            self._done.put((active, Prepared(masks)))
