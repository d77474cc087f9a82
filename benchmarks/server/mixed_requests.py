"""Mixed requests to one server at once: how many answers violate their constraint.

    python benchmarks/server/mixed_requests.py [--requests 5000] [--concurrency 64] [--save]

Chat completions, responses and text completions with schemas, patterns, grammars, choices, tools,
tools beside a schema, tags, and free text, drawn by `--seed`. Half are streamed, a tenth are given
1 to 12 tokens, and a tenth are cancelled at a random moment. Every answer is checked by other means
than masks; an answer that can't be complete within its tokens must be refused before it begins.
A row for each kind says how many answers were whole, how many were refused for their few tokens
(`limited`: because the machine was too busy to find the shortest answer in the time for grammars),
and were cancelled, and how many violated their constraint. Violations are listed, and the exit code
is then 1. The last row holds the time and the memory of the server before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import httpx

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report
from benchmarks.server.answers import events_of, streamed_answer, whole_answer
from benchmarks.server.mixed_cases import KINDS, MixedCase, mixed_case
from tests.hostile.process import serving, settled_bytes

SMALL_BUDGET: Final = 12
"""Tokens up to which an answer may be refused for having too few."""


@dataclass(frozen=True)
class Outcome:
    """What came of a request: `whole`, `refused`, `limited`, `cancelled`, or `violation` with its
    reason."""

    case: MixedCase
    result: str
    reason: str = ""


def main() -> int:
    options = arguments()
    report = Report("mixed_requests", packages=("torch",), concurrency=options.concurrency)
    with serving() as server:
        before = server.resident_bytes()
        started = time.monotonic()
        seeds = range(options.seed, options.seed + options.requests)
        outcomes = asyncio.run(sent_all(server.url, seeds, options.concurrency))
        seconds = time.monotonic() - started
        after = settled_bytes(server, options.settle)
        alive = server.alive
    counts = Counter((outcome.case.kind, outcome.result) for outcome in outcomes)
    for kind in dict.fromkeys(KINDS):
        report.add(kind, **row(counts, kind))
    megabytes = {"MB_before": round(before / 1e6), "MB_after": round(after / 1e6)}
    report.add("all", **row(counts, None), seconds=round(seconds), **megabytes)
    report.finish(save=options.save)
    violations = [outcome for outcome in outcomes if outcome.result == "violation"]
    for outcome in violations:
        print(f"{outcome.case.kind} {outcome.case.path} seed {outcome.case.body['seed']}:")
        print(f"  {outcome.reason[:70]}")
    print(f"{len(violations)} violations in {len(outcomes)} requests")
    return 1 if violations or not alive else 0


def row(counts: Counter[tuple[str, str]], kind: str | None) -> dict[str, int]:
    names = ("whole", "refused", "limited", "cancelled", "violation")
    return {
        name: sum(n for (of, result), n in counts.items() if kind in (None, of) and result == name)
        for name in names
    }


async def sent_all(url: str, seeds: range, concurrency: int) -> list[Outcome]:
    """The outcomes of the requests of all seeds, `concurrency` of them at a time."""
    left = iter(seeds)
    # A connection for each request: one that idles may be closed just when it is used again.
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=url, timeout=300, limits=limits) as client:

        async def work() -> list[Outcome]:
            return [await sent(client, mixed_case(seed)) for seed in left]

        found = await asyncio.gather(*(work() for _ in range(concurrency)))
        return [one for each in found for one in each]


async def sent(client: httpx.AsyncClient, case: MixedCase) -> Outcome:
    """The outcome of one request; each tenth request is cancelled within a second."""
    draw = Random(f"cancel {case.body['seed']}")
    patience = draw.uniform(0, 1) if draw.random() < 0.1 else None
    try:
        async with asyncio.timeout(patience):
            return await answered(client, case)
    except TimeoutError:
        return Outcome(case, "cancelled")
    except (httpx.HTTPError, RuntimeError, ValueError, KeyError) as error:
        return Outcome(case, "violation", f"{type(error).__name__}: {error}")


async def answered(client: httpx.AsyncClient, case: MixedCase) -> Outcome:
    async with client.stream("POST", case.path, json=case.body) as response:
        if response.status_code != 200:
            await response.aread()
            return refused(case, response)
        if case.body["stream"]:
            answer = streamed_answer(case.path, [event async for event in events_of(response)])
        else:
            await response.aread()
            answer = whole_answer(case.path, response.json())
    fault = case.fault(answer)
    if fault is None and answer.end is None:
        fault = "no finish reason"
    if fault is None:
        return Outcome(case, "whole")
    return Outcome(case, "violation", f"{fault}: {answer.text!r} {answer.calls}")


def refused(case: MixedCase, response: httpx.Response) -> Outcome:
    """A refusal is right if the request has few tokens and the error says that it is for this."""
    budget = case.body.get("max_tokens") or case.body["max_output_tokens"]
    code = response.json()["error"]["code"]
    if response.status_code == 400 and budget <= SMALL_BUDGET:
        if code == "max_tokens_too_small":
            return Outcome(case, "refused")
        if code == "limit_exceeded":
            return Outcome(case, "limited")
    return Outcome(case, "violation", f"{response.status_code}: {response.text}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0, help="of the first request")
    parser.add_argument("--settle", type=float, default=5.0, help="seconds before memory is read")
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
