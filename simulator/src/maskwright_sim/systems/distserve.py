"""Prefill and decode on different machines (Zhong et al., "DistServe", OSDI'24)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright_sim.fleet.split import SplitFleet, SplitPolicy
from maskwright_sim.fleet.transfer import Transfer
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import Objectives
from maskwright_sim.outcome.highest_rate import highest_rate
from maskwright_sim.placement.rates import HANDED_OVER, PhaseSimulator
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport

DEVICE: Final = replace(A100, compute_efficiency=0.7, overhead=0.0105)
"""The share of the arithmetic and the seconds outside of the device are chosen so that the rates of
prefill alone and of decode alone come near the text's (5.6 and 10)."""
LOAD: Final = Workload(300, 1.0, Lengths(512), Lengths(64))
OBJECTIVES: Final = Objectives(0.2, 0.04)
"""The text gives no objectives."""


def distserve(size: float = 1.0) -> SystemReport:
    """13B on A100 with 80 GB, prompts of 512 and answers of 64 tokens: the rates at which 90 % of
    the requests meet both objectives."""
    load = replace(LOAD, requests=round(LOAD.requests * size))
    simulator = PhaseSimulator(DEVICE, LLAMA_13B, load, OBJECTIVES, combined="prefill-first")
    combined = replace(simulator, most=4.0).rate("combined")
    mixed = replace(simulator, most=4.0, combined="ours").rate("combined")
    prefill, decode = simulator.rate("prefill"), simulator.rate("decode")
    split = _split(load) / 3
    rows: Rows = [
        {"machines": "combined, prompts first", "requests/s": combined, "text": 1.6},
        {"machines": "combined, our scheduler", "requests/s": mixed, "text": None},
        {"machines": "prefill only", "requests/s": prefill, "text": 5.6},
        {"machines": "decode only", "requests/s": decode, "text": 10.0},
        {"machines": "2 prefill, 1 decode, each", "requests/s": split, "text": 3.3},
    ]
    return SystemReport(
        [
            MechanismClaim(
                "prefill and decode apart",
                "requests/s a machine within the objectives",
                split,
                combined,
                "2.1 times (text)",
                higher=True,
            ),
            MechanismClaim(
                "prefill and decode apart, against our scheduler",
                "requests/s a machine within the objectives",
                split,
                mixed,
                higher=True,
            ),
        ],
        {"requests a second for each machine": rows},
    )


def _split(load: Workload) -> float:
    costs = SheetCosts(DEVICE, LLAMA_13B)
    prefill = EngineSettings(
        policy="prefill-first",
        blocks=costs.positions() // 16,
        max_running=256,
        max_batch_tokens=2048,
        prefix_cache=False,
        host_blocks=HANDED_OVER,
        reserves=False,
    )
    decode = replace(prefill, policy="orca")
    policy = SplitPolicy(transfer=Transfer("request", bandwidth=DEVICE.link))

    def within(rate: float) -> bool:
        engines = [prefill.engine(costs) for _ in range(2)]
        served = SplitFleet(engines, [decode.engine(costs)], policy).run(
            replace(load, rate=rate).demands(1)
        )
        return sum(map(OBJECTIVES.met, served)) >= 0.9 * len(served)

    return highest_rate(within, 0.0, 16.0, 6)
