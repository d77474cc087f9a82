"""A simulation as one file: cluster, workload, policies and objectives, in TOML, YAML or JSON."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import yaml

from maskwright.errors import InputError
from maskwright.sim.costs.fit import fit, read_steps
from maskwright.sim.costs.linear import LinearCosts
from maskwright.sim.costs.sheet import DEVICES, MODELS, SheetCosts
from maskwright.sim.costs.work import CostModel
from maskwright.sim.fleet.fleet import Fleet
from maskwright.sim.fleet.routing import RoutingName, routing
from maskwright.sim.load.demand import Demand
from maskwright.sim.load.traces import read_trace
from maskwright.sim.load.workloads import Lengths, Pattern, Workload
from maskwright.sim.outcome.figures import Objectives, RunFigures, figures
from maskwright.sim.outcome.served import Served
from maskwright.sim.policy.choice import POLICIES, EngineSettings, PolicyName
from maskwright.sim.policy.order import ORDERS

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class PolicyRun:
    """One combination of policy and routing: its name, what became of each request, and the
    figures."""

    name: str
    served: list[Served]
    figures: RunFigures


@dataclass(frozen=True, slots=True)
class Scenario:
    """`replicas` engines with equal `settings`, one run for each of `policies` and `routings`.
    `note`: what is to be known of the costs, such as the error of a fit."""

    demands: list[Demand]
    costs: CostModel
    settings: EngineSettings
    objectives: Objectives
    replicas: int = 1
    policies: tuple[PolicyName, ...] = ("ours",)
    routings: tuple[RoutingName, ...] = ("round-robin",)
    seed: int = 0
    note: str = ""

    def runs(self) -> list[PolicyRun]:
        """Simulate every combination on equal load."""
        made: list[PolicyRun] = []
        for policy in self.policies:
            for way in self.routings:
                settings = replace(self.settings, policy=policy)
                engines = [settings.engine(self.costs) for _ in range(self.replicas)]
                served = Fleet(engines, routing(way, self.seed)).run(self.demands)
                name = f"{policy}, {way}" if self.replicas > 1 else policy
                made.append(PolicyRun(name, served, figures(served, engines, self.objectives)))
        return made


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario. Paths in it are relative to its folder. Raises InputError for what can't be
    read, and for keys and values that don't exist."""
    file = Path(path)
    table = _read(file)
    _known(
        table,
        (
            *("seed", "replicas", "policies", "routings"),
            *("workload", "trace", "engine", "costs", "objectives"),
        ),
        str(path),
    )
    seed = int(table.get("seed", 0))
    costs, note = _costs(_table(table, "costs"), file.parent)
    settings = _made(EngineSettings, _table(table, "engine"), "engine")
    if isinstance(costs, SheetCosts) and "blocks" not in _table(table, "engine"):
        settings = replace(settings, blocks=max(1, costs.positions() // settings.block_size))
    _one_of(settings.order, tuple(ORDERS), "order")
    _one_of(settings.preemption, ("recompute", "swap", "drop"), "preemption")
    policies = tuple(table.get("policies", [settings.policy]))
    routings = tuple(table.get("routings", ["round-robin"]))
    for policy in policies:
        _one_of(policy, POLICIES, "policies")
    for way in routings:
        _one_of(way, get_args(RoutingName), "routings")
    return Scenario(
        _demands(table, file.parent, seed),
        costs,
        settings,
        _made(Objectives, _table(table, "objectives"), "objectives"),
        max(1, int(table.get("replicas", 1))),
        policies,
        routings,
        seed,
        note,
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        content = file.read_text(encoding="utf-8")
        match file.suffix:
            case ".toml":
                table: object = tomllib.loads(content)
            case ".yaml" | ".yml":
                table = yaml.safe_load(content)
            case ".json":
                table = json.loads(content)
            case _:
                raise InputError(f"{file}: a .toml, .yaml or .json file is needed", param="file")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {file}: {error}", param="file") from None
    except (ValueError, yaml.YAMLError) as error:
        raise InputError(f"{file} can't be parsed: {error}", param="file") from None
    if not isinstance(table, dict):
        raise InputError(f"{file} is no table of settings", param="file")
    return cast(dict[str, Any], table)


def _demands(table: Mapping[str, Any], folder: Path, seed: int) -> list[Demand]:
    if ("workload" in table) == ("trace" in table):
        raise InputError("give either workload or trace", param="workload")
    if "trace" in table:
        given = _table(table, "trace")
        _known(given, ("file", "speed", "most"), "trace")
        most = given.get("most")
        return read_trace(
            folder / str(given.get("file", "")),
            float(given.get("speed", 1.0)),
            None if most is None else int(most),
        )
    given = dict(_table(table, "workload"))
    for name in ("prompt", "output"):
        length = given.get(name, 100)
        given[name] = (
            _made(Lengths, cast(dict[str, Any], length), name)
            if isinstance(length, dict)
            else Lengths(float(length))
        )
        _one_of(given[name].kind, ("fixed", "exponential", "uniform", "heavy"), "kind")
    given.setdefault("requests", 200)
    given.setdefault("rate", 1.0)
    _one_of(given.get("pattern", "poisson"), get_args(Pattern), "pattern")
    return _made(Workload, given, "workload").demands(seed)


def _costs(table: Mapping[str, Any], folder: Path) -> tuple[CostModel, str]:
    if "fit" in table:
        _known(table, ("fit",), "costs")
        found = fit(read_steps(folder / str(table["fit"])))
        note = (
            f"costs fitted to {found.steps} steps, median error {100 * found.relative:.1f} %, "
            f"root mean square {1000 * found.error:.2f} ms"
        )
        return found.costs, note
    if "device" in table:
        _known(table, ("device", "model", "intra", "inter"), "costs")
        device = DEVICES[_one_of(table["device"], tuple(DEVICES), "device")]
        model = MODELS[_one_of(table.get("model", "13b"), tuple(MODELS), "model")]
        costs = SheetCosts(device, model, int(table.get("intra", 1)), int(table.get("inter", 1)))
        if costs.positions() <= 0:
            raise InputError(
                f"{model.name} does not fit into the memory of {costs.intra * costs.inter} "
                f"{device.name}",
                param="costs",
            )
        return costs, f"costs from the data sheets of {device.name} and {model.name}"
    return _made(LinearCosts, table, "costs"), "costs as given"


def _table(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise InputError(f"{name} has to be a table", param=name)
    return cast(dict[str, Any], found)


def _made(kind: type[Made], table: Mapping[str, Any], where: str) -> Made:
    """An object of a dataclass from a table with the names of its fields."""
    _known(table, tuple(field.name for field in fields(cast(Any, kind))), where)
    for name, value in table.items():
        if isinstance(value, (list, dict)):
            raise InputError(f"{where}.{name} has to be one value", param=where)
    try:
        return kind(**table)
    except TypeError as error:
        raise InputError(f"{where}: {error}", param=where) from None


def _known(table: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in table:
        if name not in names:
            raise InputError(
                f"{where} has no setting {name!r}; there are {', '.join(names)}", param=where
            )


def _one_of(value: object, names: tuple[str, ...], where: str) -> str:
    if value not in names:
        raise InputError(
            f"there is no {where} {value!r}; there are {', '.join(names)}", param=where
        )
    return str(value)
