"""The client's end of a request: deltas come in from the engine's thread, and are taken by one
reader, from another thread or from an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator

from maskwright.engine.request.request import Completion, Delta, FinishReason
from maskwright.engine.request.trace import Record, Trace


class Generation:
    """One submitted request. Iterate (plainly or with `async for`) once, or take `result()`.

    Deltas that a slow reader has not taken are joined, so that at most one is kept. Once a reader
    of deltas has begun, that one holds `buffer` tokens; then the request pauses until it is taken.
    """

    def __init__(
        self,
        number: int,
        seed: int,
        prompt_tokens: int,
        cancel: Callable[[int], None],
        *,
        buffer: int = 1 << 30,
        resume: Callable[[int], None] | None = None,
        deadline: float | None = None,
        record: Record | None = None,
    ) -> None:
        self.id = number
        self.seed = seed
        self.prompt_tokens = prompt_tokens
        self.deadline = deadline
        self.record = record or Record(0.0, prompt=prompt_tokens, seed=seed)
        self.trace: Trace | None = None
        """What its life was like, once it has ended."""
        self._listeners: list[Callable[[Trace], None]] = []
        self._cancel = cancel
        self._buffer = buffer
        self._resume = resume
        self._streams = False
        self._throttled = False
        self._ready = threading.Condition()
        self._delta: Delta | None = None
        self._waiter: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None
        self._wakes_once = False

    def cancel(self) -> None:
        """Stop generating, from any thread. The last delta then says CANCELLED, unless the
        generation had ended already. Returns at once."""
        self._cancel(self.id)

    def __iter__(self) -> Iterator[Delta]:
        self._streams = True
        return self._deltas()

    def __aiter__(self) -> AsyncIterator[Delta]:
        self._streams = True
        return self._adeltas()

    def throttle(self) -> bool:
        """Called by the engine alone: whether the reader is so far behind that the request should
        pause. If so, the engine is told when the reader goes on."""
        with self._ready:
            behind = 0 if self._delta is None else len(self._delta.token_ids)
            self._throttled = self._streams and behind >= self._buffer
            return self._throttled

    def _deltas(self) -> Iterator[Delta]:
        finished = False
        while not finished:
            with self._ready:
                self._ready.wait_for(lambda: self._delta is not None)
                delta = self._take()
            if delta is not None:
                finished = delta.finish_reason is not None
                yield delta

    async def _adeltas(self) -> AsyncIterator[Delta]:
        loop = asyncio.get_running_loop()
        finished = False
        while not finished:
            with self._ready:
                delta = self._take()
                waiter = loop.create_future()
                self._waiter = (loop, waiter) if delta is None else None
            if delta is None:
                await waiter
            else:
                finished = delta.finish_reason is not None
                yield delta

    def result(self) -> Completion:
        """Wait for the end. Raises the request's error where it ended with one."""
        return self._complete(list(self._deltas()))

    async def aresult(self) -> Completion:
        """`result` for an event loop, which is woken once, at the end."""
        self._wakes_once = True
        return self._complete([delta async for delta in self._adeltas()])

    def when_ended(self, listener: Callable[[Trace], None]) -> None:
        """Call `listener` with the trace once there is one, in the engine's thread, which must not
        be kept waiting, and before the reader has the last delta; or at once, if there is one
        already."""
        with self._ready:
            if self.trace is None:
                self._listeners.append(listener)
                return
        listener(self.trace)

    def end(self, last: Delta, trace: Trace) -> None:
        """Called by the engine alone, once: the last delta, and the trace."""
        with self._ready:
            self.trace = trace
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener(trace)
        self.publish(last)

    def publish(self, delta: Delta) -> None:
        """Called by the engine alone. Never blocks."""
        with self._ready:
            self._delta = delta if self._delta is None else self._delta + delta
            waiter = None
            if delta.finish_reason is not None or not self._wakes_once:
                waiter, self._waiter = self._waiter, None
            self._ready.notify_all()
        if waiter is not None:
            loop, future = waiter
            # The reader's loop may be closed by now; then nobody waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_wake, future)

    def _take(self) -> Delta | None:
        delta, self._delta = self._delta, None
        if delta is not None and self._throttled and self._resume is not None:
            self._throttled = False
            self._resume(self.id)
        return delta

    def _complete(self, deltas: list[Delta]) -> Completion:
        whole = deltas[0]
        for delta in deltas[1:]:
            whole += delta
        if whole.error is not None:
            raise whole.error
        reason = whole.finish_reason or FinishReason.ERROR
        return Completion(whole.text, whole.token_ids, reason, self.prompt_tokens, whole.scores)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
