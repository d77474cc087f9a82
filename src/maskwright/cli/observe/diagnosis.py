"""Which stage makes the slowest requests slow: the one in which they spend more than others do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from maskwright.cli.observe.arrivals import LittlesLaw, check_littles_law
from maskwright.cli.observe.stages import STAGES, TimedRequest
from maskwright.errors import InputError

FEWEST: Final = 4
"""Requests without which there is no middle half."""

ADVICE: Final[Mapping[str, str]] = {
    "compile": "Send a request of each shape after a start, so that its grammar is kept; "
    "`maskwright check` says how large a shape is.",
    "queue": "More requests arrive than are served: add a server, raise --max-running if "
    "blocks are free, or give classes an objective (--ttft), so that requests are refused early.",
    "prefill": "Put what prompts share at their beginning, so that the prefix cache finds it; "
    "raise --max-batch-tokens or --stall if decoding may wait for it.",
    "decode": "Lower max_tokens where answers needn't be long; where tokens come slowly, fewer "
    "requests at a time (--max-running) or a draft model help.",
    "masks": "Masks came after the logits, as they do in the first answers of a shape: send a "
    "request of each shape after a start. `maskwright trace` shows the costly places of a shape, "
    "and more --grammar-processes share the work of several.",
    "preemption": "Blocks ran out: see maskwright_kv_use; raise --kv-bytes, store keys and "
    "values as int8 (--kv-dtype), or lower --max-running.",
    "reader": "The clients read too slowly, not the server: look at the network and at what "
    "they do between two events; --reader-tokens lets them be further behind.",
    "server": "Time outside the engine: rendering of prompts, many HTTP requests at a time, or "
    "clients that send their bodies slowly.",
}


@dataclass(frozen=True, slots=True)
class GroupTimes:
    """The means of some requests: times in milliseconds, and tokens."""

    requests: int
    whole: float
    stages: Mapping[str, float]
    prompt_tokens: float
    computed_prompt_tokens: float
    completion_tokens: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the slowest requests spend their time on, compared with the middle half of all.

    `culprit`: the stage with the largest excess of the slowest over the middle half, and `excess`
    what all stages have; where that is decoding, and the slowest wait for masks at least as long,
    it is the masks. `preempted`: how many of the slowest were preempted."""

    requests: int
    share: float
    middle: GroupTimes
    slowest: GroupTimes
    excess: Mapping[str, float]
    culprit: str
    preempted: int
    longest: tuple[TimedRequest, ...]
    littles_law: LittlesLaw | None

    @property
    def advice(self) -> str:
        """What to do about the culprit."""
        return ADVICE[self.culprit]


def diagnose_requests(requests: Sequence[TimedRequest], share: float) -> Diagnosis:
    """Diagnose the slowest `share` percent of some requests, in the order of their arrival. Raises
    InputError if there are too few."""
    if len(requests) < FEWEST:
        raise InputError(f"{len(requests)} requests are too few; at least {FEWEST} are needed")
    ranked = sorted(requests, key=lambda one: one.whole)
    tail = ranked[-max(1, math.ceil(len(ranked) * share / 100)) :]
    quarter = len(ranked) // 4
    middle, slowest = group_times(ranked[quarter : len(ranked) - quarter]), group_times(tail)
    excess = {name: slowest.stages[name] - middle.stages[name] for name in STAGES}
    culprit = max(STAGES, key=lambda name: excess[name])
    # Who waits for masks as long as for the model is not helped by what makes decoding faster.
    if culprit == "decode" and slowest.stages["masks"] >= slowest.stages["decode"]:
        culprit = "masks"
    return Diagnosis(
        requests=len(requests),
        share=share,
        middle=middle,
        slowest=slowest,
        excess=excess,
        culprit=culprit,
        preempted=sum(one.preemptions > 0 for one in tail),
        longest=tuple(reversed(tail)),
        littles_law=check_littles_law(requests),
    )


def group_times(requests: Sequence[TimedRequest]) -> GroupTimes:
    """Return the means of some requests, of which there is at least one."""

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    return GroupTimes(
        requests=len(requests),
        whole=mean([one.whole for one in requests]),
        stages={name: mean([one.stages[name] for one in requests]) for name in STAGES},
        prompt_tokens=mean([one.prompt_tokens for one in requests]),
        computed_prompt_tokens=mean([one.prompt_tokens - one.cached_tokens for one in requests]),
        completion_tokens=mean([one.completion_tokens for one in requests]),
    )
