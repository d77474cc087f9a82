"""A prefix cache across prefill and decode (Hu et al., "MemServe")."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright_sim.fleet.routing import LongestCached
from maskwright_sim.fleet.split import SplitFleet, SplitPolicy
from maskwright_sim.fleet.transfer import Transfer, TransferMode
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import figures
from maskwright_sim.outcome.served import Served
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport

COSTS: Final = SheetCosts(A100, LLAMA_13B)
SETTINGS: Final = EngineSettings(
    policy="sarathi",
    chunk=2048,
    max_batch_tokens=2048,
    blocks=COSTS.positions() // 16,
    host_blocks=1 << 15,
)
TURNS: Final = 5
CHATS: Final = Workload(
    16, 0.5, Lengths(100, "uniform"), Lengths(150, "exponential"), turns=TURNS, think=2.0
)
SINGLE: Final = Workload(80, 1.0, Lengths(1000, "uniform"), Lengths(20))
LINK: Final = Transfer(
    "aggregated", LLAMA_13B.kv_bytes, LLAMA_13B.layers, 16, bandwidth=A100.network, call=24e-6
)
"""The network of the data sheet, and 24 microseconds for each piece."""

MODES: Final[tuple[TransferMode, ...]] = ("layer", "request", "aggregated")


def memserve(size: float = 1.0) -> SystemReport:
    """Conversations of five turns, and prompts of 1,000 tokens at a low and a high rate, over one
    engine for each phase."""
    chats = {level: _chats(level, size) for level in (1, 2, 3)}
    computed = {level: 100 * (1 - _cached(served)) for level, (_, served) in chats.items()}
    low: dict[TransferMode, float] = {mode: _mean_seconds(mode, 0.5, size) for mode in MODES}
    high: dict[TransferMode, float] = {mode: _mean_seconds(mode, 9.0, size) for mode in MODES}
    return SystemReport(
        [
            MechanismClaim(
                "answers returned to the prefill engine (Caching-3 against -1)",
                "prompt tokens to compute, %",
                computed[3],
                computed[1],
                "falls with turns under -3, not under -1 (text)",
            ),
            MechanismClaim(
                "a cache in the decoding engine (Caching-2 against -1)",
                "tokens moved",
                chats[2][0].moved,
                chats[1][0].moved,
            ),
            MechanismClaim(
                "aggregated blocks",
                "pieces for a block",
                LINK.calls(16),
                replace(LINK, mode="request").calls(16),
                "2 x layers times fewer (text)",
            ),
            MechanismClaim(
                "by layer at a low rate",
                "mean seconds of a request",
                low["layer"],
                low["request"],
                "by layer is best at a low rate (text)",
            ),
            MechanismClaim(
                "aggregated at a high rate",
                "mean seconds of a request",
                high["aggregated"],
                high["layer"],
                "aggregation is best at a high rate (text)",
            ),
        ],
        {
            "prompt tokens in the prefill engine's cache, %, by turn": [
                {"caching": level, **_by_turn(served)} for level, (_, served) in chats.items()
            ],
            "mean seconds of a request, by transfer": _rows(low, high),
        },
    )


def _rows(low: dict[TransferMode, float], high: dict[TransferMode, float]) -> Rows:
    return [
        {"transfer": mode, "0.5 requests/s": low[mode], "9 requests/s": high[mode]} for mode in low
    ]


def _chats(level: int, size: float) -> tuple[SplitFleet, list[Served]]:
    policy = SplitPolicy(
        prefill=LongestCached(), transfer=LINK, reuses=level >= 2, returns=level >= 3
    )
    decode = replace(SETTINGS, prefix_cache=level >= 2, policy="orca", reserves=False)
    fleet = SplitFleet([SETTINGS.engine(COSTS)], [decode.engine(COSTS)], policy)
    return fleet, fleet.run(replace(CHATS, requests=max(4, round(16 * size))).demands(3))


def _cached(served: list[Served]) -> float:
    return figures(served).cached


def _by_turn(served: list[Served]) -> dict[str, float | int | str | None]:
    return {
        f"turn {turn + 1}": 100
        * _cached([one for one in served if one.demand.number % TURNS == turn])
        for turn in range(TURNS)
    }


def _mean_seconds(mode: TransferMode, rate: float, size: float) -> float:
    load = replace(SINGLE, rate=rate, requests=round(SINGLE.requests * size))
    settings = replace(SETTINGS, prefix_cache=False)
    decode = replace(settings, policy="orca", reserves=False)
    policy = SplitPolicy(transfer=replace(LINK, mode=mode))
    fleet = SplitFleet([settings.engine(COSTS)], [decode.engine(COSTS)], policy)
    return figures(fleet.run(load.demands(3))).seconds_mean
