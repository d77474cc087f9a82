"""Early refusal: a request that is predicted to miss an objective of its class is refused at once,
with the time after which to try again, instead of waiting in vain and delaying others.

Every admitted request has a claim on slots, positions and time. It reserves the 95th percentile of
the recent answers of its class, at most its token limit. Reservations guarantee nothing: if answers
turn out longer than reserved and blocks run out, the scheduler preempts. The module reads no clock.
"""

from __future__ import annotations

import heapq
import math
import threading
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec import Struct

from maskwright.engine.schedule.sequence import SHORT, Phase, Sequence
from maskwright.engine.schedule.service import OUTPUT_PRICE, ServiceClass
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright.errors import OverloadedError
from maskwright.immutable import Immutable

ROUNDING = 1e-6
"""Of a request that has to end, so little is none: what quotients of times are inexact by."""


class Task(NamedTuple):
    """The remaining work of a request. `rank`, `client`: as in `Sequence`. `prompt`: tokens to
    compute before the next one can be sampled. `output`: expected further tokens; a step yields
    `a_step` of them. `positions`: all positions reserved for it. `running`: it holds a slot."""

    rank: int
    client: str
    prompt: float
    output: float
    a_step: float
    positions: int
    running: bool

    @property
    def steps(self) -> float:
        """Expected number of decode steps until its end."""
        return self.output / self.a_step


@dataclass(frozen=True, slots=True)
class Room:
    """What requests share: `slots` of the batch, `positions` of keys and values, and the weight of
    each class."""

    slots: int
    positions: int
    weights: tuple[float, ...]


class Forecast(Immutable):
    """Predicted seconds to first token (`ttft`) and per output token (`tpot`). `ends`: seconds
    until the running requests will have ended, ascending. `alone`: `tpot` without any other
    request."""

    ttft: float
    tpot: float
    ends: tuple[float, ...]
    alone: float

    def slower(self, tpot: float) -> float:
        """Seconds until so few requests run that a token takes at most `tpot` seconds, or until all
        have ended; 0 if that is the case already."""
        if not self.ends or self.tpot <= tpot:
            return 0.0
        excess = (self.tpot - tpot) / max(self.tpot - self.alone, 1e-9)
        place = min(len(self.ends), max(1, math.ceil(excess * len(self.ends) - ROUNDING)))
        return self.ends[place - 1]


def forecast(
    asked: Task, live: SequenceOf[Task], room: Room, step_times: StepTimeModel
) -> Forecast | None:
    """The forecast for `asked` in addition to `live`, which are ordered by arrival; None as long as
    the step times are unknown.

    The queue is simulated up to the first token of the request. Running requests end in the order
    of their expected lengths. Each request that waits before the one asked about is admitted as
    soon as a slot and its reserved positions are free. Prompts are computed one after another,
    since they share the part of a step that is left for prompts. Durations come from
    `StepTimeModel`; no clock is read. (Early refusal by predicted times: Mooncake, FAST'25.)
    """
    running = [task for task in live if task.running]
    waiting = [task for task in live if not task.running]
    before = ahead(asked, waiting, room.weights)
    together = min(room.slots, len(running) + len(before) + 1)
    rows = together * asked.a_step
    step, alone, token = step_times.step(rows), step_times.step(asked.a_step), step_times.prompt(1)
    if step is None or alone is None or token is None:
        return None
    step += min(
        token * step_times.chunk(rows),
        token * _prompts_beside(asked, running, waiting, together) / asked.steps,
    )
    prompt = token + step / step_times.chunk(rows) if running else token
    ttft = _first_token(asked, before, running, room, prompt, step)
    ends = sorted(task.prompt * prompt + task.steps * step for task in running)
    return Forecast(ttft, step / asked.a_step, tuple(ends), alone / asked.a_step)


def ahead(asked: Task, waiting: SequenceOf[Task], weights: SequenceOf[float]) -> list[Task]:
    """The tasks of `waiting` that are admitted before `asked`, in order: by the virtual token
    counters of their classes (divided by `weights`) and, within a class, of their clients."""
    place = len(waiting)
    by_client: dict[tuple[int, str], float] = {}
    turns: list[tuple[float, int, Task]] = []
    for number, task in enumerate((*waiting, asked)):
        party = (task.rank, task.client)
        by_client[party] = by_client.get(party, 0.0) + task.prompt + OUTPUT_PRICE * task.output
        turns.append((by_client[party], number, task))
    turns.sort()
    by_class = [0.0] * len(weights)
    order: list[tuple[float, int, int, Task]] = []
    for _, number, task in turns:
        by_class[task.rank] += (task.prompt + OUTPUT_PRICE * task.output) / weights[task.rank]
        order.append((by_class[task.rank], task.rank, number, task))
    order.sort()
    end = next(at for at, (_, _, number, _) in enumerate(order) if number == place)
    return [task for _, _, _, task in order[:end]]


