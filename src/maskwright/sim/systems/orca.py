"""Iteration-level scheduling against static batches (Yu et al., "Orca", OSDI'22)."""

from __future__ import annotations

from dataclasses import replace

from maskwright.sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright.sim.fleet.fleet import run_engine
from maskwright.sim.load.workloads import Lengths, Workload
from maskwright.sim.outcome.figures import RunFigures, figures, percentile
from maskwright.sim.outcome.highest_rate import highest_rate
from maskwright.sim.policy.choice import EngineSettings, PolicyName
from maskwright.sim.systems.claim import MechanismClaim, SystemReport

COSTS = SheetCosts(A100, LLAMA_13B)
SETTINGS = EngineSettings(
    blocks=COSTS.positions() // 16, max_running=8, prefix_cache=False, max_batch_tokens=4096
)
LOAD = Workload(160, 1.0, Lengths(64, "uniform"), Lengths(100, "exponential"))
LATENCY = 0.1
"""Seconds a token, waiting included, that half of the requests may take."""


def orca(size: float = 1.0) -> SystemReport:
    """Equal batches of 8 and equal reservations; `size` multiplies the number of requests."""
    load = replace(LOAD, requests=round(LOAD.requests * size))
    whole = {name: _run(name, load, 1000.0) for name in ("orca", "static")}
    rates = {name: _rate(name, load) for name in ("orca", "static")}
    return SystemReport(
        [
            MechanismClaim(
                "iteration-level scheduling",
                "tokens/s, all requests there at once",
                whole["orca"].tokens_per_second,
                whole["static"].tokens_per_second,
                "2-3 times (text)",
                higher=True,
            ),
            MechanismClaim(
                "iteration-level scheduling",
                f"requests/s, half within {LATENCY:g} s a token",
                rates["orca"],
                rates["static"],
                "2-3 times (text), 36.9 times (paper)",
                higher=True,
            ),
        ]
    )


def _run(policy: PolicyName, load: Workload, rate: float) -> RunFigures:
    engine = replace(SETTINGS, policy=policy).engine(COSTS)
    return figures(run_engine(engine, replace(load, rate=rate).demands(1)), [engine])


def _rate(policy: PolicyName, load: Workload) -> float:
    def within(rate: float) -> bool:
        engine = replace(SETTINGS, policy=policy).engine(COSTS)
        served = run_engine(engine, replace(load, rate=rate).demands(1))
        return percentile(sorted(one.normalized for one in served), 50) <= LATENCY

    return highest_rate(within, 0.05, 8.0)
