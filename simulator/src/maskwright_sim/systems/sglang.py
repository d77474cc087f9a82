"""The prefix tree, and what uses it: order and routing (Zheng et al., "SGLang", NeurIPS'24)."""

from __future__ import annotations

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright_sim.fleet.fleet import Fleet, run_engine
from maskwright_sim.fleet.routing import RoutingName, routing
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import RunFigures, figures
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, SystemReport

COSTS = SheetCosts(A100, LLAMA_13B)
SETTINGS = EngineSettings(
    policy="sarathi", chunk=1024, blocks=900, block_size=64, max_running=32, max_batch_tokens=2048
)
SHARED = Workload(
    160, 4.0, Lengths(60, "uniform"), Lengths(40, "exponential"), prefixes=2, prefix_length=500
)
MANY = Workload(
    240,
    60.0,
    Lengths(40, "uniform"),
    Lengths(8, "exponential"),
    prefixes=24,
    prefix_length=900,
    skew=0.8,
)
FLEET = Workload(
    320,
    16.0,
    Lengths(64, "uniform"),
    Lengths(40, "exponential"),
    prefixes=16,
    prefix_length=1984,
    skew=1.0,
)
COLD = 80
"""Requests of a fleet after which its caches are warm."""


def sglang(size: float = 1.0) -> SystemReport:
    """Shared system prompts on one engine, more prefixes than fit, and four replicas. `size`
    multiplies the number of requests."""
    tree, none = (_run(SETTINGS, SHARED, size, cache=cache) for cache in (True, False))
    small = replace(SETTINGS, blocks=150, max_running=8)
    cached, fcfs = (_run(replace(small, order=order), MANY, size) for order in ("cached", "fcfs"))
    tokens, blocks = (
        _run(replace(SETTINGS, continues_blocks=continues), SHARED, size)
        for continues in (True, False)
    )
    aware, blind = _fleet("cached", size), _fleet("round-robin", size)
    return SystemReport(
        [
            MechanismClaim(
                "prefix tree",
                "TTFT p50, ms",
                1000 * tree.ttft_p50,
                1000 * none.ttft_p50,
                "50-90 % less (text)",
            ),
            MechanismClaim(
                "longest cached prefix first",
                "mean seconds of a request",
                cached.seconds_mean,
                fcfs.seconds_mean,
            ),
            MechanismClaim(
                "hits that end within a block of 64",
                "prompt tokens to compute, %",
                100 * (1 - tokens.cached),
                100 * (1 - blocks.cached),
            ),
            MechanismClaim(
                "routing by cached prefix",
                "TTFT p99, ms, 4 replicas",
                1000 * aware.ttft_p99,
                1000 * blind.ttft_p99,
                "1.9 times the tokens/s of round robin (SGLang 0.4)",
            ),
        ]
    )


def _run(
    settings: EngineSettings, load: Workload, size: float, *, cache: bool = True
) -> RunFigures:
    engine = replace(settings, prefix_cache=cache).engine(COSTS)
    demands = replace(load, requests=round(load.requests * size)).demands(2)
    served = run_engine(engine, demands)
    tree = engine.scheduler.tree
    found = figures(served, [engine])
    return replace(found, cached=tree.hits / max(1, tree.queries) if tree is not None else 0.0)


def _fleet(name: RoutingName, size: float) -> RunFigures:
    settings = replace(SETTINGS, policy="ours", stall=4.0, blocks=175)
    engines = [settings.engine(COSTS) for _ in range(4)]
    count = COLD + round((FLEET.requests - COLD) * size)
    served = Fleet(engines, routing(name)).run(replace(FLEET, requests=count).demands(2))
    return figures(served[COLD:], engines)
