"""The work that follows a step for each sampled request: inline, or in a thread during the forward.

Torch releases the interpreter's lock during its products, so a thread can work while the model
computes. (The compiled walks over masks hold the lock; they are short.) The thread runs `advance`
of all waiting requests before any `prepare`: the next plan waits briefly for the former, whereas
masks are not needed before the next forward has ended.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Iterator

from maskwright.engine.request.active import Active, Advance, Masks
from maskwright.engine.request.wake_ups import WakeUps
from maskwright.engine.stats import Observations
from maskwright.errors import GenerationError
from maskwright.immutable import Immutable
from maskwright.mask.matcher.protocol import Reply

StepResult = Advance | Masks | Exception
"""What `Active.advance` returned or the masks that `Active.prepare` filled; or what the grammar
raised, which ends its own request and no other."""

MOST_QUESTIONS = 4
"""Questions to a grammar's process after one step of a request. One answer suffices, unless
what has been learned was forgotten meanwhile."""


MOST_HELD = 0.001
"""Upper bound in seconds on the time for which a reader is not woken because other requests have
text for theirs too, unless the work for one request takes longer."""


class _Answered(Immutable):
    """The process of a request's grammar has answered what is needed to go on with `tokens`."""

    active: Active
    tokens: list[int]
    reply: Reply
    questions: int
    asked_at: float


class PostStepWork:
    """Runs `Active.advance` and `Active.prepare` of requests passed to `start`: at once, or with
    `overlap` in a thread of its own. The engine's thread takes the results with `collect`.

    Where a request's grammar lives in another process and has not been followed to here before,
    that process is asked first; nothing but this request waits for the answer."""

    def __init__(self, *, overlap: bool) -> None:
        self.busy = 0.0
        """Seconds spent on this work so far."""
        self.waited = 0.0
        """Seconds for which `collect` has waited so far."""
        self.seen = Observations()
        """The engine's histograms, in which this notes the times of questions."""
        self._done: queue.SimpleQueue[tuple[Active, StepResult] | _Answered | None]
        self._done = queue.SimpleQueue()
        self._todo: queue.SimpleQueue[tuple[Active, list[int]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        if overlap:
            self._thread = threading.Thread(
                target=self._work, name="maskwright-post-step", daemon=True
            )
            self._thread.start()

    def start(self, active: Active, tokens: list[int], questions: int = 0) -> bool:
        """Process `tokens`, which have been sampled for `active`; an empty list at its beginning.
        Returns False where a question has to be answered first. `questions`: how many have been
        answered for these tokens."""
        if not active.knows(tokens):
            self._ask(active, tokens, questions + 1)
            return False
        if self._thread is not None:
            self._todo.put((active, tokens))
            return True
        begin = time.perf_counter()
        advanced = self._advance(active, tokens)
        if advanced is not None:
            self._prepare(active, advanced)
        self.busy += time.perf_counter() - begin
        return True

    def _ask(self, active: Active, tokens: list[int], questions: int) -> None:
        if questions > MOST_QUESTIONS:
            error = GenerationError("The grammar's process does not answer what it is asked.")
            self._done.put((active, error))
            return
        now = time.perf_counter()
        active.ask(
            tokens, lambda reply: self._done.put(_Answered(active, tokens, reply, questions, now))
        )

    @property
    def has_results(self) -> bool:
        """Whether `collect` has something to do at this moment."""
        return not self._done.empty()

    def collect(self, wait: float = 0.0) -> Iterator[tuple[Active, StepResult]]:
        """Yield the results since the last call, in order; if there is none, wait up to `wait`
        seconds for the first, or until `wake` is called."""
        end = time.perf_counter() + wait
        while True:
            begin = time.perf_counter()
            left = end - begin
            try:
                done = self._done.get(timeout=left) if left > 0 else self._done.get_nowait()
            except queue.Empty:
                return
            finally:
                if left > 0:
                    self.waited += time.perf_counter() - begin
            if isinstance(done, _Answered):
                self._go_on(done)
                continue
            end = 0.0
            if done is not None:
                yield done

    def wake(self) -> None:
        """End the wait of `collect`, from any thread."""
        self._done.put(None)

    def _go_on(self, answered: _Answered) -> None:
        active, reply = answered.active, answered.reply
        if active.closed:
            return
        seconds = time.perf_counter() - answered.asked_at
        active.generation.record.answered(seconds, self.seen)
        if isinstance(reply, Exception):
            self._done.put((active, reply))
            return
        reply()
        self.start(active, answered.tokens, answered.questions)

    def stop(self) -> None:
        """End the thread after the item that it is working on."""
        if self._thread is not None:
            self._todo.put(None)
            self._thread.join()

    def _work(self) -> None:
        later: deque[tuple[Active, Advance]] = deque()
        running = True
        while running:
            with WakeUps.held():
                running = self._work_off(later)
            WakeUps.give_way()

    def _work_off(self, later: deque[tuple[Active, Advance]]) -> bool:
        """Wait for work, and do what there is within `MOST_HELD`; False once the thread is to end.
        `later`: requests that have advanced."""
        until = None
        while True:
            try:
                todo = self._todo.get(block=until is None and not later)
            except queue.Empty:
                if not later:
                    return True
                begin = time.perf_counter()
                self._prepare(*later.popleft())
            else:
                if todo is None:
                    return False
                begin = time.perf_counter()
                advanced = self._advance(*todo)
                if advanced is not None:
                    later.append((todo[0], advanced))
            now = time.perf_counter()
            self.busy += now - begin
            if until is None:
                until = begin + MOST_HELD
            elif now > until:
                return True

    def _advance(self, active: Active, tokens: list[int]) -> Advance | None:
        """Run `advance` and report its result; None where no mask is needed after it."""
        try:
            advanced = active.advance(tokens)
        except Exception as error:  # any error of a grammar ends its request alone
            self._done.put((active, error))
            return None
        self._done.put((active, advanced))
        return None if advanced.reason is not None else advanced

    def _prepare(self, active: Active, advanced: Advance) -> None:
        try:
            masks = active.prepare(advanced.draft)
        except Exception as error:  # as above
            self._done.put((active, error))
        else:
            self._done.put((active, masks))
