"""Settings for each phase: devices, weights, and numbers of instances (Alibaba, RTP-LLM)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, H100, LLAMA_13B, SheetCosts
from maskwright_sim.fleet.phase_pools import PhasePool, PhasePools
from maskwright_sim.fleet.transfer import Transfer
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import Objectives, RunFigures, figures
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport

COSTS: Final = SheetCosts(A100, LLAMA_13B)
HOPPER: Final = replace(COSTS, device=H100)
PREFILL: Final = EngineSettings(
    policy="splitfuse", chunk=2048, blocks=COSTS.positions() // 16, prefix_cache=False
)
DECODE: Final = replace(
    PREFILL, policy="orca", reserves=False, max_running=128, host_blocks=1 << 15
)
POOLS: Final = PhasePools(
    PhasePool(3, PREFILL, COSTS),
    PhasePool(1, DECODE, COSTS),
    Transfer("layer", LLAMA_13B.kv_bytes, LLAMA_13B.layers, bandwidth=A100.network),
)
"""Three instances for prefill, and one for decode with large batches."""
LOAD: Final = Workload(240, 20.0, Lengths(800, "uniform"), Lengths(40, "uniform"))
OBJECTIVES: Final = Objectives(1.0, 0.06)


def rtp_llm(size: float = 1.0) -> SystemReport:
    """One load on four machines with different settings of the two pools."""
    fast = replace(POOLS, prefill=replace(POOLS.prefill, costs=replace(COSTS, weights="w8a8")))
    light = replace(POOLS, decode=replace(POOLS.decode, costs=replace(COSTS, weights="w4a16")))
    pools = {
        "3 prefill, 1 decode, 16 bits": POOLS,
        "2 prefill, 2 decode, 16 bits": _counts(2, 2),
        "3 prefill with 8 bits (w8a8), 1 decode": fast,
        "3 prefill, 1 decode with 4 bits (w4a16)": light,
        "2 prefill on H100, 2 decode on A100": _on(HOPPER, COSTS),
        "2 prefill on A100, 2 decode on H100": _on(COSTS, HOPPER),
    }
    found = {name: _run(each, size) for name, each in pools.items()}
    more, even, eight, four, strong, weak = found.values()
    rows: Rows = [
        {
            "pools": name,
            "TTFT p90 ms": 1000 * run.ttft_p90,
            "TPOT p90 ms": 1000 * run.tpot_p90,
            "good/s": run.goodput,
        }
        for name, run in found.items()
    ]
    return SystemReport(
        [
            MechanismClaim(
                "three instances for prefill and one for decode",
                "good answers/s, against two for each",
                more.goodput,
                even.goodput,
                higher=True,
            ),
            MechanismClaim(
                "8 bits for prefill", "TTFT p90, ms", 1000 * eight.ttft_p90, 1000 * more.ttft_p90
            ),
            MechanismClaim(
                "4 bits for the weights of decode",
                "TPOT p90, ms",
                1000 * four.tpot_p90,
                1000 * more.tpot_p90,
            ),
            MechanismClaim(
                "the devices with more arithmetic for prefill",
                "good answers/s, against these for decode",
                strong.goodput,
                weak.goodput,
                higher=True,
            ),
        ],
        {"one load on four machines": rows},
    )


def _counts(prefills: int, decodes: int) -> PhasePools:
    return replace(
        POOLS,
        prefill=replace(POOLS.prefill, replicas=prefills),
        decode=replace(POOLS.decode, replicas=decodes),
    )


def _on(prefill: SheetCosts, decode: SheetCosts) -> PhasePools:
    pools = _counts(2, 2)
    return replace(
        pools,
        prefill=replace(pools.prefill, costs=prefill),
        decode=replace(pools.decode, costs=decode),
    )


def _run(pools: PhasePools, size: float) -> RunFigures:
    served, engines = pools.run(replace(LOAD, requests=round(LOAD.requests * size)).demands(2))
    return figures(served, engines, OBJECTIVES)
