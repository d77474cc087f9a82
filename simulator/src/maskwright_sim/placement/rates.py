"""The highest rate of requests that one instance serves within the objectives, by simulation."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec.structs import replace

from maskwright.immutable import Immutable
from maskwright_sim.costs.sheet import DeviceSheet, ModelSheet, SheetCosts
from maskwright_sim.costs.work import StepWork
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.fleet import Fleet
from maskwright_sim.fleet.routing import LeastLoaded
from maskwright_sim.fleet.split import SplitFleet
from maskwright_sim.load.demand import Demand
from maskwright_sim.load.workloads import Workload
from maskwright_sim.outcome.figures import Objectives
from maskwright_sim.outcome.highest_rate import highest_rate
from maskwright_sim.outcome.served import Served
from maskwright_sim.placement.search import Parallelism
from maskwright_sim.policy.choice import EngineSettings, PolicyName

SimulatedPhase: TypeAlias = Literal["prefill", "decode", "combined"]
HANDED_OVER = 1 << 16
"""Blocks of the host's pool in which a decoding engine receives keys and values."""


class StageCosts(Immutable):
    """Costs of one of the batches that fill a pipeline: each takes the whole latency, and as many
    batches as there are stages run beside each other."""

    sheet: SheetCosts

    def seconds(self, work: StepWork) -> float:
        """The latency of a step."""
        return self.sheet.latency(work)


class NoCosts:
    """Steps that take no time: prompts that others have computed."""

    def seconds(self, work: StepWork) -> float:
        """No time."""
        return 0.0


class PhaseSimulator(Immutable):
    """Rates of instances on `device` with `model`, for requests like `load`'s. The share `attained`
    of them has to meet `objectives`. `combined`: the policy of an engine for both phases.
    `most`: the highest rate that is tried."""

    device: DeviceSheet
    model: ModelSheet
    load: Workload
    objectives: Objectives
    attained: float = 0.9
    combined: PolicyName = "ours"
    most: float = 16.0
    halvings: int = 6

    def rate(self, phase: SimulatedPhase, shape: Parallelism | None = None) -> float:
        """Requests a second that one instance serves within the objectives; 0 if the model does not
        fit."""
        costs = SheetCosts(
            self.device, self.model, *((shape.intra, shape.inter) if shape else (1, 1))
        )
        if costs.positions() < 16 * costs.inter:
            return 0.0
        found = highest_rate(
            lambda rate: self._within(phase, costs, rate), 0.0, self.most, self.halvings
        )
        return found if found > self.most / 2 ** (self.halvings + 1) else 0.0

    def _within(self, phase: SimulatedPhase, costs: SheetCosts, rate: float) -> bool:
        if rate <= 0:
            return True
        served = self._served(phase, costs, replace(self.load, rate=rate).demands(1))
        met = sum(map(self.objectives.met, served))
        return met >= self.attained * len(served)

    def _served(
        self, phase: SimulatedPhase, costs: SheetCosts, demands: list[Demand]
    ) -> list[Served]:
        match phase:
            case "prefill":
                short = [replace(demand, output=1, cap=1) for demand in demands]
                return Fleet(self._engines(costs, "prefill-first"), LeastLoaded()).run(short)
            case "decode":
                settings = EngineSettings(
                    policy="orca", blocks=HANDED_OVER, max_running=1 << 12, prefix_cache=False
                )
                free = replace(settings, reserves=False, max_batch_tokens=1 << 24)
                fleet = SplitFleet([free.engine(NoCosts())], self._engines(costs, "orca"))
                return fleet.run(demands)
            case "combined":
                engines = self._engines(costs, self.combined)
                return Fleet(engines, LeastLoaded()).run(demands)

    def _engines(self, costs: SheetCosts, policy: PolicyName) -> list[SimulatedEngine]:
        settings = EngineSettings(
            policy=policy,
            blocks=costs.positions() // 16 // costs.inter,
            max_running=256,
            max_batch_tokens=2048,
            stall=3.0,
            prefix_cache=False,
            host_blocks=HANDED_OVER,
            reserves=False,
        )
        return [settings.engine(StageCosts(costs)) for _ in range(costs.inter)]


def bottleneck(
    simulator: PhaseSimulator, phase: SimulatedPhase, shape: Parallelism
) -> dict[str, float]:
    """By how much the rate of a phase grows if one property of the device grows by a quarter: the
    property with the largest factor is the bottleneck."""
    device = simulator.device
    changes = {
        "arithmetic": replace(device, flops=1.25 * device.flops),
        "bandwidth": replace(device, bandwidth=1.25 * device.bandwidth),
        "memory": replace(device, memory=1.25 * device.memory),
        "overhead": replace(device, overhead=device.overhead / 1.25),
    }
    now = simulator.rate(phase, shape)
    return {
        name: replace(simulator, device=changed).rate(phase, shape) / now if now else 0.0
        for name, changed in changes.items()
    }
