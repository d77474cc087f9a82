"""A simulation as one file, in TOML, YAML or JSON: cluster, workload, policies and objectives.

The sections `prefill`, `decode` and `transfer` are pools of engines with settings for each phase.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

from msgspec.structs import replace

from maskwright.cli.input.table_file import known, one_of, read_table
from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright_sim.costs.sheet import SheetCosts
from maskwright_sim.costs.work import CostModel
from maskwright_sim.fleet.fleet import Fleet
from maskwright_sim.fleet.phase_pools import PhasePool, PhasePools
from maskwright_sim.fleet.routing import RoutingName, routing
from maskwright_sim.fleet.transfer import Transfer, TransferMode
from maskwright_sim.load.demand import Demand
from maskwright_sim.load.traces import read_trace
from maskwright_sim.outcome.figures import Objectives, RunFigures, figures
from maskwright_sim.outcome.served import Served
from maskwright_sim.policy.choice import POLICIES, EngineSettings, PolicyName
from maskwright_sim.policy.order import ORDERS
from maskwright_sim.settings import costs_of, made, table_of, workload_of

RECEIVED: Final = 1 << 16
"""Blocks of the host's pool in which a decoding engine receives keys and values."""
DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "prefill": {"policy": "splitfuse", "chunk": 2048},
    "decode": {"policy": "orca", "reserves": False, "host_blocks": RECEIVED},
}
"""Settings of the engines of a phase where a file gives no others."""


def engine_of(table: Mapping[str, Any], costs: CostModel) -> EngineSettings:
    """The settings of an engine. Without a number of blocks, they are as many as the memory of the
    data sheet has room for."""
    settings = made(EngineSettings, table, "engine")
    one_of(settings.policy, POLICIES, "policy")
    one_of(settings.order, tuple(ORDERS), "order")
    one_of(settings.preemption, ("recompute", "swap", "drop"), "preemption")
    if isinstance(costs, SheetCosts) and "blocks" not in table:
        settings = replace(settings, blocks=max(1, costs.positions() // settings.block_size))
    return settings


def phases_of(table: Mapping[str, Any], costs: CostModel, folder: Path) -> PhasePools | None:
    """The pools of a scenario, whose `costs` hold for a phase that has none of its own; None
    without such sections. Raises InputError if there is only one of the two phases."""
    present = [name for name in ("prefill", "decode") if name in table]
    if not present:
        if "transfer" in table:
            raise InputError("transfer needs prefill and decode", param="transfer")
        return None
    if len(present) == 1:
        raise InputError("prefill and decode have to be given together", param=present[0])
    prefill, decode = (_pool(name, table_of(table, name), costs, folder) for name in present)
    return PhasePools(prefill, decode, _transfer(table_of(table, "transfer"), prefill.costs))


def _pool(name: str, table: Mapping[str, Any], costs: CostModel, folder: Path) -> PhasePool:
    known(table, ("replicas", "engine", "costs"), name)
    if "costs" in table:
        costs, _ = costs_of(table_of(table, "costs"), folder)
    replicas = int(table.get("replicas", 1))
    if replicas < 1:
        raise InputError(f"{name} needs at least one replica", param=name)
    return PhasePool(replicas, engine_of(DEFAULTS[name] | table_of(table, "engine"), costs), costs)


def _transfer(table: Mapping[str, Any], costs: CostModel) -> Transfer:
    """The transfer of a table; sizes default to the data sheet of the prefill engines."""
    sizes: dict[str, Any] = {}
    if isinstance(costs, SheetCosts):
        model, device = costs.model, costs.device
        sizes = {"kv_bytes": model.kv_bytes, "layers": model.layers, "bandwidth": device.network}
    transfer = made(Transfer, sizes | dict(table), "transfer")
    one_of(transfer.mode, get_args(TransferMode), "mode")
    return transfer


class PolicyRun(Immutable):
    """One combination of policy and routing: its name, what became of each request, and the
    figures."""

    name: str
    served: list[Served]
    figures: RunFigures


class Scenario(Immutable):
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
