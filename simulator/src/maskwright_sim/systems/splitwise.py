"""Phases on unlike machines, and keys and values sent layer by layer (Patel et al., "Splitwise",
ISCA'24)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, H100, LLAMA_13B, DeviceSheet, SheetCosts
from maskwright_sim.fleet.fleet import Fleet, run_engine
from maskwright_sim.fleet.pools import MixedPool, PhaseName, Pressure
from maskwright_sim.fleet.routing import LeastLoaded, RandomEngine, Routing
from maskwright_sim.fleet.split import SplitFleet, SplitPolicy
from maskwright_sim.fleet.transfer import Transfer, TransferMode
from maskwright_sim.load.workloads import Lengths, Workload, in_turn
from maskwright_sim.outcome.figures import Objectives, RunFigures, figures
from maskwright_sim.placement.rates import PhaseSimulator, SimulatedPhase
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport
from maskwright_sim.systems.tetriinfer import SHIFT

COSTS: Final = SheetCosts(A100, LLAMA_13B)
SETTINGS: Final = EngineSettings(
    policy="prefill-first",
    blocks=COSTS.positions() // 16,
    max_batch_tokens=2048,
    prefix_cache=False,
    host_blocks=1 << 15,
)
PROMPTS: Final = Workload(300, 36.0, Lengths(600, "exponential"), Lengths(1))
BURSTS: Final = Workload(160, 7.0, Lengths(600, "uniform"), Lengths(1), pattern="burst")
LARGE: Final = Workload(60, 2.0, Lengths(1500), Lengths(10))
HOMES: Final[tuple[PhaseName, ...]] = ("prefill", "prefill", "decode", "decode")
PRESSURE: Final = Pressure(4000, 24)
CROWD: Final = Workload(120, 5.0, Lengths(500, "uniform"), Lengths(60, "uniform"))
TOKENS: Final = (512, 1024, 2048, 4096, 8192, 16384)


def splitwise(size: float = 1.0) -> SystemReport:
    """Transfers of prompts of 1,500 tokens, prompt machines near their limit, a load that shifts
    from prompts to answers, and what a dollar serves on unlike machines."""
    layer, serial = (_transfer(mode, size) for mode in ("layer", "request"))
    shortest, blind = (_prompts(way, PROMPTS, size) for way in (LeastLoaded(), RandomEngine(1)))
    sweep = {tokens: _prompts(LeastLoaded(), BURSTS, size, tokens, 1) for tokens in TOKENS}
    rows: Rows = [
        {
            "tokens of a batch": tokens,
            "TTFT p50 ms": 1000 * found.ttft_p50,
            "p99 ms": 1000 * found.ttft_p99,
            "requests/s": found.requests_per_second,
        }
        for tokens, found in sweep.items()
    ]
    pool, fixed = (_shift(size, mixes=mixes) for mixes in (True, False))
    ages, starves = (_crowd(patience, size) for patience in (1, 0))
    return SystemReport(
        [
            MechanismClaim(
                "keys and values by layer", "wait before the second token, ms", layer, serial
            ),
            MechanismClaim(
                "join the shortest queue",
                "TTFT p99, ms, against random",
                1000 * shortest.ttft_p99,
                1000 * blind.ttft_p99,
            ),
            MechanismClaim(
                "prompt batches of at most 2,048 tokens",
                "TTFT p50, ms, against 16,384",
                1000 * sweep[2048].ttft_p50,
                1000 * sweep[16384].ttft_p50,
            ),
            MechanismClaim(
                "mixed pool",
                "TTFT p90, ms, load shifts from prompts to answers",
                1000 * pool.ttft_p90,
                1000 * fixed.ttft_p90,
            ),
            MechanismClaim(
                "ageing of answers that prompts displace",
                "longest wait for a token, p99, s",
                ages.gap_p99,
                starves.gap_p99,
            ),
            *_cost_claims(size),
        ],
        {"a prompt machine in bursts of eight, by the tokens of a batch": rows},
    )


def _cost_claims(size: float) -> list[MechanismClaim]:
    unlike, alike = _for_a_dollar(H100, A100, size), _for_a_dollar(H100, H100, size)
    one_pool = _rate(H100, "combined", size) * 3600 / H100.price
    return [
        MechanismClaim(
            "H100 for prompts, A100 for tokens",
            "requests for a dollar, against H100 for both",
            unlike,
            alike,
            higher=True,
        ),
        MechanismClaim(
            "H100 for prompts, A100 for tokens",
            "requests for a dollar, against one pool of H100, prompts first",
            unlike,
            one_pool,
            "1.4 times the throughput at 20 % less cost (paper)",
            higher=True,
        ),
    ]


def _transfer(mode: TransferMode, size: float) -> float:
    """Mean milliseconds between the end of a prefill and the arrival of its keys and values."""
    link = Transfer(mode, LLAMA_13B.kv_bytes, LLAMA_13B.layers, bandwidth=A100.network)
    decode = replace(SETTINGS, policy="orca", reserves=False)
    fleet = SplitFleet([SETTINGS.engine(COSTS)], [decode.engine(COSTS)], SplitPolicy(transfer=link))
    served = fleet.run(replace(LARGE, requests=round(LARGE.requests * size)).demands(1))
    return 1000 * sum(one.transfer for one in served) / len(served)


def _prompts(
    routing: Routing, load: Workload, size: float, tokens: int = 2048, machines: int = 4
) -> RunFigures:
    engines = [replace(SETTINGS, max_batch_tokens=tokens).engine(COSTS) for _ in range(machines)]
    load = replace(load, requests=round(load.requests * size))
    return figures(Fleet(engines, routing).run(load.demands(2)), engines)


def _shift(size: float, *, mixes: bool) -> RunFigures:
    """Two prompt machines and two token machines, which may join the mixed pool."""
    settings = replace(SETTINGS, policy="mixed", max_running=24)
    engines = [settings.engine(COSTS) for _ in HOMES]
    pools = MixedPool(HOMES, PRESSURE, mixes)
    policy = SplitPolicy(prefill=pools.routing("prefill"), decode=pools.routing("decode"))
    loads = [replace(load, requests=round(load.requests * size)) for load in SHIFT]
    return figures(SplitFleet(engines, engines, policy).run(in_turn(loads, 1)), engines)


def _crowd(patience: int, size: float) -> RunFigures:
    """One machine of the mixed pool with too little memory for its load."""
    engine = replace(SETTINGS, policy="mixed", blocks=250, patience=patience).engine(COSTS)
    load = replace(CROWD, requests=round(CROWD.requests * size))
    return figures(run_engine(engine, load.demands(3)), [engine])


def _for_a_dollar(prompts: DeviceSheet, tokens: DeviceSheet, size: float) -> float:
    """Requests for a dollar with as many machines of each sort as the phases need."""
    dollars = prompts.price / _rate(prompts, "prefill", size)
    dollars += tokens.price / _rate(tokens, "decode", size)
    return 3600 / dollars


def _rate(device: DeviceSheet, phase: SimulatedPhase, size: float) -> float:
    """Requests a second of one machine."""
    load = Workload(round(150 * size), 1.0, Lengths(512), Lengths(64))
    objectives = Objectives(0.3, 0.05)
    simulator = PhaseSimulator(
        device, LLAMA_13B, load, objectives, combined="prefill-first", most=64.0
    )
    return simulator.rate(phase)
