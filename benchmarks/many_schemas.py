"""Two thousand different schemas one after another through one server, then the first ones again.

    python benchmarks/many_schemas.py [--schemas 2000] [--again 200] [--save]

A server of the demo model in processes of its own answers one request after another, each with a
schema of its own (`tests/hostile/ordinary.py`, or MaskBench's with `--maskbench`). The first
`--again` requests meet a fresh server. After the last one they come again, and after them as many
that the server has not seen: the first schemas under other names.

Rows hold the milliseconds of a request (to its whole answer) and of a token of it, and the resident
memory of all processes of the server after them, in MB. `slower` counts the requests that took more
than half as long again as the one that met the fresh server, by the time of a token, and more than
SLACK_MS longer; `each time` those that did so `TRIES` times more, when they, or others like them,
were sent again: the machine makes some requests slow, but not the same ones. `ratio` is the median
of what they took divided by what the requests to the fresh server took.
"""

from __future__ import annotations

import argparse
import gzip
import json
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import SKIPPED, Report, need, percentile
from tests.hostile.answers import UNCHECKED, VALID, verdict
from tests.hostile.ordinary import ordinary_schema
from tests.hostile.process import ServerProcess, options_of, serving
from tests.hostile.shape import HostileShape, Subject

DATA: Final = ROOT.parent / "shared" / "data" / "maskbench-dev.jsonl.gz"
SUBJECT: Final = Subject("ordinary")
SLACK_MS: Final = 20.0
MAX_TOKENS: Final = 300
PARTS: Final = 8
"""Rows of the first pass, so that growth is seen."""
TRIES: Final = 2
PROGRESS_SECONDS: Final = 10.0


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
    report = Report("many_schemas", packages=("torch",), **settings)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the server is ended
    save = False
    try:
        with serving(*options_of(options.grammar_processes)) as server:
            measure(Rows(server, report), first, options)
        save = options.save
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    finally:
        report.finish(save=save)


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


class Rows:
    """The rows of a report, each printed on standard error once it is known."""

    def __init__(self, server: ServerProcess, report: Report) -> None:
        self._server = server
        self._report = report
        self._begin = time.perf_counter()
        self._told = self._begin
        self._asked = 0

    def ask(self, shapes: list[HostileShape]) -> list[Answered]:
        """Send requests one after another, and tell now and then how many there were."""
        answers: list[Answered] = []
        for shape in shapes:
            answers.append(ask(self._server, shape))
            self._asked += 1
            if time.perf_counter() - self._told > PROGRESS_SECONDS:
                self._tell(f"{self._asked} requests")
        return answers

    def add(self, case: str, **row: Any) -> None:
        row["MB"] = round(self._server.resident_bytes() / 1e6)
        self._report.add(case, **row)
        self._tell(f"{case}: {', '.join(f'{name} {show(row[name])}' for name in row)}")

    def _tell(self, text: str) -> None:
        self._told = time.perf_counter()
        print(f"{self._told - self._begin:.0f} s: {text}", file=sys.stderr, flush=True)


def show(figure: float) -> str:
    return f"{figure:.2f}" if isinstance(figure, float) else str(figure)


def measure(rows: Rows, shapes: list[HostileShape], options: argparse.Namespace) -> None:
    """Send every shape once, in `PARTS` rows after the row of the first `again`; then these, and as
    many others like them."""
    rows.add("at the start")
    again = shapes[: options.again]
    fresh = rows.ask(again)
    rows.add(f"1 to {len(again)}", **figures(fresh))
    rest = shapes[len(again) :]
    size = max(1, -(-len(rest) // PARTS))
    for at in range(0, len(rest), size):
        part = rows.ask(rest[at : at + size])
        begin = len(again) + at + 1
        rows.add(f"{begin} to {begin + len(part) - 1}", **figures(part))
    compare(rows, "the first again", lambda _: again, fresh)
    if not options.maskbench:
        numbers = range(len(again))
        compare(rows, "others like them", lambda tried: made(numbers, None, f"try{tried}"), fresh)
    time.sleep(options.settle)
    rows.add(f"{options.settle:g} s later")


def compare(
    rows: Rows, case: str, shapes: Callable[[int], list[HostileShape]], fresh: list[Answered]
) -> None:
    """Send the `shapes` of the first try; and where one takes longer than the one that met the
    fresh server, the shapes of further tries in the same place."""
    answers = rows.ask(shapes(0))
    late = [at for at, then in enumerate(fresh) if slower(answers[at], then)]
    row = figures(answers, fresh) | {"slower": len(late)}
    for number in range(1, 1 + TRIES):
        tried = shapes(number)
        again = rows.ask([tried[at] for at in late])
        late = [at for at, now in zip(late, again, strict=True) if slower(now, fresh[at])]
    for at in late:
        print(f"{case}: number {at} is slower each time", file=sys.stderr)
    rows.add(case, **row, **{"each time": len(late)})


def ask(server: ServerProcess, shape: HostileShape) -> Answered:
    """One request to its end. A refusal is an answer of no tokens."""
    begin = time.perf_counter()
    response = httpx.post(f"{server.url}/v1/chat/completions", json=shape.body, timeout=120)
    ms = 1e3 * (time.perf_counter() - begin)
    if response.status_code != 200:
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
    return row


def slower(now: Answered, then: Answered) -> bool:
    """Whether a request took more than half as long again as another, for its length. A refusal
    has no length: what it may take is what the whole answer took."""
    expected = then.token_ms * now.tokens if now.tokens else then.ms
    return now.ms > 1.5 * expected and now.ms > expected + SLACK_MS


if __name__ == "__main__":
    main()
