"""Requests scheduled by cache and load together, and refused before work is wasted on them (Qin et
al., "Mooncake", FAST'25)."""

from __future__ import annotations

from statistics import fmean, pstdev
from typing import Final

from msgspec.structs import replace

from maskwright.immutable import Immutable
from maskwright_sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright_sim.costs.work import StepWork
from maskwright_sim.fleet.loads import cached_tokens, load
from maskwright_sim.fleet.routing import LeastLoaded, LongestCached, Routing
from maskwright_sim.fleet.split import Admits, SplitFleet, SplitPolicy
from maskwright_sim.fleet.transfer import Transfer
from maskwright_sim.load.demand import Demand
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import Objectives, RunFigures, figures
from maskwright_sim.outcome.served import Served
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport
from maskwright_sim.systems.mooncake_kv import kv_report

COSTS: Final = SheetCosts(A100, LLAMA_13B)
SETTINGS: Final = EngineSettings(
    policy="splitfuse",
    chunk=1024,
    blocks=500,
    max_batch_tokens=2048,
    max_running=64,
    host_blocks=1 << 15,
    reserves=False,
)
DECODE: Final = replace(SETTINGS, policy="orca", blocks=2600, prefix_cache=False)
QUEUE: Final = Workload(300, 6.0, Lengths(2000, "uniform"), Lengths(200, "uniform"))
"""Long prompts; many may wait."""
SHARED: Final = Workload(
    240, 20.0, Lengths(200, "uniform"), Lengths(20), prefixes=10, prefix_length=1984, skew=0.8
)
CROWD: Final = Workload(300, 24.0, Lengths(500, "uniform"), Lengths(100, "uniform"))
LINK: Final = Transfer("layer", LLAMA_13B.kv_bytes, LLAMA_13B.layers, bandwidth=A100.network)
PER_TOKEN: Final = COSTS.seconds(StepWork(prompt=1024, position=512)) / 1024


class EarlyRefusal(Immutable):
    """Refuses requests that would miss the `objectives`. `slots`: running requests with which a
    decoding engine still meets them. `output`: the mean length of an answer."""

    objectives: Objectives
    slots: int
    output: float

    def in_time(self, fleet: SplitFleet, demand: Demand) -> bool:
        """Whether the first token is predicted to come in time: the time of what waits at the best
        prefill engine, and of the prompt's part that is not in its cache."""
        best = min(
            load(engine)[0] + len(demand.prompt) - cached_tokens(engine, demand)
            for engine in fleet.prefills
        )
        return best * PER_TOKEN <= 0.8 * self.objectives.ttft

    def room_now(self, fleet: SplitFleet, demand: Demand) -> bool:
        """Whether few enough requests decode now, or have keys and values on their way."""
        decoding = fleet.in_transfer + sum(load(engine)[1] for engine in fleet.decodes)
        return decoding < self.slots * len(fleet.decodes)

    def by_now(self, fleet: SplitFleet, demand: Demand) -> bool:
        """Whether the load now allows the request."""
        return self.in_time(fleet, demand) and self.room_now(fleet, demand)

    def by_prediction(self, fleet: SplitFleet, demand: Demand) -> bool:
        """Whether the decoding load at the end of the prefill will allow it: what decodes now and
        will not have ended, and every prompt that is computed before this one."""
        queued = min(load(engine)[0] for engine in fleet.prefills) + len(demand.prompt)
        steps = queued * PER_TOKEN / self.objectives.tpot
        staying = fleet.in_transfer
        for engine in fleet.decodes:
            for sequence in (*engine.scheduler.running, *engine.scheduler.waiting):
                to_come = self.output - (len(sequence.tokens) - sequence.prompt_length)
                staying += to_come > steps
        coming = sum(load(engine)[1] for engine in fleet.prefills)
        allowed = self.slots * len(fleet.decodes)
        return self.in_time(fleet, demand) and staying + coming < allowed


QUICK: Final = EarlyRefusal(Objectives(1.0, 0.035), 24, CROWD.output.mean)
SLOW: Final = EarlyRefusal(Objectives(10.0, 0.04), 12, QUEUE.output.mean)


