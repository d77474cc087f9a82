"""Prompts in chunks apart from answers, which are placed by their predicted length (Hu et al.,
"Inference without Interference", TetriInfer)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from maskwright.sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright.sim.costs.work import StepWork
from maskwright.sim.engine.simulated_engine import SimulatedEngine
from maskwright.sim.fleet.fleet import Fleet
from maskwright.sim.fleet.routing import LeastLoaded, RandomEngine, Routing
from maskwright.sim.fleet.split import SplitFleet, SplitPolicy
from maskwright.sim.load.demand import Demand
from maskwright.sim.load.workloads import Lengths, Workload, mixed
from maskwright.sim.outcome.figures import RunFigures, figures
from maskwright.sim.policy.choice import EngineSettings
from maskwright.sim.policy.order import OrderName
from maskwright.sim.systems.claim import MechanismClaim, Rows, SystemReport

COSTS: Final = SheetCosts(A100, LLAMA_13B)
SETTINGS: Final = EngineSettings(
    policy="orca",
    blocks=COSTS.positions() // 16,
    max_batch_tokens=4096,
    prefix_cache=False,
    host_blocks=1 << 15,
    reserves=False,
)
HEAVY: Final = Workload(40, 3.0, Lengths(1800), Lengths(20))
LIGHT: Final = Workload(80, 6.0, Lengths(40), Lengths(80))
PROMPTS: Final = Workload(200, 10.0, Lengths(500, "heavy"), Lengths(1))
ANSWERS: Final = Workload(300, 8.0, Lengths(60), Lengths(250, "heavy"))
BUCKET: Final = 200
"""Predicted lengths are multiples of this many tokens."""
ACCURACY: Final = 0.75
"""How often the predicted bucket is the true one; else it is a neighbour."""


class PredictedTwo:
    """Of two engines drawn at random, the one with fewer predicted tokens still to decode (the
    power of two choices)."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = random.Random(seed)
        self._predicted: dict[int, int] = {}

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        """The engine for the answer of `demand`."""
        off = 0 if self._rng.random() < ACCURACY else self._rng.choice((-1, 1))
        bucket = max(1, -(-demand.output // BUCKET) + off)
        self._predicted[demand.number] = bucket * BUCKET
        two = self._rng.sample(range(len(engines)), min(2, len(engines)))
        return min(two, key=lambda at: (self._to_come(engines[at]), at))

    def _to_come(self, engine: SimulatedEngine) -> int:
        live = (*engine.scheduler.running, *engine.scheduler.waiting)
        return sum(
            max(0, self._predicted[s.arrival] - (len(s.tokens) - s.prompt_length)) for s in live
        )


def tetriinfer(size: float = 1.0) -> SystemReport:
    """Light answers beside heavy prompts; orders of prompts; placement of answers of unequal
    lengths on four engines."""
    together, apart = _interference(size)
    orders: dict[OrderName, RunFigures] = {
        name: _prompts(name, size) for name in ("fcfs", "shortest-prefill", "longest-prefill")
    }
    predicted, blind = _answers(PredictedTwo(1), size), _answers(RandomEngine(1), size)
    return SystemReport(
        [
            MechanismClaim(
                "prompts apart from answers",
                "TPOT p99 of light answers, ms",
                1000 * apart.tpot_p99,
                1000 * together.tpot_p99,
                "5 times slower beside a heavy prefill (text)",
            ),
            MechanismClaim(
                "shortest prompt first",
                "TTFT p50, ms, against order of arrival",
                1000 * orders["shortest-prefill"].ttft_p50,
                1000 * orders["fcfs"].ttft_p50,
            ),
            MechanismClaim(
                "predicted length and power of two",
                "longest wait for a token, p99, s, against random",
                predicted.gap_p99,
                blind.gap_p99,
                "47 % less time for a request with all mechanisms (paper)",
            ),
        ],
        {
            "a decode step beside a prompt, ms": _beside_prompts(),
            "a prompt of 18 tokens beside light decodes, ms": _beside_decodes(),
            "time to the first token by order, ms": [
                {"order": name, "p50": 1000 * found.ttft_p50, "p99": 1000 * found.ttft_p99}
                for name, found in orders.items()
            ],
        },
    )


def _beside_prompts() -> Rows:
    alone = COSTS.seconds(StepWork(8, 8 * 100))
    return [
        {
            "prompt tokens": prompt,
            "ms": 1000 * (took := COSTS.seconds(StepWork(8, 8 * 100, prompt, prompt / 2))),
            "times": took / alone,
        }
        for prompt in (0, 64, 256, 512, 1024, 2048)
    ]


def _beside_decodes() -> Rows:
    alone = COSTS.seconds(StepWork(0, 0, 18, 9.0))
    return [
        {
            "decodes": rows,
            "ms": 1000 * (took := COSTS.seconds(StepWork(rows, rows * 500, 18, 9.0))),
            "times": took / alone,
        }
        for rows in (0, 7, 31, 127, 255)
    ]


def _interference(size: float) -> tuple[RunFigures, RunFigures]:
    """The light answers' figures on two engines for everything, and on one for each phase."""
    heavy, light = (
        replace(load, requests=max(8, round(load.requests * size))) for load in (HEAVY, LIGHT)
    )
    demands = mixed([heavy, light], 5)
    demands = [replace(demand, rank=0, client=str(demand.rank)) for demand in demands]
    both = Fleet([SETTINGS.engine(COSTS) for _ in range(2)], LeastLoaded()).run(demands)
    chunked = replace(SETTINGS, policy="splitfuse", chunk=512)
    apart = SplitFleet([chunked.engine(COSTS)], [SETTINGS.engine(COSTS)]).run(demands)
    return (
        figures([one for one in both if one.demand.client == "1"]),
        figures([one for one in apart if one.demand.client == "1"]),
    )


def _prompts(order: OrderName, size: float) -> RunFigures:
    engine = replace(SETTINGS, policy="splitfuse", chunk=512, order=order).engine(COSTS)
    load = replace(PROMPTS, requests=round(PROMPTS.requests * size), rate=11.0)
    return figures(Fleet([engine], LeastLoaded()).run(load.demands(2)))


def _answers(routing: Routing, size: float) -> RunFigures:
    small = replace(SETTINGS, blocks=1000, max_running=10)
    engines = [small.engine(COSTS) for _ in range(4)]
    prompts = [replace(SETTINGS, policy="splitfuse").engine(COSTS) for _ in range(2)]
    fleet = SplitFleet(prompts, engines, SplitPolicy(decode=routing))
    load = replace(ANSWERS, requests=round(ANSWERS.requests * size))
    return figures(fleet.run(load.demands(4)), engines)
