"""A simulation as one file: cluster, workload, policies and objectives, in TOML, YAML or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from maskwright.cli.input.table_file import known, one_of, read_table
from maskwright.errors import InputError
from maskwright_sim.costs.work import CostModel
from maskwright_sim.fleet.fleet import Fleet
from maskwright_sim.fleet.phase_pools import PhasePools
from maskwright_sim.fleet.routing import RoutingName, routing
from maskwright_sim.load.demand import Demand
from maskwright_sim.load.traces import read_trace
from maskwright_sim.outcome.figures import Objectives, RunFigures, figures
from maskwright_sim.outcome.served import Served
from maskwright_sim.phases import engine_of, phases_of
from maskwright_sim.policy.choice import POLICIES, EngineSettings, PolicyName
from maskwright_sim.settings import costs_of, made, table_of, workload_of


@dataclass(frozen=True, slots=True)
class PolicyRun:
    """One combination of policy and routing: its name, what became of each request, and the
    figures."""

    name: str
    served: list[Served]
    figures: RunFigures


@dataclass(frozen=True, slots=True)
class Scenario:
    """`replicas` engines with equal `settings`, one run for each of `policies` and `routings`; and
    one run with a pool for each phase, if there are `phases`. `note`: what is to be known of the
    costs, such as the error of a fit."""

    demands: list[Demand]
    costs: CostModel
    settings: EngineSettings
    objectives: Objectives
    replicas: int = 1
    policies: tuple[PolicyName, ...] = ("ours",)
    routings: tuple[RoutingName, ...] = ("round-robin",)
    seed: int = 0
    note: str = ""
    phases: PhasePools | None = None

    def runs(self) -> list[PolicyRun]:
        """Simulate every combination on equal load."""
        done: list[PolicyRun] = []
        for policy in self.policies:
            for way in self.routings:
                settings = replace(self.settings, policy=policy)
                engines = [settings.engine(self.costs) for _ in range(self.replicas)]
                served = Fleet(engines, routing(way, self.seed)).run(self.demands)
                name = f"{policy}, {way}" if self.replicas > 1 else policy
                done.append(PolicyRun(name, served, figures(served, engines, self.objectives)))
        if self.phases is not None:
            served, engines = self.phases.run(self.demands)
            name = f"prefill {self.phases.prefill.replicas}, decode {self.phases.decode.replicas}"
            done.append(PolicyRun(name, served, figures(served, engines, self.objectives)))
        return done


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario. Paths in it are relative to its folder. Raises InputError for what can't be
    read, and for keys and values that don't exist."""
    file = Path(path)
    table = read_table(file)
    known(
        table,
        (
            *("seed", "replicas", "policies", "routings"),
            *("workload", "trace", "engine", "costs", "objectives"),
            *("prefill", "decode", "transfer"),
        ),
        str(path),
    )
    seed = int(table.get("seed", 0))
    costs, note = costs_of(table_of(table, "costs"), file.parent)
    settings = engine_of(table_of(table, "engine"), costs)
    phases = phases_of(table, costs, file.parent)
    policies = tuple(table.get("policies", [settings.policy]))
    routings = tuple(table.get("routings", ["round-robin"]))
    for policy in policies:
        one_of(policy, POLICIES, "policies")
    for way in routings:
        one_of(way, get_args(RoutingName), "routings")
    return Scenario(
        _demands(table, file.parent, seed),
        costs,
        settings,
        made(Objectives, table_of(table, "objectives"), "objectives"),
        max(1, int(table.get("replicas", 1 if phases is None else phases.replicas))),
        policies,
        routings,
        seed,
        note,
        phases,
    )


def _demands(table: Mapping[str, Any], folder: Path, seed: int) -> list[Demand]:
    if ("workload" in table) == ("trace" in table):
        raise InputError("give either workload or trace", param="workload")
    if "trace" not in table:
        return workload_of(table_of(table, "workload")).demands(seed)
    given = table_of(table, "trace")
    known(given, ("file", "speed", "most"), "trace")
    most = given.get("most")
    return read_trace(
        folder / str(given.get("file", "")),
        float(given.get("speed", 1.0)),
        None if most is None else int(most),
    )
