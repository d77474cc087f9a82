"""Iteration-level scheduling against static batches, and pipelined workers (Yu et al., "Orca",
OSDI'22)."""

from __future__ import annotations

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, LLAMA_13B, LLAMA_70B, SheetCosts
from maskwright_sim.fleet.fleet import run_engine
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import RunFigures, figures, idle_share, percentile
from maskwright_sim.outcome.highest_rate import highest_rate
from maskwright_sim.placement.rates import StageCosts
from maskwright_sim.policy.choice import EngineSettings, PolicyName
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport

COSTS = SheetCosts(A100, LLAMA_13B)
SETTINGS = EngineSettings(
    blocks=COSTS.positions() // 16, max_running=8, prefix_cache=False, max_batch_tokens=4096
)
LOAD = Workload(160, 1.0, Lengths(64, "uniform"), Lengths(100, "exponential"))
LATENCY = 0.1
"""Seconds a token, waiting included, that half of the requests may take."""
FOUR = SheetCosts(A100, LLAMA_70B, inter=4)
PIPELINE = replace(SETTINGS, policy="orca", blocks=FOUR.positions() // 16, stages=4)
WORKERS = {
    "four batches of 8": replace(PIPELINE, max_running=32, max_batch=8),
    "one batch of 32": replace(PIPELINE, max_running=32, flights=1),
    "one batch of 8": replace(PIPELINE, flights=1),
}
LONG = replace(LOAD, requests=120, rate=1000.0, prompt=Lengths(512, "uniform"))


def orca(size: float = 1.0) -> SystemReport:
    """Equal batches of 8 and equal reservations, and a model on four workers with a quarter of the
    layers each; `size` multiplies the number of requests."""
    load = replace(LOAD, requests=round(LOAD.requests * size))
    whole = {name: _run(name, load, 1000.0) for name in ("orca", "static")}
    rates = {name: _rate(name, load) for name in ("orca", "static")}
    pipelines = {name: _pipeline(settings, size) for name, settings in WORKERS.items()}
    four, wide, _ = (found.tokens_per_second for found, _ in pipelines.values())
    rows: Rows = [
        {"in flight": name, "tokens/s": found.tokens_per_second, "workers idle %": 100 * idle}
        for name, (found, idle) in pipelines.items()
    ]
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
            MechanismClaim(
                "pipelined workers: four batches of 8 against one of 32",
                "tokens/s, all requests there at once",
                four,
                wide,
                "no worker is idle (text)",
                higher=True,
            ),
        ],
        {"four workers with a quarter of the layers each": rows},
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


def _pipeline(settings: EngineSettings, size: float) -> tuple[RunFigures, float]:
    """The figures of a run, and the share of its time for which a worker is idle."""
    engine = settings.engine(StageCosts(FOUR))
    served = run_engine(engine, replace(LONG, requests=round(LONG.requests * size)).demands(1))
    return figures(served, [engine]), idle_share(engine)