def _prompts_beside(
    asked: Task, running: SequenceOf[Task], waiting: SequenceOf[Task], together: int
) -> float:
    """Expected prompt tokens of other requests that are computed while `asked` decodes: of running
    requests, and of as many waiting ones as will be admitted in that time."""
    own = sum(task.prompt for task in running)
    if waiting:
        steps = sum(task.steps for task in (*running, *waiting)) / (len(running) + len(waiting))
        enter = min(len(waiting), together * asked.steps / max(steps, 1.0))
        own += enter * sum(task.prompt for task in waiting) / len(waiting)
    return own


def _first_token(
    asked: Task,
    before: SequenceOf[Task],
    running: SequenceOf[Task],
    room: Room,
    prompt: float,
    step: float,
) -> float:
    """Simulate the queue up to the first token of `asked`, in seconds. `prompt` and `step` are the
    seconds of a prompt token and of a step."""
    slots = room.slots - len(running)
    positions = room.positions - sum(task.positions for task in running)
    computed = 0.0
    ends: list[tuple[float, int, Task]] = []
    for number, task in enumerate(running):
        computed += task.prompt * prompt
        begin = computed if task.prompt else 0.0
        ends.append((begin + task.steps * step, number, task))
    heapq.heapify(ends)
    worse = sorted((t.rank, at, t) for at, t in enumerate(running) if t.rank > 0)
    gone: set[int] = set()
    now = 0.0
    for number, task in enumerate((*before, asked), len(running)):
        while (slots < 1 or positions < task.positions) and ends:
            if worse and worse[-1][0] > task.rank:
                _, at, given = worse.pop()  # preempted at once by a better class
                if at in gone:
                    continue
            else:
                end, at, given = heapq.heappop(ends)
                if at in gone:
                    continue
                now = max(now, end)
            gone.add(at)
            slots += 1
            positions += given.positions
        computed = max(now, computed) + task.prompt * prompt
        slots -= 1
        positions -= task.positions
        heapq.heappush(ends, (computed + task.steps * step, number, task))
    return computed + step


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
        self._sums: tuple[int, ...] = (0, 0, 0, 0)
        """Of their tokens, their steps, the tokens of their prompts and the cached ones."""

    def note(self, *, output: int, steps: int, prompt: int, cached: int) -> None:
        """Add a request with `prompt` prompt tokens (`cached` of them were in the cache) and an
        answer of `output` tokens in `steps` steps."""
        added, left_out = (output, steps, prompt, cached), (0, 0, 0, 0)
        if len(self._last) == WINDOW:
            left_out = self._last.popleft()
            self._lengths.remove(left_out[0])
        self._last.append(added)
        insort(self._lengths, output)
        sums = zip(self._sums, added, left_out, strict=True)
        self._sums = tuple([total + more - less for total, more, less in sums])

    def reserved(self, cap: int) -> int:
        """Tokens to reserve for an answer of at most `cap` tokens: the 95th percentile of the
        lengths seen, at most `cap`."""
        if len(self._lengths) < ENOUGH:
            return cap
        return min(cap, self._lengths[-(-len(self._lengths) * PERCENT // 100) - 1])

    def expected(self, cap: int) -> float:
        """Expected tokens of an answer of at most `cap` tokens: the mean of the lengths seen, or
        all that are allowed if too few were seen; at least 1."""
        most = max(1, cap)
        if len(self._lengths) < ENOUGH:
            return most
        return max(1.0, min(most, self._sums[0] / len(self._lengths)))

    def to_come(self, done: int, cap: int, share: float) -> float:
        """Expected further tokens of an answer of at most `cap` tokens that has `done` already: by
        the quantile `share` of the longer answers seen, so that several running answers are
        expected to end one after another, not all at one time; all that are allowed if too few
        were seen; at least 1."""
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
        tokens, steps, _, _ = self._sums
        return max(1.0, tokens / steps) if steps else 1.0

    @property
    def computed(self) -> float:
        """The expected share of a prompt that is not in the cache and has to be computed."""
        _, _, prompt, cached = self._sums
        return 1 - cached / prompt if len(self._last) >= ENOUGH else 1.0


UNKNOWN_SECONDS: Final = 1.0
"""Time after which to try again where no forecast is possible."""


class Claim(Struct, eq=False):
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
            output=history.expected(claim.cap),
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
            output=self._history[claim.rank].to_come(done, claim.cap, share),
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
