"""Mooncake's cache of keys and values: copies of hot blocks, tiers of memory, and prompts computed
by several machines (Qin et al., "Mooncake", FAST'25)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, LLAMA_70B, SheetCosts
from maskwright_sim.costs.work import StepWork
from maskwright_sim.fleet.fleet import Fleet
from maskwright_sim.fleet.routing import LeastLoaded
from maskwright_sim.fleet.split import SplitFleet, SplitPolicy
from maskwright_sim.fleet.store import Conductor, Tier, TieredStore
from maskwright_sim.fleet.transfer import Transfer
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import RunFigures, figures
from maskwright_sim.placement.rates import StageCosts
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport

COSTS: Final = SheetCosts(A100, LLAMA_70B, intra=4)
"""A machine of four devices."""
PER_TOKEN: Final = COSTS.seconds(StepWork(prompt=1024, position=512)) / 1024
PER_COPIED: Final = LLAMA_70B.kv_bytes / A100.network
SETTINGS: Final = EngineSettings(
    policy="splitfuse", chunk=2048, blocks=700, max_batch_tokens=2048, host_blocks=1 << 15
)
DECODE: Final = replace(SETTINGS, policy="orca", blocks=8000, reserves=False, prefix_cache=False)
HOT: Final = Workload(
    240, 20.0, Lengths(300, "uniform"), Lengths(2), prefixes=20, prefix_length=3008, skew=1.6
)
HOT_BLOCKS: Final = 2000
DOCUMENTS: Final = Workload(
    240, 2.0, Lengths(200, "uniform"), Lengths(2), prefixes=40, prefix_length=2000, skew=0.5
)
DRAM: Final = Tier("DRAM", 2500, 20e9)
DISKS: Final = Tier("SSD", 20000, 6e9)
"""Memory for 20 of 40 documents, and disks for all; the rates are assumptions."""
LONG: Final = Workload(40, 0.25, Lengths(16000, "uniform"), Lengths(1))
MACHINES: Final = 4


def kv_report(size: float) -> SystemReport:
    """Hot prefixes on four prefill machines, more documents than a machine's memory holds, and long
    prompts. `size` multiplies the number of requests."""
    copied, alone = (_hot(copies, size) for copies in (True, False))
    tiers = {
        "no tier": _documents([], size),
        "DRAM": _documents([DRAM], size),
        "DRAM and SSD": _documents([DRAM, DISKS], size),
        "DRAM and SSD, not by layer": _documents([DRAM, DISKS], size, by_layer=False),
    }
    none, memory, disks, whole = tiers.values()
    grouped, single = (_long(stages, size) for stages in (MACHINES, 1))
    rows: Rows = [
        {
            "tiers": name,
            "prompt tokens to compute %": 100 * (1 - found.cached),
            "TTFT mean ms": 1000 * found.ttft_mean,
            "p50 ms": 1000 * found.ttft_p50,
            "p90 ms": 1000 * found.ttft_p90,
        }
        for name, found in tiers.items()
    ]
    return SystemReport(
        [
            MechanismClaim(
                "copies of hot blocks",
                "TTFT p90, ms, four prefill machines",
                1000 * copied.ttft_p90,
                1000 * alone.ttft_p90,
            ),
            MechanismClaim(
                "a tier of memory (DRAM)",
                "prompt tokens to compute, %",
                100 * (1 - memory.cached),
                100 * (1 - none.cached),
            ),
            MechanismClaim(
                "a tier of disks (SSD) below it",
                "TTFT p90, ms",
                1000 * disks.ttft_p90,
                1000 * memory.ttft_p90,
            ),
            MechanismClaim(
                "keys and values fetched by layer",
                "TTFT p50, ms",
                1000 * disks.ttft_p50,
                1000 * whole.ttft_p50,
            ),
            MechanismClaim(
                "a prompt's chunks on four machines (chunked pipeline)",
                "TTFT p50, ms, prompts of 16,000 tokens, against a machine for each prompt",
                1000 * grouped.ttft_p50,
                1000 * single.ttft_p50,
            ),
        ],
        {"40 documents, one prefill machine": rows},
    )


def _hot(copies: bool, size: float) -> RunFigures:
    conductor = Conductor(PER_TOKEN, PER_COPIED, copies)
    settings = replace(SETTINGS, blocks=HOT_BLOCKS)
    policy = SplitPolicy(prefill=conductor, conductor=conductor)
    return _run([settings] * MACHINES, policy, HOT, size)


def _documents(tiers: Sequence[Tier], size: float, *, by_layer: bool = True) -> RunFigures:
    store = TieredStore(tiers, LLAMA_70B.kv_bytes)
    settings = replace(SETTINGS, by_layer=by_layer)
    return _run([settings], SplitPolicy(store=store), DOCUMENTS, size)


def _run(
    machines: Sequence[EngineSettings], policy: SplitPolicy, load: Workload, size: float
) -> RunFigures:
    """The figures of a run without its first quarter, in which the caches fill."""
    prefills = [settings.engine(COSTS) for settings in machines]
    link = Transfer("layer", LLAMA_70B.kv_bytes, LLAMA_70B.layers, bandwidth=A100.network)
    fleet = SplitFleet(prefills, [DECODE.engine(COSTS)], replace(policy, transfer=link))
    served = fleet.run(replace(load, requests=round(load.requests * size)).demands(2))
    return figures(served[len(served) // 4 :])


def _long(stages: int, size: float) -> RunFigures:
    """Long prompts on four machines: on all of them together, each with a quarter of the layers, or
    on one machine each."""
    settings = EngineSettings(
        policy="sarathi",
        chunk=2048,
        blocks=8000,
        max_batch_tokens=2048,
        prefix_cache=False,
        stages=stages,
    )
    costs = StageCosts(replace(COSTS, inter=stages))
    engines = [settings.engine(costs) for _ in range(MACHINES // stages)]
    load = replace(LONG, requests=round(LONG.requests * size))
    return figures(Fleet(engines, LeastLoaded()).run(load.demands(2)))
