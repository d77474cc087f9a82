"""The client's side of a request: the engine's thread publishes deltas, and one reader takes them,
in another thread or in an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator

from maskwright.engine.request.request import Completion, Delta, FinishReason
from maskwright.engine.request.trace import Record, Trace
from maskwright.sampling import PromptScores


class Generation:
    """The output of one request. Iterate over its deltas once, with `for` or `async for`, or call
    `result()`.

    Deltas that the reader has not taken yet are joined into one. Once a reader has begun to
    iterate, the request pauses when this delta has `buffer` tokens, until the reader takes it.
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
        """The times and counts of the request, once it has ended."""
        self.output: tuple[int, ...] = ()
        """The tokens of the answer, an end token included, once the request has ended."""
        self.prompt_scores: PromptScores | None = None
        """The log-probabilities of the prompt's tokens from the second on, if the request asks for
        them and the prompt has more than one; they are there before the first delta."""
        self._listeners: list[Callable[[Trace], None]] = []
        self._cancel = cancel
        self._buffer = buffer
        self._resume = resume
        self._streams = False
        self._throttled = False
        self._ready = threading.Condition()
        self._delta: Delta | None = None
        self._apart: deque[Delta] = deque()
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
        """Whether the reader is so far behind that the request should pause. If so, `resume` is
        called when the reader goes on. Only the engine calls this."""
        with self._ready:
            behind = 0 if self._delta is None else len(self._delta.token_ids)
            self._throttled = self._streams and behind >= self._buffer
            return self._throttled

    def _deltas(self) -> Iterator[Delta]:
        finished = False
        while not finished:
            with self._ready:
                self._ready.wait_for(lambda: self._apart or self._delta is not None)
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
        """Wait for the end and return the whole completion. Raises the error of a failed
        request."""
        return self._complete(list(self._deltas()))

    async def aresult(self) -> Completion:
        """Like `result`, for an event loop, which is woken only once, at the end."""
        self._wakes_once = True
        return self._complete([delta async for delta in self._adeltas()])

    def when_ended(self, listener: Callable[[Trace], None]) -> None:
        """Call `listener` with the trace when the request ends: in the engine's thread, which it
        must not block, and before the reader gets the last delta. If the request has ended
        already, the call is made at once."""
        with self._ready:
            if self.trace is None:
                self._listeners.append(listener)
                return
        listener(self.trace)

    def end(self, last: Delta, trace: Trace) -> None:
        """Publish the last delta and the trace. Only the engine calls this, once."""
        with self._ready:
            self.trace = trace
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener(trace)
        self.publish(last)

    def publish_apart(self, delta: Delta) -> None:
        """Add a delta that is not joined with others; it comes before all that are published
        later. Only the engine calls this, before the first call of `publish`."""
        with self._ready:
            self._apart.append(delta)
            waiter = None
            if not self._wakes_once:
                waiter, self._waiter = self._waiter, None
            self._ready.notify_all()
        _wake_reader(waiter)

    def publish(self, delta: Delta) -> None:
        """Add `delta` to what the reader will take. Only the engine calls this; it never blocks."""
        with self._ready:
            self._delta = delta if self._delta is None else self._delta + delta
            waiter = None
            if delta.finish_reason is not None or not self._wakes_once:
                waiter, self._waiter = self._waiter, None
            self._ready.notify_all()
        _wake_reader(waiter)

    def _take(self) -> Delta | None:
        if self._apart:
            return self._apart.popleft()
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
        return Completion(
            whole.text, whole.token_ids, reason, self.prompt_tokens, whole.scores, whole.stop
        )


def _wake_reader(waiter: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None) -> None:
    """Wake a reader that waits in an event loop, if there is one."""
    if waiter is not None:
        loop, future = waiter
        # The reader's loop may be closed by now; then no reader is waiting.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_wake, future)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
