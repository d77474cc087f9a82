"""Fuzzed bodies to every POST endpoint that generates or reads: none may be answered with a 5xx.

    python benchmarks/server/fuzz_bodies.py [--bodies 20000] [--seed 0] [--save]

Bodies are made from valid ones by their seed. A row for each path counts the answers by status and
holds the slowest; `faults` are answers of 5xx, connections that broke, answers that took longer
than `--patience` seconds, and errors that are not in the form of OpenAI's. A client goes away after
the first kilobytes of an answer. Afterwards three monsters are sent: 200,000 nested brackets and a
schema of 10 MB, which have to get their 400 within a second (`--within`), and a pattern whose
automaton is exponential, which has to get an answer or a 400 in that time. The last row holds the
memory of the server's processes before and after; the server must answer a usual request then.
Faults are listed, and the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report
from benchmarks.server.mixed_cases import CHAT, shaped
from benchmarks.server.mutations import PATHS, fuzzed
from tests.hostile.process import serving, settled_bytes

BODY_BYTES: Final = 12 << 20
"""The server's limit, so that a schema of 10 MB is read and not refused unread."""
ERROR_FIELDS: Final = {"message", "type", "param", "code"}
MESSAGES: Final = [{"role": "user", "content": "Anna"}]
SCHEMA_BYTES: Final = 10_000_000


@dataclass(frozen=True)
class Tried:
    """What came of a body: its status (0 without an answer), its seconds, and what is wrong."""

    name: str
    path: str
    status: int
    seconds: float
    fault: str = ""


def main() -> int:
    options = arguments()
    report = Report("fuzz_bodies", packages=("torch",), concurrency=options.concurrency)
    with serving("--body-bytes", str(BODY_BYTES)) as server:
        before = server.resident_bytes()
        seeds = range(options.seed, options.seed + options.bodies)
        tried = asyncio.run(fuzz(server.url, seeds, options.concurrency, options.patience))
        monstrous = [
            monster(server.url, name, data, options.within) for name, data in monsters().items()
        ]
        after = settled_bytes(server, options.settle)
        usual = still_answers(server.url)
    by_path: dict[str, list[Tried]] = defaultdict(list)
    for each in tried:
        by_path[each.path].append(each)
    for path in PATHS:
        if by_path[path]:
            report.add(path, **counted(by_path[path]))
    for each in monstrous:
        report.add(each.name, s=round(each.seconds, 2), faults=int(bool(each.fault)))
    report.add("all", **counted(tried), MB_before=round(before / 1e6), MB_after=round(after / 1e6))
    report.finish(save=options.save)
    faults = [each for each in (*tried, *monstrous, *usual) if each.fault]
    for each in faults:
        print(f"{each.name} {each.path}:\n  {each.fault[:76]}")
    print(f"{len(faults)} faults in {len(tried)} bodies")
    return 1 if faults else 0


def counted(tried: list[Tried]) -> dict[str, Any]:
    statuses = Counter(f"{each.status // 100}xx" for each in tried)
    slowest = max(each.seconds for each in tried)
    return {
        "2xx": statuses["2xx"],
        "4xx": statuses["4xx"],
        "5xx": statuses["5xx"],
        "slowest_s": round(slowest, 2),
        "faults": sum(bool(each.fault) for each in tried),
    }


async def fuzz(url: str, seeds: range, concurrency: int, patience: float) -> list[Tried]:
    """What comes of the bodies of all seeds, `concurrency` of them at a time."""
    left = iter(seeds)
    async with httpx.AsyncClient(base_url=url, timeout=patience) as client:

        async def work() -> list[Tried]:
            return [await attempt(client, f"seed {seed}", *fuzzed(seed)) for seed in left]

        found = await asyncio.gather(*(work() for _ in range(concurrency)))
        return [one for each in found for one in each]


async def attempt(client: httpx.AsyncClient, name: str, path: str, data: bytes) -> Tried:
    started = time.monotonic()
    headers = {"Content-Type": "application/json"}
    try:
        async with client.stream("POST", path, content=data, headers=headers) as response:
            text = b""
            async for piece in response.aiter_bytes():
                text += piece
                if response.status_code == 200 and len(text) > 4096:
                    break
    except httpx.HTTPError as error:
        return Tried(name, path, 0, time.monotonic() - started, f"{type(error).__name__}: {error}")
    seconds = time.monotonic() - started
    return Tried(name, path, response.status_code, seconds, wrong(response.status_code, text))


def wrong(status: int, text: bytes) -> str:
    """What is wrong with an answer, or nothing."""
    if status >= 500:
        return f"{status}: {text[:200]!r}"
    if status != 200:
        try:
            if json.loads(text)["error"].keys() != ERROR_FIELDS:
                return f"another form of error: {text[:200]!r}"
        except (ValueError, KeyError, TypeError, AttributeError):
            return f"no error: {text[:200]!r}"
    elif b'"internal_error"' in text:
        return f"failed after it began: {text[-200:]!r}"
    return ""


def monsters() -> dict[str, bytes]:
    """Bodies that cost a naive server its stack, its memory or minutes."""
    brackets = "[" * 200_000 + "]" * 200_000
    properties = {f"p{number:07}": {"type": "integer"} for number in range(320_000)}
    pattern = {"type": "regex", "regex": "(a|b)*a(a|b){30}c"}
    few = {"messages": MESSAGES, "max_tokens": 60}
    head = json.dumps({"messages": MESSAGES})[:-1]
    schema = json.dumps({"type": "object", "properties": properties})
    assert len(schema) > SCHEMA_BYTES
    return {
        "200,000 brackets": f'{head}, "guided_json": {brackets}}}'.encode(),
        "10 MB schema": f'{head}, "guided_json": {schema}}}'.encode(),
        "regex bomb": json.dumps({**few, **shaped(CHAT, pattern)}).encode(),
    }


def monster(url: str, name: str, data: bytes, within: float) -> Tried:
    """What comes of a body that has to get its 400 within so many seconds (a pattern: or an
    answer)."""

    async def once() -> Tried:
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            return await attempt(client, name, CHAT, data)

    tried = asyncio.run(once())
    right = (200, 400) if name == "regex bomb" else (400,)
    fault = tried.fault or ("" if tried.status in right else f"status {tried.status}")
    if not fault and tried.seconds > within:
        fault = f"took {tried.seconds:.2f} s"
    return Tried(name, CHAT, tried.status, tried.seconds, fault)


def still_answers(url: str) -> list[Tried]:
    """A usual request after all: nothing, or what is wrong with its answer."""
    response = httpx.post(
        f"{url}{CHAT}", json={"messages": MESSAGES, "guided_choice": ["yes"]}, timeout=60
    )
    right = response.status_code == 200 and '"yes"' in response.text
    return [] if right else [Tried("after all", CHAT, response.status_code, 0.0, response.text)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--bodies", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0, help="of the first body")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for an answer")
    parser.add_argument("--within", type=float, default=1.0, help="seconds for a monster")
    parser.add_argument("--settle", type=float, default=5.0, help="seconds before memory is read")
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
