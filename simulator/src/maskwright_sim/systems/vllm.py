"""Paged blocks and preemption against reserved memory (Kwon et al., SOSP'23)."""

from __future__ import annotations

from msgspec.structs import replace

from maskwright.engine.kv.blocks import BlockPool
from maskwright_sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.fleet import run_engine
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import RunFigures, figures
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport

COSTS = SheetCosts(A100, LLAMA_13B)
LENGTHS = (47, 183, 12, 891, 256, 5, 1024, 73, 330, 15)
LONGEST = 2048
"""Lengths of ten requests and the longest that is allowed (text)."""
TIGHT = EngineSettings(
    policy="prefill-first", blocks=32, max_running=4, prefix_cache=False, host_blocks=64
)
FEW = Workload(20, 20.0, Lengths(80, "uniform"), Lengths(120, "exponential"), cap=400)
LOAD = Workload(120, 1000.0, Lengths(160, "heavy"), Lengths(180, "exponential"), cap=1000)


def vllm(size: float = 1.0) -> SystemReport:
    """Waste and throughput with and without paging; 20 requests in 32 blocks with each way to
    preempt. `size` multiplies the number of requests of the throughput's load."""
    pool = BlockPool(1 << 16, 16)
    used = sum(LENGTHS)
    paged = 16 * sum(map(pool.needed, LENGTHS))
    reserved = LONGEST * len(LENGTHS)
    tight = {name: _tight(name) for name in ("recompute", "swap", "drop")}
    load = replace(LOAD, requests=round(LOAD.requests * size))
    rates = {reserves: _throughput(load, reserves=reserves) for reserves in (False, True)}
    rows: Rows = [
        {
            "preemption": name,
            "answered": found.answered,
            "preempted": found.preemptions,
            "computed again": found.recomputed,
            "mean s": found.seconds_mean,
        }
        for name, found in tight.items()
    ]
    return SystemReport(
        [
            MechanismClaim(
                "paged blocks",
                "unused share of ten requests' memory, %",
                100 * (1 - used / paged),
                100 * (1 - used / reserved),
                "2.6 (1.5 by its own lengths) for 86.2 (text)",
            ),
            MechanismClaim(
                "paged blocks",
                "tokens/s",
                rates[False].tokens_per_second,
                rates[True].tokens_per_second,
                "2-4 times (text)",
                higher=True,
            ),
            MechanismClaim(
                "preemption instead of dropping",
                "answered of 20",
                tight["recompute"].answered,
                tight["drop"].answered,
                "20 of 20, 12 preemptions (text)",
                higher=True,
            ),
            MechanismClaim(
                "swap instead of computing again",
                "tokens computed again",
                tight["swap"].recomputed,
                tight["recompute"].recomputed,
            ),
        ],
        {"20 requests, 32 blocks of 16, batch of 4": rows},
    )


def _tight(preemption: str) -> RunFigures:
    engine = replace(TIGHT, preemption=preemption).engine(COSTS)  # type: ignore[arg-type]
    return figures(run_engine(engine, FEW.demands(3)), [engine])


def _throughput(load: Workload, *, reserves: bool) -> RunFigures:
    settings = EngineSettings(
        policy="orca", blocks=900, max_running=64, prefix_cache=False, reserves=reserves
    )
    engine: SimulatedEngine = settings.engine(COSTS)
    return figures(run_engine(engine, load.demands(3)), [engine])
