"""The client's side of a request: the engine's thread publishes deltas, and one reader takes them,
in another thread or in an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

from maskwright.engine.request.mailbox import Mailbox
from maskwright.engine.request.request import Completion, Delta, FinishReason
from maskwright.engine.request.trace import Record, Trace
from maskwright.engine.request.wake_ups import Waiter, wake_ups_of_running_loop
from maskwright.sampling import PromptScores


class Generation(Mailbox):
    """The output of one request. Iterate over its deltas once, with `for` or `async for`, or call
    `result()`. One task that reads several generations calls `stream` and `take` of each.

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
        super().__init__(buffer, record or Record(0.0, prompt=prompt_tokens, seed=seed))
        self.id = number
        self.seed = seed
        self.prompt_tokens = prompt_tokens
        self.deadline = deadline
        self.trace: Trace | None = None
        """The times and counts of the request, once it has ended."""
        self.output: tuple[int, ...] = ()
        """The tokens of the answer, an end token included, once the request has ended."""
        self.prompt_scores: PromptScores | None = None
        """The log-probabilities of the prompt's tokens from the second on, if the request asks for
        them and the prompt has more than one; they are there before the first delta."""
        self._listeners: list[Callable[[Trace], None]] = []
        self._cancel = cancel
        self._resume = resume

    def cancel(self) -> None:
        """Stop generating, from any thread. The last delta then says CANCELLED, unless the
        generation had ended already. Returns at once."""
        self._cancel(self.id)

    def __iter__(self) -> Iterator[Delta]:
        self.stream()
        return self._deltas()

    def __aiter__(self) -> AsyncIterator[Delta]:
        self.stream()
        return self._adeltas()

    def stream(self) -> None:
        """Begin to read deltas: from now on, the request pauses when its reader is behind."""
        self._streams = True

    @staticmethod
    def waiter(notify: Callable[[], None]) -> Waiter:
        """Return what `take` needs to have `notify`, which must not raise, called in the event loop
        that runs in this thread."""
        return wake_ups_of_running_loop(), notify

    def take(self, waiter: Waiter) -> Delta | None:
        """Return what has been published since the last call, None if that is nothing. Unless it
        was the last delta, `waiter` is called once when there is something more, so that a reader
        need not ask in vain before it waits; before `take` returns, if that is there already."""
        with self._ready:
            delta = self._take()
            ended = delta is not None and delta.finish_reason is not None
            more = self._filled
            self._waiter = None if ended or more else waiter
        if more:
            _, notify = waiter
            notify()
        return delta

    def _deltas(self) -> Iterator[Delta]:
        finished = False
        while not finished:
            with self._ready:
                self._waiting += 1
                self._ready.wait_for(lambda: self._filled)
                self._waiting -= 1
                delta = self._take()
            if delta is not None:
                finished = delta.finish_reason is not None
                yield delta

    async def _adeltas(self) -> AsyncIterator[Delta]:
        published = asyncio.Event()
        waiter = self.waiter(published.set)
        finished = False
        while not finished:
            published.clear()
            delta = self.take(waiter)
            if delta is None:
                await published.wait()
            else:
                finished = delta.finish_reason is not None
                yield delta

    def result(self) -> Completion:
        """Wait for the end and return the whole completion. Raises the error of a failed
        request."""
        self._wakes_once = True
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

    def _take(self) -> Delta | None:
        if self._apart:
            return self._apart.popleft()
        unread = self._take_unread()
        if not unread:
            return None
        if self._throttled and self._resume is not None:
            self._throttled = False
            self._resume(self.id)
        return Delta.join(unread)

    def _complete(self, deltas: list[Delta]) -> Completion:
        whole = Delta.join(deltas)
        if whole.error is not None:
            raise whole.error
        reason = whole.finish_reason or FinishReason.ERROR
        return Completion(
            whole.text,
            whole.token_ids,
            reason,
            self.prompt_tokens,
            whole.scores,
            whole.stop,
            whole.shortened_at,
        )
