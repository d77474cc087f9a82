"""A question about placement as one file, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import to_builtins

from maskwright.cli.input.table_file import known, read_table
from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright_sim.costs.sheet import SheetCosts
from maskwright_sim.outcome.figures import Objectives
from maskwright_sim.placement.rates import PhaseSimulator, bottleneck
from maskwright_sim.placement.search import (
    Parallelism,
    Placement,
    best_of,
    best_within_nodes,
    fewest_for,
)
from maskwright_sim.settings import costs_of, made, table_of, workload_of


class PlacementAnswer(Immutable):
    """`prefill`, `decode`, `combined`: the rates of single instances by shape. `grows`: by how much
    the rate of the phase that limits the placement grows with a quarter more of each property of
    the device."""

    placement: Placement
    prefill: Mapping[Parallelism, float]
    decode: Mapping[Parallelism, float]
    combined: Mapping[Parallelism, float]
    grows: Mapping[str, float]

    @property
    def best_combined(self) -> float:
        """The highest rate a device of engines that serve both phases."""
        return max(rate / shape.devices for shape, rate in self.combined.items())

    def row(self) -> dict[str, object]:
        """The answer as a JSON object."""
        instances = [
            {
                **to_builtins(shape),
                "prefill": self.prefill[shape],
                "decode": self.decode[shape],
                "combined": self.combined[shape],
            }
            for shape in sorted(self.prefill)
        ]
        return {**to_builtins(self.placement), "grows": dict(self.grows), "instances": instances}


class PlacementQuestion(Immutable):
    """`rate` requests a second on the fewest devices, or the highest rate on `devices`. `node`: the
    devices of a node, within which keys and values have to move; None for anywhere. `intra`,
    `inter`: degrees of parallelism that are tried."""

    simulator: PhaseSimulator
    rate: float | None
    devices: int | None
    node: int | None
    intra: tuple[int, ...] = (1, 2, 4)
    inter: tuple[int, ...] = (1, 2)

    def answer(self) -> PlacementAnswer | None:
        """Simulate every shape, and search. None if nothing serves the load."""
        most = self.devices or max(self.intra) * max(self.inter)
        shapes = [Parallelism(a, b) for a in self.intra for b in self.inter if a * b <= most]
        prefill = {shape: self.simulator.rate("prefill", shape) for shape in shapes}
        decode = {shape: self.simulator.rate("decode", shape) for shape in shapes}
        if self.node is not None and self.rate is not None:
            found = best_within_nodes(prefill, decode, self.node, self.rate)
        elif self.rate is not None:
            found = fewest_for(prefill, decode, self.rate)
        else:
            found = best_of(prefill, decode, self.devices or 1)
        if found is None:
            return None
        shape = found.prefill if found.limit == "prefill" else found.decode
        phase = "prefill" if found.limit == "prefill" else "decode"
        return PlacementAnswer(
            found,
            prefill,
            decode,
            {shape: self.simulator.rate("combined", shape) for shape in shapes},
            bottleneck(self.simulator, phase, shape),
        )


def read_placement(path: str | Path) -> PlacementQuestion:
    """Read a question. Raises InputError for what can't be read, and for keys that don't exist."""
    file = Path(path)
    table = read_table(file)
    names = ("workload", "objectives", "costs", "rate", "devices", "node", "intra", "inter")
    known(table, (*names, "attained"), str(path))
    if ("rate" in table) == ("devices" in table):
        raise InputError("give either rate or devices", param="rate")
    if "node" in table and "rate" not in table:
        raise InputError("node needs rate", param="node")
    costs, _ = costs_of(table_of(table, "costs"), file.parent)
    if not isinstance(costs, SheetCosts):
        raise InputError("a placement needs costs with device and model", param="costs")
    rate = float(table["rate"]) if "rate" in table else None
    devices = int(table["devices"]) if "devices" in table else None
    if not (rate is None or rate > 0) or not (devices is None or devices > 0):
        raise InputError("rate and devices have to be above 0", param="rate")
    simulator = PhaseSimulator(
        costs.device,
        costs.model,
        workload_of(table_of(table, "workload")),
        made(Objectives, table_of(table, "objectives"), "objectives"),
        float(table.get("attained", 0.9)),
        most=64.0,
        halvings=8,
    )
    return PlacementQuestion(
        simulator,
        rate,
        devices,
        int(table["node"]) if "node" in table else None,
        tuple(map(int, table.get("intra", (1, 2, 4)))),
        tuple(map(int, table.get("inter", (1, 2)))),
    )
