"""What the mechanisms of each system are worth, simulated: a row for each figure.

    python benchmarks/simulate.py [--size 1.0] [--systems orca,vllm]

Rows go to benchmarks/results/simulate.jsonl, which is written anew. Results depend on seeds,
not on the machine.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from maskwright.sim.systems.names import SYSTEMS

RESULTS = Path(__file__).parent / "results" / "simulate.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    asked = parser.parse_args()
    lines: list[str] = []
    for name in asked.systems.split(","):
        for claim in SYSTEMS[name](asked.size).claims:
            row = {
                "system": name,
                "size": asked.size,
                "mechanism": claim.mechanism,
                "figure": claim.figure,
                "on": claim.on,
                "off": claim.off,
                "times_worse": claim.worse if math.isfinite(claim.worse) else None,
            }
            print(json.dumps(row))
            lines.append(json.dumps(row) + "\n")
    RESULTS.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
