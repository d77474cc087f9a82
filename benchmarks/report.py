"""What all benchmark scripts share: figures of samples, what is printed, committed rows.

report = Report("masks", packages=("numpy", "llguidance"))
report.add("plain object", engine="maskwright", **figures(mask_us, "mask_us"))
report.add("plain object", engine="llguidance", **figures(peer_us, "mask_us"))
report.finish(save="--save" in sys.argv)
"""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import subprocess
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from maskwright.cli.output.tables import Figure, lay_out, output_width, paragraph

RESULTS = Path(__file__).resolve().parent / "results"
PERCENTILES = (50, 90, 99, 99.9)
SKIPPED = 77
"""Exit status of a script whose data is missing, as in automake's tests; `make bench` continues."""


def figures(samples: Sequence[float], name: str) -> dict[str, float]:
    """`name` with its unit (`mask_us`) and the samples' count, mean, percentiles and maximum."""
    ordered = sorted(samples)
    named = {f"{name} p{percent:g}": percentile(ordered, percent) for percent in PERCENTILES}
    mean = {f"{name} mean": statistics.fmean(ordered)}
    return {"n": len(ordered), **mean, **named, f"{name} max": ordered[-1]}


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest sample that `percent` % of the samples don't exceed."""
    rank = math.ceil(round(len(ordered) * percent / 100, 6))
    return ordered[max(0, rank - 1)]


def some_of(known: Iterable[str]) -> Callable[[str], list[str]]:
    """For an option of argparse: names separated by commas, all of them `known`."""
    names = list(known)

    def read(text: str) -> list[str]:
        found = text.split(",")
        if unknown := [name for name in found if name not in names]:
            raise ArgumentTypeError(f"no {', '.join(unknown)}; there are {', '.join(names)}")
        return found

    return read


def options_of(description: str | None, **known: Iterable[str]) -> Namespace:
    """The options of a script: `--save`, and for each of `known` some of its names, by default
    all."""
    parser = ArgumentParser(description=description)
    for name, names in known.items():
        parser.add_argument(f"--{name}", type=some_of(names), default=list(names))
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


def need(path: Path) -> Path:
    """The path of a file that is too large for the repository. Without it, the script ends here."""
    if not path.exists():
        print(f"skipped: {path.name} is not in {path.parent}", file=sys.stderr)
        raise SystemExit(SKIPPED)
    return path


def machine() -> dict[str, Figure]:
    """Processor, cores that this process may use, system."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].partition(":")[2].strip() if names else processor
    return {
        "processor": processor,
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}",
    }


def commit(root: Path = RESULTS.parents[1]) -> str:
    """The commit that is checked out at `root`, with a + if the package differs from it."""
    git = ("git", "-C", str(root))
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "src"], check=False)
    return head.stdout.strip() + "+" * (changed.returncode == 1)


class Report:
    """Rows of one benchmark, of one run on one machine.

    `packages` are the distributions whose versions matter to the figures, `settings` the other
    facts that do (a device, a load, a model).
    """

    def __init__(self, name: str, packages: Sequence[str] = (), **settings: Figure) -> None:
        self.name = name
        self.versions = {package: version(package) for package in packages}
        self.context: dict[str, Figure] = {
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "commit": commit(),
            **machine(),
            "python": platform.python_version(),
            **settings,
        }
        self.rows: list[dict[str, Figure]] = []
        self._saved = 0

    def add(self, case: str, **row: Figure) -> None:
        self.rows.append({"case": case, **row})

    def finish(self, *, save: bool) -> None:
        """Print the figures; with `save`, append the rows to `results/<name>.jsonl`."""
        print(self.text(output_width()))
        if save:
            self.save()

    def save(self) -> None:
        """Append the rows that are not saved yet to `results/<name>.jsonl`."""
        RESULTS.mkdir(exist_ok=True)
        with (RESULTS / f"{self.name}.jsonl").open("a", encoding="utf-8") as file:
            for row in self.rows[self._saved :]:
                whole = {**self.context, "versions": self.versions, **row}
                file.write(json.dumps(whole, ensure_ascii=False) + "\n")
        self._saved = len(self.rows)

    def text(self, width: int) -> str:
        """The rows, and below them what they depend on, in lines of at most `width` characters."""
        facts = ", ".join(f"{name} {fact}" for name, fact in (self.context | self.versions).items())
        return f"{self.name}\n\n{lay_out(self.rows, width)}\n\n{paragraph(facts, width)}\n"
