"""Calls from other threads into an event loop, many of which share one wake-up of the loop.

A step of the engine publishes a delta for each stream. A wake-up for each would cost a system call,
in which the engine's thread gives the interpreter's lock away, and a turn of the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from typing import Final, TypeAlias

Call: TypeAlias = Callable[[], None]


class WakeUps:
    """Passes calls to one event loop, from any thread. Calls that come before the loop has run the
    earlier ones are run together with them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop: Final = weakref.ref(loop)
        self._lock = threading.Lock()
        self._calls: list[Call] = []

    def pass_on(self, call: Call) -> None:
        """Have the loop run `call`, which must not raise. Nothing happens if the loop is closed.
        Where this thread holds wake-ups together, the loop is woken at the end of that."""
        if _HELD.calls is None:
            self._wake([call])
        else:
            _HELD.calls.setdefault(self, []).append(call)

    def _wake(self, calls: Sequence[Call]) -> None:
        with self._lock:
            waiting = bool(self._calls)
            self._calls += calls
        loop = self._loop()
        if not waiting and loop is not None:
            with contextlib.suppress(RuntimeError):  # a closed loop has no reader that waits
                loop.call_soon_threadsafe(self._run)

    def _run(self) -> None:
        with self._lock:
            calls, self._calls = self._calls, []
        for call in calls:
            call()

    @staticmethod
    @contextlib.contextmanager
    def held() -> Generator[None]:
        """Hold the wake-ups of this thread together while the block runs, so that each loop is
        woken once, at the end of the outermost of such blocks."""
        if _HELD.calls is not None:
            yield
            return
        held = _HELD.calls = {}
        try:
            yield
        finally:
            _HELD.calls = None
            for wake_ups, calls in held.items():
                wake_ups._wake(calls)


class _Held(threading.local):
    """What this thread passes on at the end of a block; None outside of one."""

    calls: dict[WakeUps, list[Call]] | None = None


_HELD: Final = _Held()

_OF_LOOPS: Final = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, WakeUps]()


def wake_ups_of_running_loop() -> WakeUps:
    """The wake-ups of the event loop that runs in this thread."""
    loop = asyncio.get_running_loop()
    known = _OF_LOOPS.get(loop)
    if known is None:
        known = _OF_LOOPS[loop] = WakeUps(loop)
    return known