def mooncake(size: float = 1.0) -> SystemReport:
    """Shared prefixes on four prefill engines; twice the requests that one engine for prefill and
    one for decode can serve; more long prompts than these can serve; and the cache."""
    aware, blind = _shared(LongestCached(), size), _shared(LeastLoaded(), size)
    parts = (_refused_early(size), _refused_by_prediction(size), kv_report(size))
    together = MechanismClaim(
        "cache and load together",
        "TTFT p90, ms, against load only",
        1000 * aware.ttft_p90,
        1000 * blind.ttft_p90,
    )
    return SystemReport(
        [together, *(claim for part in parts for claim in part.claims)],
        {title: rows for part in parts for title, rows in part.tables.items()},
    )


def _refused_early(size: float) -> SystemReport:
    runs: dict[str, tuple[Admits | None, Admits | None]] = {
        "everything is accepted": (None, None),
        "refused after the prefill": (None, QUICK.room_now),
        "refused early, by the load now": (QUICK.by_now, QUICK.room_now),
        "refused early, by the load predicted": (QUICK.by_prediction, QUICK.room_now),
    }
    found = {name: _crowd(CROWD, *hooks, size) for name, hooks in runs.items()}
    goodput = [figures(served, (), QUICK.objectives).goodput for served in found.values()]
    wasted = [sum(one.wasted for one in served) for served in found.values()]
    rows: Rows = [
        {
            "run": name,
            "good/s": good,
            "refused": sum(one.refused for one in served),
            "wasted tokens": tokens,
        }
        for (name, served), good, tokens in zip(found.items(), goodput, wasted, strict=True)
    ]
    everything, late, now, _ = range(len(runs))
    return SystemReport(
        [
            MechanismClaim(
                "early refusal",
                "good answers/s under twice the load",
                goodput[now],
                goodput[everything],
                "75 % more requests (paper)",
                higher=True,
            ),
            MechanismClaim(
                "refusal before the prefill instead of after it",
                "prompt tokens computed in vain",
                wasted[now],
                wasted[late],
            ),
        ],
        {"twice the load": rows},
    )


def _refused_by_prediction(size: float) -> SystemReport:
    ways = {"by the load predicted": SLOW.by_prediction, "by the load now": SLOW.by_now}
    found = {name: _crowd(QUEUE, way, None, size) for name, way in ways.items()}
    predicted, now = map(_swing, found.values())
    rows: Rows = [
        {
            "refused": name,
            "good/s": figures(served, (), SLOW.objectives).goodput,
            "answered": sum(one.whole for one in served),
            "swing": _swing(served),
        }
        for name, served in found.items()
    ]
    claim = MechanismClaim(
        "predicted load instead of the load now",
        "swing of the decoding load, prompts of 2,000 tokens",
        predicted,
        now,
        "refusal by the load now oscillates (paper)",
    )
    return SystemReport([claim], {"many long prompts wait": rows})


def _shared(routing: Routing, size: float) -> RunFigures:
    prefills = [SETTINGS.engine(COSTS) for _ in range(4)]
    decodes = [DECODE.engine(COSTS) for _ in range(2)]
    fleet = SplitFleet(prefills, decodes, SplitPolicy(prefill=routing, transfer=LINK))
    requests = 60 + round((SHARED.requests - 60) * size)
    return figures(fleet.run(replace(SHARED, requests=requests).demands(2))[60:])


def _crowd(
    load: Workload, admits: Admits | None, rechecks: Admits | None, size: float
) -> list[Served]:
    prefills = [SETTINGS.engine(COSTS)]
    policy = SplitPolicy(transfer=LINK, admits=admits, rechecks=rechecks)
    fleet = SplitFleet(prefills, [DECODE.engine(COSTS)], policy)
    return fleet.run(replace(load, requests=round(load.requests * max(size, 0.5))).demands(2))


def _swing(served: list[Served]) -> float:
    """Standard deviation over mean of the number of requests that decode, every quarter second of
    the middle half of the run."""
    spans = [(one.times[0], one.times[-1]) for one in served if one.whole]
    last = max(end for _, end in spans)
    moments = [0.25 * step for step in range(int(last), int(3 * last))]
    counts = [sum(begin <= moment < end for begin, end in spans) for moment in moments]
    return pstdev(counts) / max(fmean(counts), 1e-9)
