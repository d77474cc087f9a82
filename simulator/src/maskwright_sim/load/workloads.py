"""Generated workloads: when requests arrive, and how long prompts and answers are. All are
functions of a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from msgspec.structs import replace

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright_sim.load.demand import Demand, text

Pattern: TypeAlias = Literal["steady", "poisson", "burst"]
Length: TypeAlias = Callable[[random.Random], int]

BURST = 8
"""Requests of a burst, which arrive at one time."""


class Lengths(Immutable):
    """A distribution of lengths around `mean` tokens: `fixed`, `exponential` (at least 1),
    `uniform` between half and one and a half of the mean, or `heavy` (a log-normal distribution
    with a heavy tail, cut at 20 times the mean)."""

    mean: float
    kind: Literal["fixed", "exponential", "uniform", "heavy"] = "fixed"

    def draw(self, rng: random.Random) -> int:
        """A length, at least 1."""
        match self.kind:
            case "fixed":
                value = self.mean
            case "exponential":
                value = rng.expovariate(1 / self.mean)
            case "uniform":
                value = rng.uniform(0.5, 1.5) * self.mean
            case "heavy":
                value = min(20.0, rng.lognormvariate(-0.72, 1.2)) * self.mean
        return max(1, round(value))


class Workload(Immutable):
    """`requests` requests at `rate` a second, in a pattern. `prompt` and `output` are their
    lengths. With `prefixes`, each prompt begins with one of that many shared texts of
    `prefix_length` tokens; with `skew` s, the k-th most frequent has a frequency proportional to
    k^-s (Zipf). With `turns`, requests form conversations: each further turn arrives `think`
    seconds after the answer before it, and its prompt continues prompt and answer. `slack`: seconds
    from arrival to the deadline of the first token. `cap`: the most tokens that an answer may
    have, known to the scheduler; 0 for its true length."""

    requests: int
    rate: float
    prompt: Lengths
    output: Lengths
    pattern: Pattern = "poisson"
    prefixes: int = 0
    prefix_length: int = 0
    skew: float = 0.0
    turns: int = 1
    think: float = 1.0
    slack: float | None = None
    cap: int = 0

    def demands(self, seed: int = 0) -> list[Demand]:
        """The requests, by arrival. Those of later turns come after the ones that they wait for."""
        if self.rate <= 0 or self.requests < 1:
            raise InputError(
                "a workload needs at least one request and a rate above 0", param="workload"
            )
        rng = random.Random(seed)
        times = _times(self.pattern, self.rate, self.requests, rng)
        weights = [1 / (place + 1) ** self.skew for place in range(self.prefixes)]
        made: list[Demand] = []
        for number, time in enumerate(times):
            first = number * self.turns
            prompt: list[int] = []
            if self.prefixes:
                (which,) = rng.choices(range(self.prefixes), weights)
                prompt = text(1_000_000 + which, self.prefix_length)
            for turn in range(self.turns):
                own = first + turn
                prompt = prompt + text(own, self.prompt.draw(rng))
                made.append(self._demand(own, turn, time, prompt, rng))
                prompt = prompt + made[-1].answer
        return made

    def _demand(
        self, number: int, turn: int, time: float, prompt: list[int], rng: random.Random
    ) -> Demand:
        output = self.output.draw(rng)
        if self.cap:
            output = min(output, self.cap)
        return Demand(
            number,
            time if not turn else self.think,
            tuple(prompt),
            output,
            cap=self.cap or output,
            deadline=None if self.slack is None or turn else time + self.slack,
            after=number - 1 if turn else None,
        )


def mixed(workloads: Sequence[Workload], seed: int = 0) -> list[Demand]:
    """The requests of several workloads that arrive beside each other. The rank of each is the
    place of its workload; numbers are given anew, in the order of arrival."""
    if any(workload.turns > 1 for workload in workloads):
        raise InputError("conversations can't be mixed with other workloads", param="turns")
    every = [
        (demand.time, place, demand.number, demand)
        for place, workload in enumerate(workloads)
        for demand in workload.demands(seed + place)
    ]
    every.sort(key=lambda item: item[:3])
    return [
        replace(
            demand,
            number=number,
            rank=place,
            prompt=tuple(text(number, len(demand.prompt)))
            if not workloads[place].prefixes
            else demand.prompt,
        )
        for number, (_, place, _, demand) in enumerate(every)
    ]


def in_turn(workloads: Sequence[Workload], seed: int = 0) -> list[Demand]:
    """The requests of several workloads one after the other: each begins when the last request of
    the one before has arrived. Numbers and texts are given anew."""
    if any(workload.turns > 1 or workload.prefixes for workload in workloads):
        raise InputError("only requests without shared texts can come in turn", param="turns")
    made: list[Demand] = []
    start = 0.0
    for place, workload in enumerate(workloads):
        for demand in workload.demands(seed + place):
            number = len(made)
            prompt = tuple(text(number, len(demand.prompt)))
            made.append(replace(demand, number=number, time=start + demand.time, prompt=prompt))
        start = made[-1].time
    return made


def _times(pattern: Pattern, rate: float, count: int, rng: random.Random) -> list[float]:
    match pattern:
        case "steady":
            return [number / rate for number in range(count)]
        case "burst":
            return [(number // BURST) * BURST / rate for number in range(count)]
        case "poisson":
            time, times = 0.0, []
            for _ in range(count):
                time += -math.log(1 - rng.random()) / rate
                times.append(time)
            return times
