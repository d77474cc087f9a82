"""One forced function with an open object, called again and again in one server.

    python benchmarks/forced_function.py [--answers 2000] [--clients 16] [--save]

The demo model seldom closes an object to which it may add names of its own, so most answers go on
until the budget of tokens closes them: what a kept grammar learns grows with every name, and masks
under a budget are needed in places where no text has been before. Seeds are 0, 1, 2, ….

A row is a tenth of the answers. `mask us` is the mean time of a mask in the engine, `question ms`
that of a question to a grammar process, and `questions` how many there were; `late` counts rows of
100 drawn tokens that waited for their mask. `MB` is the resident memory of all processes of the
server after the row. `valid` answers have exactly one call whose arguments fit the schema (the
`jsonschema` package decides), and `errors` are answers with any other status than 200.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import jsonschema

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report
from tests.hostile.process import ServerProcess, options_of, serving

PERSON: Final[dict[str, Any]] = {
    "properties": {
        "name": {"title": "Name", "type": "string"},
        "age": {"title": "Age", "type": "integer"},
    },
    "required": ["age", "name"],
    "type": "object",
}
TOOL: Final[dict[str, Any]] = {
    "type": "function",
    "function": {"name": "person", "description": "Notes a person.", "parameters": PERSON},
}
ROWS: Final = 10
TIMEOUT: Final = 300


@dataclass(frozen=True)
class Answered:
    """One answer: its status, whether its call fits, and its tokens."""

    status: int
    valid: bool
    tokens: int


@dataclass(frozen=True)
class Counted:
    """What the server has counted so far."""

    masks: float
    mask_seconds: float
    questions: float
    question_seconds: float
    late: float
    sampled: float

    @classmethod
    def read(cls, server: ServerProcess) -> Counted:
        page = httpx.get(f"{server.url}/metrics", timeout=TIMEOUT).text
        names = (
            *("mask_seconds_count", "mask_seconds_sum"),
            *("grammar_question_seconds_count", "grammar_question_seconds_sum"),
            *("late_rows_total", 'output_tokens_total{source="sampled"}'),
        )
        return cls(*(value(page, name) for name in names))

    def figures(self, before: Counted) -> dict[str, float]:
        masks = self.masks - before.masks
        questions = self.questions - before.questions
        return {
            "mask us": 1e6 * (self.mask_seconds - before.mask_seconds) / max(1.0, masks),
            "questions": questions,
            "question ms": 1e3
            * (self.question_seconds - before.question_seconds)
            / max(1.0, questions),
            "late": 100 * (self.late - before.late) / max(1.0, self.sampled - before.sampled),
        }


def value(page: str, name: str) -> float:
    """A metric's value on a page of them."""
    found = re.search(rf"^maskwright_{re.escape(name)} (\S+)$", page, re.MULTILINE)
    if found is None:
        raise SystemExit(f"/metrics has no {name}")
    return float(found[1])


def main() -> None:
    options = arguments()
    report = Report("forced_function", packages=("torch",), clients=options.clients)
    size = -(-options.answers // ROWS)
    with (
        serving(*options_of(options.grammar_processes)) as server,
        ThreadPoolExecutor(options.clients) as pool,
    ):
        for first in range(0, options.answers, size):
            seeds = range(first, min(first + size, options.answers))
            before, begin = Counted.read(server), time.perf_counter()
            answers = list(pool.map(partial(ask, server), seeds))
            seconds = time.perf_counter() - begin
            tokens = sum(answer.tokens for answer in answers)
            report.add(
                f"answers {seeds[0] + 1} to {seeds[-1] + 1}",
                valid=sum(answer.valid for answer in answers),
                errors=sum(answer.status != 200 for answer in answers),
                **{"tokens": tokens, "token/s": tokens / seconds},
                **Counted.read(server).figures(before),
                MB=round(server.resident_bytes() / 1e6),
            )
    report.finish(save=options.save)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--answers", type=int, default=2000, help="default: 2000")
    parser.add_argument("--clients", type=int, default=16, help="requests at a time; default: 16")
    parser.add_argument("--grammar-processes", type=int, help="default: the server's own")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    return parser.parse_args()


def ask(server: ServerProcess, seed: int) -> Answered:
    """One answer. Objects stay open, as the schema has them; the server closes them by default."""
    body = {
        "model": "maskwright-demo",
        "messages": [{"role": "user", "content": "Who was it?"}],
        "tools": [TOOL],
        "tool_choice": {"type": "function", "function": {"name": "person"}},
        "maskwright": {"additional_properties": "allow"},
        "seed": seed,
    }
    response = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=TIMEOUT)
    if response.status_code != 200:
        print(f"seed {seed}: {response.status_code} {response.text[:300]}", file=sys.stderr)
        return Answered(response.status_code, False, 0)
    answer = response.json()
    calls = answer["choices"][0]["message"].get("tool_calls") or []
    return Answered(200, fits(calls), answer["usage"]["completion_tokens"])


def fits(calls: list[Any]) -> bool:
    """Whether there is one call, and its arguments fit."""
    if len(calls) != 1:
        return False
    try:
        jsonschema.validate(json.loads(calls[0]["function"]["arguments"]), PERSON)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


if __name__ == "__main__":
    main()
