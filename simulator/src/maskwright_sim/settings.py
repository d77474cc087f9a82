"""Workloads, costs and other objects from the tables of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from maskwright.cli.input.table_file import known, one_of
from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright_sim.costs.fit import fit, read_steps
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.costs.sheet import DEVICES, MODELS, WEIGHTS, SheetCosts
from maskwright_sim.costs.work import CostModel
from maskwright_sim.load.workloads import Lengths, Pattern, Workload

Made = TypeVar("Made", bound=Immutable)


def workload_of(table: Mapping[str, Any]) -> Workload:
    """The workload of a table."""
    given = dict(table)
    for name in ("prompt", "output"):
        length = given.get(name, 100)
        given[name] = (
            made(Lengths, cast(dict[str, Any], length), name)
            if isinstance(length, dict)
            else Lengths(float(length))
        )
        one_of(given[name].kind, ("fixed", "exponential", "uniform", "heavy"), "kind")
    given.setdefault("requests", 200)
    given.setdefault("rate", 1.0)
    one_of(given.get("pattern", "poisson"), get_args(Pattern), "pattern")
    return made(Workload, given, "workload")


def costs_of(table: Mapping[str, Any], folder: Path) -> tuple[CostModel, str]:
    """The cost model of a table, and what is to be known of it. Paths are relative to `folder`."""
    if "fit" in table:
        known(table, ("fit",), "costs")
        found = fit(read_steps(folder / str(table["fit"])))
        note = (
            f"costs fitted to {found.steps} steps, median error {100 * found.relative:.1f} %, "
            f"root mean square {1000 * found.error:.2f} ms"
        )
        return found.costs, note
    if "device" in table:
        known(table, ("device", "model", "intra", "inter", "weights"), "costs")
        device = DEVICES[one_of(table["device"], tuple(DEVICES), "device")]
        model = MODELS[one_of(table.get("model", "13b"), tuple(MODELS), "model")]
        costs = SheetCosts(
            device,
            model,
            int(table.get("intra", 1)),
            int(table.get("inter", 1)),
            one_of(table.get("weights", "16"), tuple(WEIGHTS), "weights"),
        )
        if costs.positions() <= 0:
            raise InputError(
                f"{model.name} does not fit into the memory of {costs.intra * costs.inter} "
                f"{device.name}",
                param="costs",
            )
        return costs, f"costs from the data sheets of {device.name} and {model.name}"
    return made(LinearCosts, table, "costs"), "costs as given"


def table_of(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The table below a name; empty if there is none."""
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise InputError(f"{name} has to be a table", param=name)
    return cast(dict[str, Any], found)


def made(kind: type[Made], table: Mapping[str, Any], where: str) -> Made:
    """An object from a table with the names of its fields."""
    known(table, kind.__struct_fields__, where)
    for name, value in table.items():
        if isinstance(value, (list, dict)):
            raise InputError(f"{where}.{name} has to be one value", param=where)
    try:
        return kind(**table)
    except TypeError as error:
        raise InputError(f"{where}: {error}", param=where) from None
