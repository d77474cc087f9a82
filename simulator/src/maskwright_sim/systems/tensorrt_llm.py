"""In-flight batching, and how much memory a request is promised (NVIDIA, TensorRT-LLM: its batch
manager's policies)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright_sim.fleet.fleet import run_engine
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import RunFigures, figures
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport

COSTS: Final = SheetCosts(A100, LLAMA_13B)
SETTINGS: Final = EngineSettings(policy="orca", blocks=900, max_running=16, prefix_cache=False)
POLICIES: Final = {
    "in flight, most use (MAX_UTILIZATION)": replace(SETTINGS, reserves=False),
    "in flight, no eviction (GUARANTEED_NO_EVICT)": SETTINGS,
    "static batches (STATIC_BATCH)": replace(SETTINGS, policy="static"),
}
LOAD: Final = Workload(160, 1000.0, Lengths(160, "uniform"), Lengths(180, "exponential"), cap=1000)


def tensorrt_llm(size: float = 1.0) -> SystemReport:
    """The three policies in equal memory, for answers of at most 1,000 tokens that are all asked
    for at once. `size` multiplies the number of requests."""
    found = {name: _run(settings, size) for name, settings in POLICIES.items()}
    used, promised, static = (run.tokens_per_second for run in found.values())
    rows: Rows = [
        {
            "policy": name,
            "tokens/s": run.tokens_per_second,
            "mean s": run.seconds_mean,
            "blocks in use %": 100 * run.kv_use,
            "preempted": run.preemptions,
        }
        for name, run in found.items()
    ]
    return SystemReport(
        [
            MechanismClaim(
                "in-flight batching",
                "tokens/s, against static batches",
                promised,
                static,
                higher=True,
            ),
            MechanismClaim(
                "memory taken as answers grow",
                "tokens/s, against memory for the longest answer",
                used,
                promised,
                higher=True,
            ),
        ],
        {"batches of at most 16, 900 blocks of 16 positions": rows},
    )


def _run(settings: EngineSettings, size: float) -> RunFigures:
    engine = settings.engine(COSTS)
    served = run_engine(engine, replace(LOAD, requests=round(LOAD.requests * size)).demands(3))
    return figures(served, [engine])
