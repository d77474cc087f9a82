"""Early refusal: a request that is predicted to miss an objective of its class is refused at once,
with the time after which to try again, instead of waiting in vain and delaying others.

Every admitted request has a claim on slots, positions and time. It reserves the 95th percentile of
the recent answers of its class, at most its token limit. Reservations guarantee nothing: if answers
turn out longer than reserved and blocks run out, the scheduler preempts. The module reads no clock.
"""

from __future__ import annotations

import threading
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from maskwright.engine.admit.forecast import Forecast, Room, Task, forecast
from maskwright.engine.schedule.sequence import SHORT, Phase, Sequence
from maskwright.engine.schedule.service import ServiceClass
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright.errors import OverloadedError

WINDOW = 256
"""Number of requests that are kept."""

ENOUGH = 32
"""Number of requests from which on estimates are made; before that, the token limit is used."""

PERCENT = 95
"""Percentile of answer lengths that is reserved."""


class History:
    """Answer lengths, tokens per step and shares of cached prompt tokens of the last `WINDOW`
    requests of one class that came to their own end."""

    def __init__(self) -> None:
        self._last: deque[tuple[int, int, int, int]] = deque()
        self._lengths: list[int] = []
        self._longer: list[int] | None = None
        self._steps = self._tokens = self._prompt = self._cached = 0

    def note(self, *, output: int, steps: int, prompt: int, cached: int) -> None:
        """Add a request with `prompt` prompt tokens (`cached` of them were in the cache) and an
        answer of `output` tokens in `steps` steps."""
        if len(self._last) == WINDOW:
            self._count(*self._last[0], sign=-1)
            self._lengths.remove(self._last.popleft()[0])
        self._last.append((output, steps, prompt, cached))
        self._count(output, steps, prompt, cached, sign=1)
        insort(self._lengths, output)
        self._longer = None

    def reserved(self, cap: int) -> int:
        """Tokens to reserve for an answer of at most `cap` tokens: the 95th percentile of the
        lengths seen, at most `cap`."""
        if len(self._lengths) < ENOUGH:
            return cap
        return min(cap, self._lengths[-(-len(self._lengths) * PERCENT // 100) - 1])

    def to_come(self, done: int, cap: int) -> float:
        """Expected further tokens of an answer of at most `cap` tokens that has `done` already:
        the mean over the longer answers seen, or all that are allowed if too few were seen; at
        least 1."""
        most = max(1, cap - done)
        if len(self._lengths) < ENOUGH:
            return most
        if self._longer is None:
            self._longer = [0, *accumulate(reversed(self._lengths))]
        count = len(self._lengths) - bisect_right(self._lengths, done)
        return max(1.0, min(most, self._longer[count] / count - done)) if count else 1.0

    def one_to_come(self, done: int, cap: int, share: float) -> float:
        """As `to_come`, but the quantile `share` of the longer answers instead of their mean, so
        that several running answers are expected to end one after another, not all at one time."""
        most = max(1, cap - done)
        if len(self._lengths) < ENOUGH:
            return most
        first = bisect_right(self._lengths, done)
        count = len(self._lengths) - first
        return min(most, self._lengths[first + int(share * count)] - done) if count else 1.0

    @property
    def a_step(self) -> float:
        """Mean tokens that a step adds to a request, including forced and accepted draft tokens; at
        least 1."""
        return max(1.0, self._tokens / self._steps) if self._steps else 1.0

    @property
    def computed(self) -> float:
        """The expected share of a prompt that is not in the cache and has to be computed."""
        return 1 - self._cached / self._prompt if len(self._last) >= ENOUGH else 1.0

    def _count(self, output: int, steps: int, prompt: int, cached: int, *, sign: int) -> None:
        self._tokens += sign * output
        self._steps += sign * steps
        self._prompt += sign * prompt
        self._cached += sign * cached


UNKNOWN_SECONDS: Final = 1.0
"""Time after which to try again where no forecast is possible."""


@dataclass(slots=True, eq=False)
class Claim:
    """What one request asks for: a prompt of `prompt` tokens, and an answer of at most `cap`
    tokens. `sequence` is None before the request has one."""

    rank: int
    client: str
    prompt: int
    cap: int
    sequence: Sequence | None = None


class Gate:
    """Decides whether a request may be queued, from the live requests and the history of each
    class. May be used from any thread."""

    def __init__(
        self,
        classes: SequenceOf[ServiceClass],
        step_times: StepTimeModel,
        *,
        slots: int,
        positions: int,
    ) -> None:
        self._classes = classes
        self._step_times = step_times
        self._room = Room(slots, positions, tuple(item.weight for item in classes))
        self._history = [History() for _ in classes]
        self._claims: dict[int, Claim] = {}
        self._lock = threading.Lock()

    def check(self, claim: Claim) -> None:
        """Raise `OverloadedError` for a request that is predicted to miss an objective. Without
        other live requests none is refused, since it would not be served sooner at another time."""
        service = self._classes[claim.rank]
        if service.ttft is None and service.tpot is None:
            return
        expected = self.expect(claim)
        if expected is None:
            return
        if service.ttft is not None and expected.ttft > service.ttft:
            late = expected.ttft - service.ttft
            missed = "the first token", expected.ttft, service.ttft
        elif service.tpot is not None and expected.tpot > service.tpot:
            late = expected.slower(service.tpot)
            missed = "each further token", expected.tpot, service.tpot
        else:
            return
        raise OverloadedError(
            f"At this load {missed[0]} would take {missed[1]:.3g} seconds; requests of class "
            f"{service.name!r} are let in up to {missed[2]:g}. Come back in {late:.1f} seconds.",
            retry_after=late,
        )

    def expect(self, claim: Claim) -> Forecast | None:
        """The forecast for a request; None without other live requests, or before steps were
        measured."""
        with self._lock:
            running, waiting = self._tasks()
            asked = self._waiting(claim)
        live = [*running, *waiting]
        return forecast(asked, live, self._room, self._step_times) if live else None

    def seconds_to_end(self, claim: Claim) -> float:
        """Predicted seconds until one of the running requests ends, which makes room in a full
        queue; a second, before anything is known of steps."""
        with self._lock:
            running, _ = self._tasks(waiting=False)
            asked = self._waiting(claim)
        expected = forecast(asked, running, self._room, self._step_times) if running else None
        return UNKNOWN_SECONDS if expected is None else expected.ends[0]

    def enter(self, number: int, claim: Claim) -> int:
        """Register the claim of the admitted request `number`; returns the positions that it
        reserves."""
        with self._lock:
            self._claims[number] = claim
            return self._reserved(claim)

    def backlog(self) -> tuple[int, int]:
        """Return the tokens of prompts that are still to be computed, and the positions reserved,
        of all live requests."""
        with self._lock:
            claims = list(self._claims.values())
            return sum(map(_prefill, claims)), sum(map(self._reserved, claims))

    def attach(self, number: int, sequence: Sequence) -> None:
        """Set the sequence of request `number`, whose grammar was still being compiled at first."""
        with self._lock:
            self._claims[number].sequence = sequence

    def leave(self, number: int, *, steps: int, output: int, cached: int, whole: bool) -> None:
        """Remove the claim of request `number`, which has ended after `steps` steps with `output`
        tokens, with `cached` prompt tokens from the cache. `whole`: the answer came to its own end,
        so that its length counts in the history."""
        with self._lock:
            claim = self._claims.pop(number, None)
            if claim is not None and whole and steps:
                self._history[claim.rank].note(
                    output=output, steps=steps, prompt=claim.prompt, cached=cached
                )

    def _reserved(self, claim: Claim) -> int:
        """Return the positions that a claim reserves."""
        answer = self._history[claim.rank].reserved(claim.cap)
        return min(self._room.positions, claim.prompt + answer)

    def _waiting(self, claim: Claim) -> Task:
        history = self._history[claim.rank]
        return Task(
            claim.rank,
            claim.client,
            prompt=max(1.0, history.computed * claim.prompt),
            output=history.to_come(0, claim.cap),
            a_step=history.a_step,
            positions=self._reserved(claim),
            running=False,
        )

    def _tasks(self, *, waiting: bool = True) -> tuple[list[Task], list[Task]]:
        """The remaining work of all claims that run, and with `waiting` of those that wait, without
        claims that are paused for their reader."""
        queued: list[Task] = []
        running: list[tuple[Claim, Sequence]] = []
        for claim in self._claims.values():
            sequence = claim.sequence
            if sequence is None or sequence.phase is Phase.WAITING:
                if waiting:
                    queued.append(self._waiting(claim))
            elif sequence.phase is Phase.RUNNING:
                running.append((claim, sequence))
        tasks = [
            self._running(claim, sequence, (place + 0.5) / len(running))
            for place, (claim, sequence) in enumerate(running)
        ]
        return tasks, queued

    def _running(self, claim: Claim, sequence: Sequence, share: float) -> Task:
        done = len(sequence.tokens) - sequence.prompt_length
        pending = sequence.pending
        return self._waiting(claim)._replace(
            prompt=float(pending) if pending > SHORT else 0.0,
            output=self._history[claim.rank].one_to_come(done, claim.cap, share),
            running=True,
        )


def _prefill(claim: Claim) -> int:
    """Return the tokens that are to be computed before the request decodes: of its prompt, and
    after a preemption of its answer too."""
    sequence = claim.sequence
    if sequence is None:
        return claim.prompt
    if sequence.phase is Phase.ENDED:
        return 0
    pending = sequence.pending
    return pending if pending > SHORT or sequence.computed < sequence.prompt_length else 0
