"""Machines that change what they do: Splitwise's mixed pool, and TetriInfer's flip of instances.

All machines are in both lists of a `SplitFleet`, and compute what they are given. The two classes
here give prompts to some and answers to others. They read nothing but the machines' loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from maskwright.immutable import Immutable
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.loads import work_by_phase
from maskwright_sim.load.demand import Demand

PhaseName: TypeAlias = Literal["prefill", "decode"]


class Pressure(Immutable):
    """When a machine has much to do: with more than `prompts` prompt tokens to compute, or more
    than `answers` requests to answer."""

    prompts: int
    answers: int

    def of(self, phase: PhaseName) -> int:
        """The bound of a phase."""
        return self.prompts if phase == "prefill" else self.answers


def other(phase: PhaseName) -> PhaseName:
    """The other phase."""
    return "decode" if phase == "prefill" else "prefill"


def work(engine: SimulatedEngine, phase: PhaseName) -> int:
    """What a machine has to do of one phase: prompt tokens, or requests."""
    return work_by_phase(engine)[phase == "decode"]


class MixedPool(Immutable):
    """Splitwise's cluster-level scheduler (Patel et al., ISCA'24). A request joins the shortest
    queue of the machines that are at home in its phase and compute nothing else. If that is longer
    than `pressure` allows, the mixed pool is looked into: machines that have work of both phases,
    or have been given some of the phase that they are not at home in. If these have much to do too,
    the machine of the other phase with the least to do joins the mixed pool. It leaves the pool as
    soon as it has no work but that of its own phase. `mixes`: off for fixed pools."""

    homes: tuple[PhaseName, ...]
    pressure: Pressure
    mixes: bool = True

    def routing(self, phase: PhaseName) -> InPhase:
        """How the machine for one phase of a request is chosen."""
        return InPhase(self, phase)

    def choose(self, phase: PhaseName, engines: Sequence[SimulatedEngine]) -> int:
        """The machine for a phase of a request."""
        at_home = [at for at, home in enumerate(self.homes) if home == phase]
        if not self.mixes:
            return _shortest(engines, at_home, phase)
        mixed = [at for at, home in enumerate(self.homes) if work(engines[at], other(home))]
        pure = [at for at in at_home if at not in mixed]
        rest = [at for at, home in enumerate(self.homes) if home != phase and at not in mixed]
        groups = [[_shortest(engines, group, phase)] for group in (pure, mixed) if group]
        if rest:
            groups.append([_shortest(engines, rest, other(phase))])
        for (at,) in groups:
            if work(engines[at], phase) <= self.pressure.of(phase):
                return at
        return _shortest(engines, [at for (at,) in groups], phase)


class FlippingRoles:
    """TetriInfer's cluster monitor (Hu et al.): a machine computes prompts or answers, and changes
    its role when the other one has much more to do. First it gets nothing new and finishes what it
    has; then it takes its new role. One machine at a time flips, and one of each role stays.
    `flips`: off for fixed roles. The 5 to 7 ms that a flip takes in the paper are neglected."""

    def __init__(
        self, roles: Sequence[PhaseName], pressure: Pressure, *, flips: bool = True
    ) -> None:
        self.roles = list(roles)
        self.flipped = 0
        self._pressure = pressure
        self._flips = flips
        self._draining: int | None = None

    def routing(self, phase: PhaseName) -> InPhase:
        """How the machine for one phase of a request is chosen."""
        return InPhase(self, phase)

    def choose(self, phase: PhaseName, engines: Sequence[SimulatedEngine]) -> int:
        """The machine for a phase of a request."""
        self._settle(engines)
        if self._flips and self._draining is None:
            self._watch(engines)
        return _shortest(engines, self._active(phase), phase)

    def _active(self, phase: PhaseName) -> list[int]:
        return [at for at, role in enumerate(self.roles) if role == phase and at != self._draining]

    def _settle(self, engines: Sequence[SimulatedEngine]) -> None:
        """End a flip whose machine has finished the work of its old role."""
        at = self._draining
        if at is not None and work_by_phase(engines[at]) == (0, 0):
            self.roles[at] = other(self.roles[at])
            self.flipped += 1
            self._draining = None

    def _watch(self, engines: Sequence[SimulatedEngine]) -> None:
        """Begin to drain the machine with the least to do of a role that can spare one, if the
        other role has more to do for each machine than the pressure allows."""
        for short in ("prefill", "decode"):
            lacking, giving = self._active(short), self._active(other(short))
            waits = sum(work(engines[at], short) for at in lacking) / len(lacking)
            given = sum(work(engines[at], other(short)) for at in giving)
            spare = len(giving) > 1 and given / (len(giving) - 1) <= self._pressure.of(other(short))
            if waits > self._pressure.of(short) and spare:
                self._draining = _shortest(engines, giving, other(short))
                return


class InPhase(Immutable):
    """The choices of `machines` for one phase."""

    machines: MixedPool | FlippingRoles
    phase: PhaseName

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        """The machine for this phase of a request."""
        return self.machines.choose(self.phase, engines)


def _shortest(engines: Sequence[SimulatedEngine], among: Sequence[int], phase: PhaseName) -> int:
    return min(among, key=lambda at: (work(engines[at], phase), at))
