"""What `maskwright place` does, once its arguments are read."""

from __future__ import annotations

import json

from maskwright.cli.output.progress import progress
from maskwright.cli.output.tables import lay_out, output_width
from maskwright.errors import InputError
from maskwright_sim.cli.place import PlaceOptions
from maskwright_sim.placement.request import PlacementAnswer, read_placement


def run(options: PlaceOptions) -> None:
    with progress("simulating"):
        answer = read_placement(options.file).answer()
    if answer is None:
        raise InputError(
            "no placement serves this load within the objectives: the model does not fit, or an "
            "objective is shorter than a single request takes",
            param="file",
        )
    print(
        json.dumps(answer.row(), indent=2)
        if options.as_json
        else placement_text(answer, output_width())
    )


def placement_text(answer: PlacementAnswer, width: int) -> str:
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
