"""The time to first text of two servers with long common beginnings: the router against turns.

    python benchmarks/server/prefix_skew.py [--servers 2] [--rounds 4] [--requests 160] [--save]

Servers with the shipped model, each a process of its own with a pool that holds the share `--room`
of the beginnings, and two routers in front of them, one of them with `--policy round-robin`.
Requests arrive at random times (Poisson) and begin with one of `--beginnings` system
prompts of about `--tokens` tokens; the k-th is as frequent as 1 / k. The routers serve
equal requests at equal times, one after the other, round after round; a `cache_salt` of its own for
each turn makes the caches begin empty, and the first quarter of its requests is not counted.

`ttft_ms` is the time from sending a request until its first text, over all rounds; `cached_%` the
share of the prompts' tokens that servers had in their caches; `ratio` the 99th percentile divided
by that of turns, and `rounds` the median of the ratios of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, percentile
from benchmarks.server.load_client import ask
from tests.dist.front.fleet_of_servers import routed, servers

POLICIES: Final = ("estimate", "round-robin")
PERCENTS: Final = (50, 90, 99)
WORDS: Final = ("oak", "river", "lamp", "stone", "bread", "north", "glass", "paper", "wool", "salt")
WORD_TOKENS: Final = 2.6
"""Tokens of one of the words, on average."""

BLOCK: Final = 16
"""Positions in a block of keys and values."""


@dataclass
class Turns:
    """What one router's turns have shown: times to first text in milliseconds, by round, and
    tokens of prompts that were looked up and found in caches."""

    first_ms: list[list[float]] = field(default_factory=list[list[float]])
    asked: float = 0.0
    cached: float = 0.0

    @property
    def ordered(self) -> list[float]:
        """The times of all rounds, shortest first."""
        return sorted(one for each in self.first_ms for one in each)


def main() -> None:
    options = arguments()
    settings = {name: value for name, value in vars(options).items() if name != "save"}
    report = Report("prefix_skew", packages=("torch", "uvicorn"), **settings)
    pool = round(options.tokens * options.beginnings * options.room / BLOCK)
    turns = {policy: Turns() for policy in POLICIES}
    with servers(options.servers, "--blocks", str(pool)) as started:
        urls = [server.url for server in started]
        with routed(urls) as ours, routed(urls, "--policy", "round-robin") as other:
            for number in range(options.rounds):
                order = POLICIES if number % 2 else POLICIES[::-1]
                for policy in order:
                    url = ours.url if policy == "estimate" else other.url
                    take_turn(turns[policy], url, urls, f"{number} {policy}", number, options)
    for policy, made in turns.items():
        report.add(policy, **figures_of(made, turns["round-robin"]))
    report.finish(save=options.save)


def take_turn(
    turns: Turns, url: str, urls: list[str], salt: str, seed: int, options: argparse.Namespace
) -> None:
    """Send the requests of one round through one router."""
    before = looked_up(urls)
    bodies = requests(seed, salt, options)
    first = asyncio.run(ask_at_random(url, bodies, options.rate, seed))
    after = looked_up(urls)
    turns.first_ms.append([1e3 * one for one in first[len(first) // 4 :]])
    turns.asked += after[0] - before[0]
    turns.cached += after[1] - before[1]


def figures_of(made: Turns, round_robin: Turns) -> dict[str, float]:
    """Percentiles over all rounds, and how they compare with turns."""
    row = {f"ttft_ms p{one}": round(percentile(made.ordered, one), 1) for one in PERCENTS}
    row["cached_%"] = round(100 * made.cached / made.asked, 1)
    row["ratio p99"] = round(percentile(made.ordered, 99) / percentile(round_robin.ordered, 99), 3)
    pairs = zip(made.first_ms, round_robin.first_ms, strict=True)
    ratios = [
        percentile(sorted(ours), 99) / percentile(sorted(theirs), 99) for ours, theirs in pairs
    ]
    row["rounds p99"] = round(statistics.median(ratios), 3)
    return row


def requests(seed: int, salt: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The requests of one round; equal seeds give equal requests except for their salt."""
    rng = random.Random(seed)
    weights = [1 / (1 + number) for number in range(options.beginnings)]
    chosen = rng.choices(range(options.beginnings), weights, k=options.requests)
    return [
        {
            "messages": [
                {"role": "system", "content": beginning(number, options.tokens)},
                {"role": "user", "content": f"What is said about case {at}?"},
            ],
            "max_tokens": options.answer,
            "ignore_eos": True,
            "seed": at,
            "stream": True,
            "cache_salt": salt,
        }
        for at, number in enumerate(chosen)
    ]


def beginning(number: int, tokens: int) -> str:
    """System prompt `number`, of about `tokens` tokens."""
    rng = random.Random(number)
    return f"{number}. " + " ".join(rng.choice(WORDS) for _ in range(round(tokens / WORD_TOKENS)))


async def ask_at_random(
    url: str, bodies: list[dict[str, Any]], rate: float, seed: int
) -> list[float]:
    """Ask `rate` requests a second, at random times; returns the seconds to first text of each."""
    rng = random.Random(seed)
    host, _, port = url.removeprefix("http://").partition(":")

    async def one(body: dict[str, Any]) -> float:
        reader, writer = await asyncio.open_connection(host, int(port))
        first = await ask(reader, writer, host, body)
        assert first is not None, "a stream without a text"
        return first

    running: list[asyncio.Task[float]] = []
    for body in bodies:
        running.append(asyncio.create_task(one(body)))
        await asyncio.sleep(rng.expovariate(rate))
    return await asyncio.gather(*running)


def looked_up(urls: list[str]) -> tuple[float, float]:
    """Tokens of prompts that the servers have looked up in their caches so far, and that they have
    found there."""
    found = {"maskwright_prefix_asked_tokens_total": 0.0, "maskwright_prefix_hit_tokens_total": 0.0}
    for url in urls:
        page = httpx.get(f"{url}/metrics", timeout=30).text
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                if sample.name in found:
                    found[sample.name] += sample.value
    queries, hits = found.values()
    return queries, hits


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--requests", type=int, default=160)
    parser.add_argument("--rate", type=float, default=6.0, help="requests a second")
    parser.add_argument("--beginnings", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=900, help="of a beginning, about")
    parser.add_argument(
        "--room", type=float, default=0.6, help="share of the beginnings that a server has room for"
    )
    parser.add_argument("--answer", type=int, default=12, help="tokens of an answer")
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
