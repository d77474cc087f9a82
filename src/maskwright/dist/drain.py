"""Whether the server still takes new requests, and how many it is answering."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Drain:
    """Once begun, no new request is let in, and the server ends when those that were let in before
    have been answered, or when its time is over.

    To be used from one event loop; `begin` may be called by a signal handler of its thread.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds`: how long requests may still take after the beginning of the drain."""
        self.seconds = seconds
        self.active = 0
        """Requests that are being answered."""
        self._clock = clock
        self._deadline: float | None = None

    @property
    def begun(self) -> bool:
        return self._deadline is not None

    @property
    def late(self) -> bool:
        """Whether requests are still being answered though their time is over."""
        return self.active > 0 and self._deadline is not None and self._clock() >= self._deadline

    @property
    def done(self) -> bool:
        """Whether the drain has begun and no request is left."""
        return self.begun and self.active == 0

    def begin(self) -> None:
        """Let no further request in. A second call changes nothing."""
        if self._deadline is None:
            self._deadline = self._clock() + self.seconds

    @contextmanager
    def answering(self) -> Generator[None]:
        """Count a request while the block runs."""
        self.active += 1
        try:
            yield
        finally:
            self.active -= 1
