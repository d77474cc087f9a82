"""Chunked prompts: Sarathi's and FastGen's steps against whole prompts (Agrawal et al.,
"Sarathi-Serve", OSDI'24; Holmes et al., "DeepSpeed-FastGen")."""

from __future__ import annotations

from msgspec.structs import replace

from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.costs.sheet import A100, LLAMA_70B, SheetCosts
from maskwright_sim.fleet.fleet import run_engine
from maskwright_sim.load.demand import Demand, text
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import RunFigures, figures, idle_share
from maskwright_sim.placement.rates import StageCosts
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport

PROMPT = 8192
COSTS = LinearCosts(fixed=0.003, row=0.0, token=0.2 / PROMPT)
"""The setting of the text: 8,192 prompt tokens take 200 ms, a step that only decodes takes 3 ms."""
DEEP = replace(COSTS, place=COSTS.token / PROMPT)
"""As `COSTS`, but a token at position 8,192 takes twice as long as one at the beginning."""
CHUNKS = (64, 128, 256, 512, 1024, 2048, 4096)
SETTINGS = EngineSettings(blocks=4096, max_running=32, max_batch_tokens=8300, prefix_cache=False)
FOUR = SheetCosts(A100, LLAMA_70B, inter=4)
PIPELINE = EngineSettings(
    blocks=FOUR.positions() // 16,
    max_running=32,
    max_batch=8,
    max_batch_tokens=4096,
    prefix_cache=False,
    chunk=256,
    stages=4,
)
LONG = Workload(96, 1000.0, Lengths(1024, "uniform"), Lengths(100, "exponential"))
SHORT = Workload(300, 120.0, Lengths(60, "uniform"), Lengths(6))


def sarathi(size: float = 1.0) -> SystemReport:
    """A long prompt arrives while 8 answers are being decoded; a load of short prompts; and a model
    on four workers with a quarter of the layers each. `size` multiplies the number of requests of
    the loads."""
    whole = _beside(replace(SETTINGS, policy="prefill-first"))
    chunked = {chunk: _beside(replace(SETTINGS, policy="sarathi", chunk=chunk)) for chunk in CHUNKS}
    rows: Rows = [_row(str(chunk), *found) for chunk, found in chunked.items()]
    rows.append(_row("whole prompts", *whole))
    fixed = _beside(replace(SETTINGS, policy="sarathi", chunk=1024), DEEP)
    decaying = _beside(replace(SETTINGS, policy="sarathi-decaying", chunk=1024), DEEP)
    short = replace(SHORT, requests=round(SHORT.requests * size))
    return SystemReport(
        [
            MechanismClaim(
                "chunks of 512 tokens",
                "worst gap between tokens, ms",
                1000 * chunked[512][0],
                1000 * whole[0],
                "15 for 200 (text)",
            ),
            MechanismClaim(
                "decaying chunks (1,024 to 64)",
                "worst gap between tokens, ms",
                1000 * decaying[0],
                1000 * fixed[0],
            ),
            MechanismClaim(
                "several short prompts in one step",
                "TTFT p50, ms",
                1000 * _short(replace(SETTINGS, policy="splitfuse"), short).ttft_p50,
                1000 * _short(replace(SETTINGS, policy="sarathi"), short).ttft_p50,
                "2.3 times the throughput of vLLM (paper)",
            ),
            MechanismClaim(
                "chunks of 256 tokens on pipelined workers",
                "time for which a worker is idle, %",
                _bubbles(replace(PIPELINE, policy="sarathi"), size),
                _bubbles(replace(PIPELINE, policy="orca"), size),
                "steps of unlike lengths leave bubbles (text)",
            ),
        ],
        {"a prompt of 8,192 tokens beside 8 decoding requests, by chunk": rows},
    )


def _row(name: str, gap: float, ttft: float) -> dict[str, float | int | str | None]:
    return {"chunk": name, "worst gap ms": 1000 * gap, "TTFT ms": 1000 * ttft}


def _beside(settings: EngineSettings, costs: LinearCosts = COSTS) -> tuple[float, float]:
    """The worst gap of the decoding requests, and the time to the long prompt's first token."""
    demands = [Demand(n, 0.0, tuple(text(n, 8)), 800) for n in range(8)]
    demands.append(Demand(8, 0.1, tuple(text(8, PROMPT)), 2))
    engine = settings.engine(costs)
    served = run_engine(engine, demands)
    return max(one.worst_gap for one in served[:8]), served[8].ttft


def _short(settings: EngineSettings, load: Workload) -> RunFigures:
    engine = settings.engine(COSTS)
    return figures(run_engine(engine, load.demands(1)), [engine])


def _bubbles(settings: EngineSettings, size: float) -> float:
    engine = settings.engine(StageCosts(FOUR))
    run_engine(engine, replace(LONG, requests=round(LONG.requests * size)).demands(1))
    return 100 * idle_share(engine)
