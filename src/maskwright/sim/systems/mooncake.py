"""Requests scheduled by cache and load together, and refused before work is wasted on them (Qin et
al., "Mooncake", FAST'25)."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean, pstdev
from typing import Final

from maskwright.sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright.sim.costs.work import StepWork
from maskwright.sim.fleet.loads import cached_tokens, load
from maskwright.sim.fleet.routing import LeastLoaded, LongestCached, Routing
from maskwright.sim.fleet.split import Admits, SplitFleet, SplitPolicy
from maskwright.sim.fleet.transfer import Transfer
from maskwright.sim.load.demand import Demand
from maskwright.sim.load.workloads import Lengths, Workload
from maskwright.sim.outcome.figures import Objectives, RunFigures, figures
from maskwright.sim.outcome.served import Served
from maskwright.sim.policy.choice import EngineSettings
from maskwright.sim.systems.claim import MechanismClaim, Rows, SystemReport
from maskwright.sim.systems.mooncake_kv import kv_report

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
SHARED: Final = Workload(
    240, 20.0, Lengths(200, "uniform"), Lengths(20), prefixes=10, prefix_length=1984, skew=0.8
)
CROWD: Final = Workload(300, 24.0, Lengths(500, "uniform"), Lengths(100, "uniform"))
OBJECTIVES: Final = Objectives(1.0, 0.035)
SLOTS: Final = 24
"""Running requests with which a decoding engine still meets the objective."""
LINK: Final = Transfer("layer", LLAMA_13B.kv_bytes, LLAMA_13B.layers, bandwidth=A100.network)
PER_TOKEN: Final = COSTS.seconds(StepWork(prompt=1024, position=512)) / 1024


def mooncake(size: float = 1.0) -> SystemReport:
    """Shared prefixes on four prefill engines; and twice the requests that one engine for prefill
    and one for decode can serve."""
    aware, blind = _shared(LongestCached(), size), _shared(LeastLoaded(), size)
    runs: dict[str, tuple[Admits | None, Admits | None]] = {
        "everything is accepted": (None, None),
        "refused after the prefill": (None, _room_now),
        "refused early, by the load now": (_early_now, _room_now),
        "refused early, by the load predicted": (_early_predicted, _room_now),
    }
    found = {name: _crowd(*hooks, size) for name, hooks in runs.items()}
    goodput = {name: figures(served, (), OBJECTIVES).goodput for name, served in found.items()}
    wasted = {name: sum(one.wasted for one in served) for name, served in found.items()}
    swings = {name: _swing(served) for name, served in found.items()}
    everything, late, now, predicted = runs
    cache = kv_report(size)
    rows: Rows = [
        {
            "run": name,
            "good/s": goodput[name],
            "refused": sum(one.refused for one in served),
            "wasted tokens": wasted[name],
            "swing": swings[name],
        }
        for name, served in found.items()
    ]
    return SystemReport(
        [
            MechanismClaim(
                "cache and load together",
                "TTFT p90, ms, against load only",
                1000 * aware.ttft_p90,
                1000 * blind.ttft_p90,
            ),
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
            MechanismClaim(
                "predicted load instead of the load now",
                "swing of the decoding load",
                swings[predicted],
                swings[now],
                "refusal by the load now oscillates (paper)",
            ),
            *cache.claims,
        ],
        {"twice the load": rows, **cache.tables},
    )


def _shared(routing: Routing, size: float) -> RunFigures:
    prefills = [SETTINGS.engine(COSTS) for _ in range(4)]
    decodes = [DECODE.engine(COSTS) for _ in range(2)]
    fleet = SplitFleet(prefills, decodes, SplitPolicy(prefill=routing, transfer=LINK))
    requests = 60 + round((SHARED.requests - 60) * size)
    return figures(fleet.run(replace(SHARED, requests=requests).demands(2))[60:])


def _crowd(admits: Admits | None, rechecks: Admits | None, size: float) -> list[Served]:
    prefills = [SETTINGS.engine(COSTS)]
    policy = SplitPolicy(transfer=LINK, admits=admits, rechecks=rechecks)
    fleet = SplitFleet(prefills, [DECODE.engine(COSTS)], policy)
    return fleet.run(replace(CROWD, requests=round(CROWD.requests * max(size, 0.5))).demands(2))


def _in_time(fleet: SplitFleet, demand: Demand) -> bool:
    """Whether the first token is predicted to come in time: the time of what waits at the best
    prefill engine, and of the prompt's part that is not in its cache."""
    best = min(
        load(engine)[0] + len(demand.prompt) - cached_tokens(engine, demand)
        for engine in fleet.prefills
    )
    return best * PER_TOKEN <= 0.8 * OBJECTIVES.ttft


def _decoding(fleet: SplitFleet) -> int:
    """Requests that decode, or whose keys and values are on their way."""
    return fleet.in_transfer + sum(load(engine)[1] for engine in fleet.decodes)


def _room_now(fleet: SplitFleet, demand: Demand) -> bool:
    return _decoding(fleet) < SLOTS * len(fleet.decodes)


def _early_now(fleet: SplitFleet, demand: Demand) -> bool:
    return _in_time(fleet, demand) and _room_now(fleet, demand)


def _early_predicted(fleet: SplitFleet, demand: Demand) -> bool:
    """The decoding load at the end of the prefill: what decodes now and will not have ended, and
    every prompt that is computed before this one."""
    queued = min(load(engine)[0] for engine in fleet.prefills) + len(demand.prompt)
    steps = queued * PER_TOKEN / OBJECTIVES.tpot
    staying = fleet.in_transfer
    for engine in fleet.decodes:
        for sequence in (*engine.scheduler.running, *engine.scheduler.waiting):
            to_come = CROWD.output.mean - (len(sequence.tokens) - sequence.prompt_length)
            staying += to_come > steps
    coming = sum(load(engine)[1] for engine in fleet.prefills)
    return _in_time(fleet, demand) and staying + coming < SLOTS * len(fleet.decodes)


def _swing(served: list[Served]) -> float:
    """Standard deviation over mean of the number of requests that decode, every quarter second of
    the middle half of the run."""
    spans = [(one.times[0], one.times[-1]) for one in served if one.whole]
    last = max(end for _, end in spans)
    moments = [0.25 * step for step in range(int(last), int(3 * last))]
    counts = [sum(begin <= moment < end for begin, end in spans) for moment in moments]
    return pstdev(counts) / max(fmean(counts), 1e-9)
