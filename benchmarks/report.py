"""What all benchmark scripts share: figures of samples, a printed table, committed rows.

report = Report("masks", packages=("numba", "llguidance"))
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
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).resolve().parent / "results"
PERCENTILES = (50, 90, 99, 99.9)
Figure = float | int | str | None


def figures(samples: Sequence[float], name: str) -> dict[str, float]:
    """`name` with its unit (`mask_us`) and the samples' count, mean, percentiles and maximum."""
    ordered = sorted(samples)
    named = {f"{name} p{percent:g}": percentile(ordered, percent) for percent in PERCENTILES}
    mean = {f"{name} mean": statistics.fmean(ordered)}
    return {"n": len(ordered), **mean, **named, f"{name} max": ordered[-1]}


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest sample that at least `percent` of a hundred samples don't exceed."""
    rank = math.ceil(round(len(ordered) * percent / 100, 6))
    return ordered[max(0, rank - 1)]


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


def commit() -> str:
    """The commit that is checked out, with a + where the package differs from it."""
    git = ("git", "-C", str(RESULTS.parent))
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "../src"], check=False)
    return head.stdout.strip() + "+" * (changed.returncode == 1)


class Report:
    """Rows of one benchmark, of one run on one machine.

    `packages` are the distributions whose versions matter to the figures; `settings` whatever else
    does (a device, a load, a model).
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

    def add(self, case: str, **row: Figure) -> None:
        self.rows.append({"case": case, **row})

    def finish(self, *, save: bool) -> None:
        """Print the table; with `save`, append the rows to `results/<name>.jsonl`."""
        console = Console()
        console.print(self._table(), soft_wrap=not console.is_terminal)
        if save:
            RESULTS.mkdir(exist_ok=True)
            with (RESULTS / f"{self.name}.jsonl").open("a", encoding="utf-8") as file:
                for row in self.rows:
                    whole = {**self.context, "versions": self.versions, **row}
                    file.write(json.dumps(whole, ensure_ascii=False) + "\n")

    def _table(self) -> Table:
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        facts = {**self.context, **self.versions}
        caption = ", ".join(f"{name} {fact}" for name, fact in facts.items())
        table = Table(title=self.name, caption=caption, min_width=60)
        for column in columns:
            numeric = all(not isinstance(row.get(column), str) for row in self.rows)
            table.add_column(column, justify="right" if numeric else "left")
        for row in self.rows:
            table.add_row(*(_shown(row.get(column)) for column in columns))
        return table


def _shown(figure: Figure) -> str:
    """Four significant digits, thousands apart."""
    match figure:
        case None:
            return ""
        case float():
            return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.4g}"
        case int():
            return f"{figure:,}"
        case str():
            return figure
