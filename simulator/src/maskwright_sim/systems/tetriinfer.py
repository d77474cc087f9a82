"""Prompts in chunks apart from answers, which are placed by their predicted length (Hu et al.,
"Inference without Interference", TetriInfer), and how much longer a step takes for the prompts and
answers that share it, by the cost model alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, LLAMA_13B, SheetCosts
from maskwright_sim.costs.work import CostModel, StepWork
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.fleet import Fleet
from maskwright_sim.fleet.pools import FlippingRoles, PhaseName, Pressure
from maskwright_sim.fleet.routing import LeastLoaded, RandomEngine, Routing
from maskwright_sim.fleet.split import SplitFleet, SplitPolicy
from maskwright_sim.load.demand import Demand
from maskwright_sim.load.workloads import Lengths, Workload, in_turn, mixed
from maskwright_sim.outcome.figures import RunFigures, figures
from maskwright_sim.policy.choice import EngineSettings
from maskwright_sim.policy.order import OrderName
from maskwright_sim.systems.claim import MechanismClaim, Rows, SystemReport


def interference(costs: CostModel) -> dict[str, Rows]:
    """A table for each pair of phases. `times` compares with the first row of a table."""
    return {
        "prompts of 512 tokens in one step, ms": _rows(
            costs, "prompts", ((n, StepWork(prompt=512 * n, position=256)) for n in (1, 2, 4, 8))
        ),
        "a decode step beside a prompt, ms": _rows(
            costs,
            "prompt tokens",
            ((n, StepWork(8, 8 * 100, n, n / 2)) for n in (0, 64, 256, 512, 1024, 2048)),
        ),
        "a prompt of 18 tokens beside light decodes, ms": _rows(
            costs, "decodes", ((n, StepWork(n, n * 500, 18, 9.0)) for n in (0, 7, 31, 127, 255))
        ),
        "128 decodes, some of them heavy, ms": _rows(
            costs,
            "heavy",
            ((n, StepWork(128, (128 - n) * 100 + n * 1500)) for n in (0, 16, 32, 64, 128)),
        ),
    }


def _rows(costs: CostModel, name: str, works: Iterable[tuple[int, StepWork]]) -> Rows:
    taken = [(count, costs.seconds(work)) for count, work in works]
    alone = taken[0][1]
    return [{name: count, "ms": 1000 * took, "times": took / alone} for count, took in taken]


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
SHIFT: Final = (
    Workload(140, 14.0, Lengths(1500), Lengths(20)),
    Workload(120, 11.0, Lengths(60), Lengths(250, "uniform")),
)
"""First long prompts with short answers, then short prompts with long answers."""
ROLES: Final[tuple[PhaseName, ...]] = ("prefill", "prefill", "decode", "decode")
PRESSURE: Final = Pressure(2000, 24)
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
    lengths on four engines; and a load that shifts from prompts to answers."""
    together, apart = _interference(size)
    orders: dict[OrderName, RunFigures] = {
        name: _prompts(name, size) for name in ("fcfs", "shortest-prefill", "longest-prefill")
    }
    flips, fixed = (_shift(size, flips=flips) for flips in (True, False))
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
            MechanismClaim(
                "instances flip between the phases",
                "mean seconds of a request, load shifts from prompts to answers",
                flips.seconds_mean,
                fixed.seconds_mean,
            ),
        ],
        {
            **interference(COSTS),
            "time to the first token by order, ms": [
                {"order": name, "p50": 1000 * found.ttft_p50, "p99": 1000 * found.ttft_p99}
                for name, found in orders.items()
            ],
        },
    )


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


def _shift(size: float, *, flips: bool) -> RunFigures:
    """Four machines; two of them begin with each role."""
    settings = replace(SETTINGS, policy="splitfuse", max_running=24)
    engines = [settings.engine(COSTS) for _ in ROLES]
    roles = FlippingRoles(ROLES, PRESSURE, flips=flips)
    policy = SplitPolicy(prefill=roles.routing("prefill"), decode=roles.routing("decode"))
    loads = [replace(load, requests=round(load.requests * size)) for load in SHIFT]
    return figures(SplitFleet(engines, engines, policy).run(in_turn(loads, 1)), engines)
