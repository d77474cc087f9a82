"""Two thousand different schemas one after another through one server, then the first ones again.

    python benchmarks/many_schemas.py [--schemas 2000] [--again 200] [--save]

A server of the demo model in processes of its own answers one request after another, each with a
schema of its own (`tests/hostile/ordinary.py`, or MaskBench's with `--maskbench`). The first
`--again` requests meet a fresh server. After the last one they come again, and after them as many
that the server has not seen: the first schemas under other names.

Rows hold the milliseconds of a request (to its whole answer) and of a token of it, and the resident
memory of all processes of the server after them, in MB. `slower` counts the requests that took more
than half as long again as the one that met the fresh server, by the time of a token, and more than
SLACK_MS longer; `ratio` is the median of what they took divided by what that one took.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import SKIPPED, Report, need, percentile
from tests.hostile.answers import UNCHECKED, VALID, verdict
from tests.hostile.ordinary import ordinary_schema
from tests.hostile.process import ServerProcess, options_of, serving, settled_bytes
from tests.hostile.shape import HostileShape, Subject

DATA: Final = ROOT.parent / "shared" / "data" / "maskbench-dev.jsonl.gz"
SUBJECT: Final = Subject("ordinary")
SLACK_MS: Final = 20.0
MAX_TOKENS: Final = 300
PARTS: Final = 8
"""Rows of the first pass, so that growth is seen."""


@dataclass(frozen=True)
class Answered:
    """One request: its time in milliseconds, the tokens of its answer (0 if it was refused), and
    whether the answer had its shape."""

    ms: float
    tokens: int
    valid: bool

    @property
    def token_ms(self) -> float:
        return self.ms / max(1, self.tokens)


def main() -> None:
    options = arguments()
    schemas = maskbench(options.schemas) if options.maskbench else None
    if schemas is not None and len(schemas) < options.schemas:
        raise SystemExit(SKIPPED)
    first = made(range(options.schemas), schemas)
    settings = {"grammar_processes": options.grammar_processes or "default"}
    report = Report("many_schemas", packages=("numba", "torch"), **settings)
    with serving(*options_of(options.grammar_processes)) as server:
        report.add("at the start", MB=megabytes(server))
        fresh = passed(server, report, first, options.again)
        again = [ask(server, shape) for shape in first[: options.again]]
        report.add("the first again", **figures(again, fresh), MB=megabytes(server))
        if schemas is None:
            other = made(range(options.again), None, "other")
            new = [ask(server, shape) for shape in other]
            report.add("others like them", **figures(new, fresh), MB=megabytes(server))
        settled = settled_bytes(server, options.settle)
        report.add(f"{options.settle:g} s later", MB=round(settled / 1e6))
    report.finish(save=options.save)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--schemas", type=int, default=2000, help="different schemas")
    parser.add_argument("--again", type=int, default=200, help="how many of them come again")
    parser.add_argument("--maskbench", action="store_true", help="MaskBench's instead of made-up")
    parser.add_argument("--grammar-processes", type=int, help="default: the server's own")
    parser.add_argument("--settle", type=float, default=15.0, help="seconds before the last row")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    return parser.parse_args()


def maskbench(count: int) -> list[Any]:
    """The first schemas of MaskBench that differ from each other."""
    found: dict[str, Any] = {}
    with gzip.open(need(DATA), "rt", encoding="utf-8") as lines:
        for line in lines:
            schema = json.loads(line)["schema"]
            found.setdefault(json.dumps(schema, sort_keys=True), schema)
            if len(found) == count:
                break
    return [*found.values()]


def made(numbers: Iterable[int], schemas: list[Any] | None, salt: str = "") -> list[HostileShape]:
    """Requests for schemas. MaskBench's may be too long for the prompt, and are left out of it."""
    if schemas is not None:
        return [
            SUBJECT.hidden(f"{number}", schemas[number], max_tokens=MAX_TOKENS)
            for number in numbers
        ]
    return [
        SUBJECT.schema(f"{number}", ordinary_schema(number, salt), max_tokens=MAX_TOKENS)
        for number in numbers
    ]


def passed(
    server: ServerProcess, report: Report, shapes: list[HostileShape], again: int
) -> list[Answered]:
    """Send every shape once, in `PARTS` rows after the row of the first `again`; those are
    returned."""
    fresh = [ask(server, shape) for shape in shapes[:again]]
    report.add(f"1 to {again}", **figures(fresh), MB=megabytes(server))
    rest = shapes[again:]
    size = max(1, -(-len(rest) // PARTS))
    for at in range(0, len(rest), size):
        part = [ask(server, shape) for shape in rest[at : at + size]]
        begin = again + at + 1
        report.add(f"{begin} to {begin + len(part) - 1}", **figures(part), MB=megabytes(server))
    return fresh


def ask(server: ServerProcess, shape: HostileShape) -> Answered:
    """One request to its end. A refusal is an answer of no tokens."""
    begin = time.perf_counter()
    response = httpx.post(f"{server.url}/v1/chat/completions", json=shape.body, timeout=120)
    ms = 1e3 * (time.perf_counter() - begin)
    if response.status_code != 200:
        if response.status_code >= 500:
            print(f"{shape.name}: {response.status_code} {response.text[:300]}", file=sys.stderr)
        return Answered(ms, 0, False)
    body = response.json()
    said = verdict(shape, body["choices"][0]["message"])
    if said not in (VALID, UNCHECKED):
        print(f"{shape.name}: {said}", file=sys.stderr)
    return Answered(ms, body["usage"]["completion_tokens"], said == VALID)


def figures(answers: list[Answered], fresh: list[Answered] | None = None) -> dict[str, Any]:
    """The figures of one row; compared with the requests that met the fresh server, if given."""
    times = sorted(answer.ms for answer in answers)
    row: dict[str, Any] = {
        "n": len(answers),
        "valid": sum(answer.valid for answer in answers),
        "ms p50": percentile(times, 50),
        "ms p99": percentile(times, 99),
        "token_ms p50": statistics.median(answer.token_ms for answer in answers),
    }
    if fresh is not None:
        pairs = list(zip(answers, fresh, strict=True))
        row["ratio"] = statistics.median(now.token_ms / then.token_ms for now, then in pairs)
        row["slower"] = sum(slower(now, then) for now, then in pairs)
    return row


def slower(now: Answered, then: Answered) -> bool:
    """Whether a request took more than half as long again as another, for its length."""
    expected = then.token_ms * max(1, now.tokens)
    return now.ms > 1.5 * expected and now.ms > expected + SLACK_MS


def megabytes(server: ServerProcess) -> int:
    return round(server.resident_bytes() / 1e6)


if __name__ == "__main__":
    main()
