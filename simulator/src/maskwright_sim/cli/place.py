"""Find how many devices, in which parallelism, serve a load within objectives.

FILE is a TOML, YAML or JSON file with workload, objectives and costs (device and model), as for
simulate, and with rate (requests a second) or devices. With node, the devices of a node, keys and
values move within a node only. Every shape of an instance is simulated for prefill alone and for
decode alone; the search then takes the best numbers of each, and says what limits them.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.cli.options import JSON_HELP
from maskwright.settings import argument, option


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """What `maskwright place` is given."""

    file: str = argument("What to place: a .toml, .yaml or .json file.")
    as_json: bool = option(False, JSON_HELP, flag="--json")
