"""What the playground waits for while somebody types: checks of a shape, verdicts on a text.

    python benchmarks/pages/playground.py [--rounds 100] [--fields 61] [--save]

A server of the demo model gets the requests of the page, one after the other, as a browser sends
them. The schema has 2,000 lines (33 for each field) and the text 100 kB, unless `--fields` says
otherwise. Each request differs from the one before it by one character, so that no answer is
repeated; where the shape is edited, one limit differs.

`ms` is the time from the request to the whole answer. Small ones begin with a new process and an
unknown shape; these first ones are in the row "first".
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import httpx

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, percentile
from tests.hostile.process import serving

TEXT_BYTES: Final = 100_000
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def main() -> None:
    """Measure and print."""
    options = arguments()
    schema, text = large_schema(options.fields), large_text(options.fields)
    lines = schema.count("\n") + 1
    report = Report("playground", ("starlette",), lines=lines, bytes=len(text))
    draw = random.Random(1)
    with serving() as server, httpx.Client(base_url=server.url, timeout=60) as client:
        page = Page(client)
        report.add("first: shape", **figures([page.check(schema)]))
        report.add("first: text", **figures([page.read(schema, text, "match")]))
        cases: dict[str, Callable[[], float]] = {
            "text edited, matches": lambda: page.read(schema, edited(text, draw), "match"),
            "text edited, doesn't": lambda: page.read(schema, broken(text, draw), "mismatch"),
            "character clicked": lambda: page.read(schema, cut(text, draw), "incomplete"),
        }
        for case, ask in cases.items():
            report.add(case, **figures([ask() for _ in range(options.rounds)]))
        shapes = edited_shapes(schema)
        report.add(
            "shape edited", **figures([page.check(next(shapes)) for _ in range(options.rounds)])
        )
        both = [
            page.check(shape := next(shapes)) + page.read(shape, text, "match")
            for _ in range(options.rounds)
        ]
        report.add("shape edited, text read", **figures(both))
    report.finish(save=options.save)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100, help="requests of each kind")
    parser.add_argument("--fields", type=int, default=61, help="fields of the schema")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    return parser.parse_args()


class Page:
    """Sends what the page sends. Each method returns the milliseconds until the answer."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def check(self, shape: str) -> float:
        """Check a schema, which must be usable."""
        took, found = self._post("/v1/check", {"kind": "schema", "shape": shape})
        assert found["usable"], found
        return took

    def read(self, shape: str, text: str, verdict: str) -> float:
        """Read a text, on which the verdict must be this."""
        took, found = self._post("/v1/explain", {"guided_json": shape, "text": text, "why": False})
        assert found["verdict"] == verdict, found
        return took

    def _post(self, path: str, body: dict[str, Any]) -> tuple[float, Any]:
        begin = time.perf_counter()
        response = self._client.post(path, json=body)
        took = 1000 * (time.perf_counter() - begin)
        assert response.status_code == 200, response.text
        return took, response.json()


def large_schema(fields: int) -> str:
    """A schema whose text has 33 lines for each field."""
    inner = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 4000},
            "count": {"type": "integer", "minimum": 0, "maximum": 1000},
            "state": {"enum": ["on", "off", "unknown"]},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 4000}},
        },
        "required": ["name", "count"],
    }
    names = [f"field_{number}" for number in range(fields)]
    schema = {"type": "object", "properties": dict.fromkeys(names, inner), "required": names}
    return json.dumps(schema, indent=1)


def large_text(fields: int) -> str:
    """An instance of about 100 kB, with names of letters alone."""
    each = min(1700, TEXT_BYTES // fields)  # names have at most 4,000 characters
    tags = ["some tag"] * ((each - 90) // 24)
    value = {"name": "n" * (each - 60 - 12 * len(tags)), "count": 7, "state": "on", "tags": tags}
    return json.dumps({f"field_{number}": value for number in range(fields)})


def edited(text: str, draw: random.Random) -> str:
    """The text with another letter in one of the names."""
    at = text.index("nnn", draw.randrange(len(text) * 3 // 4))
    return text[:at] + draw.choice(LETTERS) + text[at + 1 :]


def broken(text: str, draw: random.Random) -> str:
    """The text with a sign where none may stand."""
    at = text.index('"count": ', draw.randrange(len(text) * 3 // 4))
    return f"{text[:at]}@{text[at:]}"


def cut(text: str, draw: random.Random) -> str:
    """A beginning of the text."""
    return text[: draw.randrange(len(text) // 2, len(text))]


def edited_shapes(schema: str) -> Iterator[str]:
    """Schemas, each different from all earlier ones in the last limit."""
    head, _, tail = schema.rpartition('"maximum": 1000')
    for limit in range(1001, 10**9):
        yield f'{head}"maximum": {limit}{tail}'


def figures(samples: list[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum, in milliseconds."""
    ordered = sorted(samples)
    middle, high = percentile(ordered, 50), percentile(ordered, 95)
    return {"n": len(ordered), "ms p50": middle, "ms p95": high, "ms max": ordered[-1]}


if __name__ == "__main__":
    main()
