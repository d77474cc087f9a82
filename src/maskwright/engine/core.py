"""The engine without its thread: requests in, one step at a time, deltas out.

Synchronous and deterministic, so that tests can drive it step by step.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from maskwright.engine.active import Active
from maskwright.engine.request import Delta, FinishReason
from maskwright.engine.runner import Runner
from maskwright.engine.scheduler import Scheduler
from maskwright.engine.sequence import Sequence
from maskwright.errors import GenerationError, MaskwrightError


@dataclass(slots=True)
class StepSeconds:
    """Where steps spend their time, in all so far: the scheduler, the forward, masks and matchers'
    fills, and everything from the chain to the clients."""

    plan: float = 0.0
    forward: float = 0.0
    mask: float = 0.0
    sample: float = 0.0


class Core:
    """Every live request, and the one place where requests end."""

    def __init__(self, scheduler: Scheduler, runner: Runner, mask_words: int) -> None:
        self.scheduler = scheduler
        self.steps = 0
        self.computed_tokens = 0
        self.sampled_tokens = 0
        self.finished: Counter[FinishReason] = Counter()
        self.seconds = StepSeconds()
        self._runner = runner
        self._active: dict[int, Active] = {}
        self._mask_words = mask_words

    @property
    def live(self) -> int:
        """Requests that have not ended."""
        return len(self._active)

    def add(self, active: Active) -> None:
        """Take a request over. One whose grammar is complete before it begins ends at once."""
        self._active[active.sequence.arrival] = active
        self.scheduler.add(active.sequence)
        if active.complete:
            self._end(active, FinishReason.STOP)

    def cancel(self, number: int) -> None:
        """End a request, wherever it stands; nothing happens if it has ended."""
        active = self._active.get(number)
        if active is not None:
            self._end(active, FinishReason.CANCELLED)

    def fail_all(self, error: MaskwrightError) -> None:
        """End every live request with `error`. After a defect the scheduler's books may be wrong;
        the clients hear of the end all the same."""
        for active in list(self._active.values()):
            try:
                self._fail(active, error)
            except Exception:  # books that a defect left wrong
                active.generation.publish(Delta("", (), FinishReason.ERROR, error))

    def step(self) -> None:
        """Plan, compute, mask, sample, publish."""
        begin = time.perf_counter()
        plan = self.scheduler.plan()
        planned = time.perf_counter()
        logits = self._runner.forward(plan)
        self.scheduler.commit(plan)
        computed = time.perf_counter()
        sampled = [self._of(chunk.sequence) for chunk in plan.chunks if chunk.samples]
        words = np.zeros((len(sampled), self._mask_words), np.int32)
        rows = self._fill_masks(sampled, words)
        masked = time.perf_counter()
        if rows:
            self._sample([sampled[row] for row in rows], logits[rows], words[rows])
        self.steps += 1
        self.computed_tokens += plan.tokens
        self.seconds.plan += planned - begin
        self.seconds.forward += computed - planned
        self.seconds.mask += masked - computed
        self.seconds.sample += time.perf_counter() - masked

    def _of(self, sequence: Sequence) -> Active:
        return self._active[sequence.arrival]

    def _sample(self, sampled: list[Active], logits: Tensor, words: NDArray[np.int32]) -> None:
        """Choose a token for each of `sampled` and act on it; `logits` and `words` row by row."""
        rows = [active.sample_row() for active in sampled]
        outcomes = self._runner.sample(logits, rows, words)
        for active, outcome in zip(sampled, outcomes, strict=True):
            if isinstance(outcome, int):
                self._take(active, outcome)
            else:
                self._fail(active, outcome)

    def _fill_masks(self, sampled: Iterable[Active], words: NDArray[np.int32]) -> list[int]:
        """Fill a row of `words` for each request; the rows that got one. A grammar that fails ends
        its own request, and its row is never sampled."""
        rows: list[int] = []
        for row, active in enumerate(sampled):
            try:
                active.fill_mask(words[row])
            except Exception as error:  # whatever a grammar raises concerns its request alone
                self._fail(active, _as_ours(error))
            else:
                rows.append(row)
        return rows

    def _take(self, active: Active, token: int) -> None:
        self.sampled_tokens += 1
        try:
            text, reason = active.take(token)
        except Exception as error:  # as above
            self._fail(active, _as_ours(error))
            return
        if reason is not None:
            self._end(active, reason, text)
        elif text:
            active.generation.publish(active.delta(text, None))

    def _end(self, active: Active, reason: FinishReason, text: str = "") -> None:
        self._close(active, active.delta(text, reason))

    def _fail(self, active: Active, error: MaskwrightError) -> None:
        tokens = tuple(active.unsent)
        self._close(active, Delta("", tokens, FinishReason.ERROR, error))

    def _close(self, active: Active, last: Delta) -> None:
        """The one way out: scheduler and blocks first, then the client."""
        del self._active[active.sequence.arrival]
        self.scheduler.end(active.sequence)
        assert last.finish_reason is not None
        self.finished[last.finish_reason] += 1
        active.generation.publish(last)


def _as_ours(error: Exception) -> MaskwrightError:
    if isinstance(error, MaskwrightError):
        return error
    ours = GenerationError(f"The grammar failed: {type(error).__name__}: {error}")
    ours.__cause__ = error  # its traceback is what the log needs
    return ours
