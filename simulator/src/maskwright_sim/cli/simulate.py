"""Simulate a cluster under a load, and compare policies of scheduling.

WHAT is a TOML, YAML or JSON file with the sections workload (or trace), engine, costs and
objectives, and the lists policies and routings: one run for each combination, on equal load. The
schedulers, block pools and prefix trees are the engine's; only the model is replaced by a
cost model, and the clock by a simulated one. Or WHAT is the name of a system whose mechanisms are
simulated: each figure with the mechanism and without it.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.cli.options import JSON_HELP
from maskwright.settings import argument, option
from maskwright_sim.systems.listed import SYSTEM_NAMES


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    """What `maskwright simulate` is given."""

    what: str = argument(
        "A scenario (a .toml, .yaml or .json file), or the name of a system: "
        f"{', '.join(SYSTEM_NAMES)}."
    )
    as_json: bool = option(False, JSON_HELP, flag="--json")
    plot: str | None = option(
        None, "SVG file to which the distributions of a scenario's times are drawn."
    )
    size: float = option(1.0, "Multiplies the number of requests of a system's loads.", least=0.2)
