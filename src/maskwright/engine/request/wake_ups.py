"""Calls from other threads into an event loop; many of them share one wake-up of the loop.

A step of the engine publishes a delta for each stream. A wake-up for each would cost a system call,
in which the engine's thread gives the interpreter's lock away, and a turn of the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from typing import Final, TypeAlias

Call: TypeAlias = Callable[[], None]

GIVE_WAY_S: Final = 0.001
"""Most seconds for which a thread waits until event loops have begun with urgent calls."""


class WakeUps:
    """Passes calls to one event loop, from any thread. Calls that come before the loop has run the
    earlier ones are run together with them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop: Final = weakref.ref(loop)
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._begun = threading.Event()
        """Whether the loop has begun with all calls so far."""

    def pass_on(self, call: Call, *, urgent: bool = False) -> None:
        """Have the loop run `call`, which must not raise. Nothing happens if the loop is closed.
        Where this thread holds wake-ups together, the loop is woken at the end of that. `urgent`:
        the thread waits for the loop at the next `give_way`."""
        if urgent:
            _OF_THREAD.urgent.add(self)
        if _OF_THREAD.held is None:
            self._wake([call])
        else:
            _OF_THREAD.held.setdefault(self, []).append(call)

    def _wake(self, calls: Sequence[Call]) -> None:
        with self._lock:
            waiting = bool(self._calls)
            self._calls += calls
            self._begun.clear()
        loop = self._loop()
        if loop is None or loop.is_closed():  # then no reader waits
            self._take()
        elif not waiting:
            with contextlib.suppress(RuntimeError):  # it has been closed since
                loop.call_soon_threadsafe(self._run)

    def _run(self) -> None:
        for call in self._take():
            call()

    def _take(self) -> list[Call]:
        with self._lock:
            calls, self._calls = self._calls, []
            self._begun.set()
        return calls

    @staticmethod
    def give_way() -> None:
        """Wait until the loops have begun with the urgent calls of this thread, `GIVE_WAY_S` at
        most. To be called outside of `held`.

        A thread that computes in many short calls gives the interpreter's lock away only for a
        moment each time. A thread that wants it is not awake in time, and gets it milliseconds
        later.
        """
        if urgent := _OF_THREAD.urgent:
            end = time.monotonic() + GIVE_WAY_S
            for wake_ups in urgent:
                wake_ups._begun.wait(max(0.0, end - time.monotonic()))
            urgent.clear()

    @staticmethod
    @contextlib.contextmanager
    def held() -> Generator[None]:
        """Hold the wake-ups of this thread together while the block runs, so that each loop is
        woken once, at the end of the outermost of such blocks."""
        if _OF_THREAD.held is not None:
            yield
            return
        held = _OF_THREAD.held = {}
        try:
            yield
        finally:
            _OF_THREAD.held = None
            for wake_ups, calls in held.items():
                wake_ups._wake(calls)


class _OfThread(threading.local):
    """`held`: what this thread passes on at the end of a block; None outside of one. `urgent`: for
    which loops it has passed on urgent calls since it last gave way."""

    def __init__(self) -> None:
        self.held: dict[WakeUps, list[Call]] | None = None
        self.urgent: set[WakeUps] = set()


Waiter: TypeAlias = tuple[WakeUps, Call]
"""A call that an event loop is to run when there is something to read."""

_OF_THREAD: Final = _OfThread()

_OF_LOOPS: Final = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, WakeUps]()


def wake_ups_of_running_loop() -> WakeUps:
    """The wake-ups of the event loop that runs in this thread."""
    loop = asyncio.get_running_loop()
    known = _OF_LOOPS.get(loop)
    if known is None:
        known = _OF_LOOPS[loop] = WakeUps(loop)
    return known
