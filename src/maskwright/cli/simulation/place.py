"""Find how many devices, in which parallelism, serve a load within objectives.

FILE is a TOML, YAML or JSON file with workload, objectives and costs (device and model), as for
simulate, and with rate (requests a second) or devices. With node, the devices of a node, keys and
values move within a node only. Every shape of an instance is simulated for prefill alone and for
decode alone; the search then takes the best numbers of each, and says what limits them.
"""

from __future__ import annotations

import json
from typing import Annotated

from maskwright.cli.arguments import Argument, Option
from maskwright.cli.options import JSON_HELP
from maskwright.cli.output.tables import lay_out, output_width
from maskwright.errors import InputError
from maskwright.sim.placement.request import PlacementAnswer, read_placement


def place(
    file: Annotated[str, Argument(help="What to place: a .toml, .yaml or .json file.")],
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False,
) -> None:
    answer = read_placement(file).answer()
    if answer is None:
        raise InputError(
            "no placement serves this load within the objectives: the model does not fit, or an "
            "objective is shorter than a single request takes",
            param="file",
        )
    print(json.dumps(answer.row(), indent=2) if as_json else told(answer, output_width()))


def told(answer: PlacementAnswer, width: int) -> str:
    """The answer for people."""
    found = answer.placement
    rows = [
        {
            "intra": shape.intra,
            "inter": shape.inter,
            "devices": shape.devices,
            "prefill/s": answer.prefill.get(shape),
            "decode/s": answer.decode.get(shape),
            "combined/s": answer.combined.get(shape),
        }
        for shape in sorted(answer.prefill)
    ]
    limit = max(answer.grows, key=answer.grows.__getitem__)
    return "\n".join(
        (
            f"prefill: {found.prefills} x (intra {found.prefill.intra}, inter "
            f"{found.prefill.inter}); decode: {found.decodes} x (intra {found.decode.intra}, "
            f"inter {found.decode.inter})",
            f"{found.devices} devices serve {found.rate:.2f} requests a second, "
            f"{found.rate / found.devices:.2f} a device; without a split "
            f"{answer.best_combined:.2f} a device",
            f"bottleneck: {found.limit}, by {limit} (a quarter more of it gives "
            f"{answer.grows[limit]:.2f} times the rate)",
            "",
            "requests a second of one instance:",
            lay_out(rows, width),
        )
    )
