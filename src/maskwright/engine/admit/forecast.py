"""Forecast of a request's time to first token and time per output token.

The queue is simulated up to the first token of the request. Running requests end in the order of
their expected lengths. Each request that waits before the one asked about is admitted as soon as a
slot and its reserved positions are free. Prompts are computed one after another, since they share
the part of a step that is left for prompts. Durations come from `StepTimeModel`; no clock is read.
(Early refusal by predicted times: Mooncake, FAST'25.)
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from maskwright.engine.schedule.service import OUTPUT_PRICE
from maskwright.engine.schedule.step_time import StepTimeModel

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


@dataclass(frozen=True, slots=True)
class Forecast:
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
    asked: Task, live: Sequence[Task], room: Room, step_times: StepTimeModel
) -> Forecast | None:
    """The forecast for `asked` in addition to `live`, which are ordered by arrival; None as long as
    the step times are unknown."""
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


def ahead(asked: Task, waiting: Sequence[Task], weights: Sequence[float]) -> list[Task]:
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
    asked: Task, running: Sequence[Task], waiting: Sequence[Task], together: int
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
    before: Sequence[Task],
    running: Sequence[Task],
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
