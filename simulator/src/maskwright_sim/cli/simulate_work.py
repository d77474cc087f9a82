"""What `maskwright simulate` does, once its arguments are read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Final

from maskwright.cli.output.progress import progress
from maskwright.cli.output.tables import Figure, lay_out, output_width, shown
from maskwright.errors import InputError
from maskwright_sim.cli.simulate import SimulateOptions
from maskwright_sim.outcome.picture import draw_runs
from maskwright_sim.scenario import PolicyRun, read_scenario
from maskwright_sim.systems.claim import SystemReport
from maskwright_sim.systems.names import SYSTEMS

TABLES: Final[tuple[dict[str, str], ...]] = (
    {
        "answered": "answered",
        "TTFT p50 s": "ttft_p50",
        "p99 s": "ttft_p99",
        "TPOT p50 s": "tpot_p50",
        "p99": "tpot_p99",
        "worst gap s": "gap_max",
    },
    {
        "requests/s": "requests_per_second",
        "tokens/s": "tokens_per_second",
        "good/s": "goodput",
        "KV use": "kv_use",
        "cached": "cached",
        "preempted": "preemptions",
    },
)
"""The columns of the printed tables, each with its figure."""


def run(options: SimulateOptions) -> None:
    if options.what in SYSTEMS:
        with progress("simulating"):
            found = SYSTEMS[options.what](options.size)
        print(report_text(found, as_json=options.as_json, width=output_width()))
        return
    scenario = read_scenario(options.what)
    with progress("simulating"):
        runs = scenario.runs()
    if options.plot is not None:
        title = f"{len(scenario.demands)} requests, replicas: {scenario.replicas}"
        try:
            Path(options.plot).write_text(
                draw_runs({run.name: run.served for run in runs}, title), encoding="utf-8"
            )
        except OSError as error:
            raise InputError(f"can't write {options.plot}: {error}", param="plot") from None
    if options.as_json:
        rows = [{"run": run.name, **run.figures.row()} for run in runs]
        print(json.dumps({"costs": scenario.note, "runs": rows}, indent=2))
        return
    print(
        f"{len(scenario.demands)} requests, replicas: {scenario.replicas}; {scenario.note}.\n\n"
        + tables(runs, output_width())
    )


def report_text(report: SystemReport, *, as_json: bool, width: int) -> str:
    """A system's report as text or as JSON."""
    rows: list[dict[str, Figure]] = [
        {
            "mechanism": claim.mechanism,
            "figure": claim.figure,
            "on": claim.on,
            "off": claim.off,
            "times worse": claim.worse if math.isfinite(claim.worse) else None,
            "published": claim.published,
        }
        for claim in report.claims
    ]
    if as_json:
        return json.dumps({"claims": rows, "tables": report.tables}, indent=2)
    parts = [
        "\n".join(
            (
                f"{row['mechanism']}: {row['figure']}",
                f"  on {shown(row['on'])}, off {shown(row['off'])}"
                + (f", {shown(row['times worse'])} times worse" if row["times worse"] else ""),
                *([f"  published: {row['published']}"] if row["published"] else []),
            )
        )
        for row in rows
    ]
    parts += [f"{title}\n{lay_out(lines, width)}" for title, lines in report.tables.items()]
    return "\n\n".join(parts)


def tables(runs: list[PolicyRun], width: int) -> str:
    """The figures of runs as tables of at most `width` columns."""
    parts: list[str] = []
    for columns in TABLES:
        rows: list[dict[str, Figure]] = []
        for run in runs:
            found = run.figures.row()
            rows.append({"run": run.name, **{name: found[key] for name, key in columns.items()}})
        parts.append(lay_out(rows, width))
    return "\n\n".join(parts)
