"""A pool of engines for each phase, with settings of its own (Alibaba, RTP-LLM)."""

from __future__ import annotations

from collections.abc import Sequence

from maskwright.immutable import Immutable
from maskwright_sim.costs.work import CostModel
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.split import SplitFleet, SplitPolicy
from maskwright_sim.fleet.transfer import NOTHING, Transfer
from maskwright_sim.load.demand import Demand
from maskwright_sim.outcome.served import Served
from maskwright_sim.policy.choice import EngineSettings


class PhasePool(Immutable):
    """`replicas` engines for one phase."""

    replicas: int
    settings: EngineSettings
    costs: CostModel

    def engines(self) -> list[SimulatedEngine]:
        """Make the engines."""
        return [self.settings.engine(self.costs) for _ in range(self.replicas)]


class PhasePools(Immutable):
    """Engines that compute prompts and engines that answer, with the way of keys and values from
    the first to the second."""

    prefill: PhasePool
    decode: PhasePool
    transfer: Transfer = NOTHING

    @property
    def replicas(self) -> int:
        """Engines of both phases."""
        return self.prefill.replicas + self.decode.replicas

    def run(self, demands: Sequence[Demand]) -> tuple[list[Served], list[SimulatedEngine]]:
        """Serve the requests; returns what became of each, and the engines."""
        policy = SplitPolicy(transfer=self.transfer)
        fleet = SplitFleet(self.prefill.engines(), self.decode.engines(), policy)
        return fleet.run(demands), fleet.engines
