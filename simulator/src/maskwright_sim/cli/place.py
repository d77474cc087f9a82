"""Find how many devices, in which parallelism, serve a load within objectives.

FILE is a TOML, YAML or JSON file with workload, objectives and costs (device and model), as for
simulate, and with rate (requests a second) or devices. With node, the devices of a node, keys and
values move within a node only. Every shape of an instance is simulated for prefill alone and for
decode alone; the search then takes the best numbers of each, and says what limits them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from maskwright.cli.arguments import Argument
from maskwright.cli.options import JSON_HELP
from maskwright.settings import Option


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """What `maskwright place` is given."""

    file: Annotated[str, Argument(help="What to place: a .toml, .yaml or .json file.")]
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
