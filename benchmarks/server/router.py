"""What `maskwright route` adds to the time to first text and to a whole small request.

    python benchmarks/server/router.py [--requests 500] [--tokens 8] [--save]

One server with the shipped model and one router in front of it, each a process of its own. One
client asks one request at a time (light load), in turns the server directly and through the router,
each over one connection that stays open, so that both are measured under equal conditions. Each
question is asked of both, in alternating order: the server has it in its cache in both cases, since
it was asked once before.

`ttft_ms` is the time from sending a streamed request until its first text, `whole_ms` the time
until the end of an answer that is not streamed. `added_ms` is the difference between the
percentiles of both, and `pairs_ms` the median of the differences between the two times of one
question. `cpu_ms` is the processor time of the router for a request, which other work on the
machine hardly changes (Linux only).
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, percentile
from benchmarks.server.open_line import OpenLine
from tests.dist.front.fleet_of_servers import routed, servers

PERCENTS: Final = (50, 90, 99)
WARM_UP: Final = 30
"""Questions that are asked before any are measured."""


def main() -> None:
    options = arguments()
    report = Report(
        "router", packages=("torch", "uvicorn"), requests=options.requests, tokens=options.tokens
    )
    with servers(1) as (server,), routed([server.url]) as router:
        lines = {"direct": OpenLine(server.url), "routed": OpenLine(router.url)}
        for stream, unit in ((True, "ttft_ms"), (False, "whole_ms")):
            ask_all(lines, WARM_UP, options.tokens, stream)
            before = processor_ms(router.process.pid)
            times = ask_all(lines, options.requests, options.tokens, stream)
            for way, found in times.items():
                ordered = sorted(found)
                row = {f"{unit} p{p}": round(percentile(ordered, p), 3) for p in PERCENTS}
                report.add(f"{unit.removesuffix('_ms')}, {way}", **row)
            cpu = (processor_ms(router.process.pid) - before) / options.requests
            row = {**added(times), "cpu_ms": round(cpu, 3)}
            report.add(f"{unit.removesuffix('_ms')}, added", **row)
    report.finish(save=options.save)


def added(times: dict[str, list[float]]) -> dict[str, float]:
    """What the router adds, in milliseconds."""
    direct, through = sorted(times["direct"]), sorted(times["routed"])
    row = {
        f"added_ms p{percent}": percentile(through, percent) - percentile(direct, percent)
        for percent in PERCENTS
    }
    pairs = zip(times["routed"], times["direct"], strict=True)
    row["pairs_ms p50"] = statistics.median(ours - theirs for ours, theirs in pairs)
    return {name: round(figure, 3) for name, figure in row.items()}


def processor_ms(pid: int) -> float:
    """Milliseconds of processor time that a process has taken so far."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return math.nan
    fields = stat.read_text().rpartition(")")[2].split()
    return 1e3 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask_all(
    lines: dict[str, OpenLine], count: int, tokens: int, stream: bool
) -> dict[str, list[float]]:
    """Ask `count` questions of both, and return the times of each, in milliseconds."""
    times: dict[str, list[float]] = {way: [] for way in lines}
    for number in range(count):
        asked = body(number, tokens, stream)
        lines["direct"].ask(asked)  # so that neither of the next two computes the prompt
        ways = list(lines) if number % 2 else list(reversed(lines))
        for way in ways:
            answer = lines[way].ask(asked)
            times[way].append(1e3 * (answer.first if stream else answer.whole))
    return times


def body(number: int, tokens: int, stream: bool) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": f"Anna Berg, {number}, lives in Oslo."}],
        "max_tokens": tokens,
        "ignore_eos": True,
        "seed": number,
        "stream": stream,
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--tokens", type=int, default=8)
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
