"""A timer for what nearly always ends in time, and happens for each token."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


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
