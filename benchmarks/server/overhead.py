"""What the HTTP server and streaming cost over the bare engine: throughput and time to first text.

    python benchmarks/server/overhead.py [--streams 64] [--tokens 128] [--rounds 7] [--save]

In turns, round after round, the same requests (free text of exactly `--tokens` tokens) are given to
the engine directly, to the server for whole answers, and to the server as streams, by a client in
a process of its own that takes chunks apart no further than it must. Engine and server share a
process and collect garbage as in `maskwright serve`. The model is the demo model: a step of it
takes so little that the server's share is as large as it gets.

There are three loads. In `burst`, all requests come at one moment, so that the time to the first
text contains the time in which the other requests are read; it shows the throughput. In `spread`,
requests of 32 tokens arrive at random times (a Poisson process, 12 a second), the same times for
engine and server, so that others run while one begins. In `alone`, each comes after the one before
has ended.

`tokens_s` are tokens a second, `cpu_us` the processor time of the server's process for each token
(which other work on the machine hardly changes), `ttft_ms` the time from sending a request until
its first text. `lost_%` and `added_ms` compare medians of the rounds with those of the engine under
this load.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report
from benchmarks.server.load_client import Timing
from maskwright.cli.process.collector import collecting
from maskwright.engine import Engine, EngineConfig, Generation, Request
from maskwright.models import DEMO_PATH, LoadedModel, load
from maskwright.models.chat import chat_tokens
from maskwright.sampling import SamplingParams
from maskwright.server import create_app
from tests.live_server import live_server

PROMPTS: Final = ("Anna Berg, 34, lives in Oslo.", "Ines Roth paid for 3 lamps.", "Hello!")

SHORT: Final = 32
"""Tokens of a request that doesn't come together with others."""

RATE: Final = 12.0
"""Requests a second of the load `spread`."""

APART_S: Final = 0.2
"""Seconds from one request to the next of the load `alone`, in which one has ended long since."""


@dataclass(frozen=True)
class Load:
    """Requests of `tokens` tokens each, which are sent `times` seconds after the beginning.
    `floods`: whether they come together, so that the throughput says something."""

    times: list[float]
    tokens: int
    floods: bool = False


@dataclass(frozen=True)
class Round:
    """Figures of one round: tokens a second, microseconds of processor time a token, and the
    seconds to the first text of each stream."""

    tokens_s: float
    cpu_us: float
    first: list[float]


def main() -> None:
    options = arguments()
    loaded = load(DEMO_PATH)
    settings = {"streams": options.streams, "tokens": options.tokens, "rounds": options.rounds}
    report = Report("overhead", packages=("torch", "uvicorn", "starlette"), **settings)
    config = EngineConfig(max_running=options.streams)
    with (
        Engine(loaded, config) as engine,
        live_server(create_app(engine)) as url,
        collecting(lambda: False),
    ):
        for name, load_of_round in loads(options).items():
            subjects: dict[str, Callable[[Load], Timing]] = {
                "engine": lambda given: ask_engine(engine, loaded, given),
                "server, streams": lambda given: ask_server(url, given, True),
            }
            if load_of_round(0).floods:
                subjects["server, whole"] = lambda given: ask_server(url, given, False)
            rounds = rounds_of(subjects, load_of_round, options.rounds)
            for subject, made in rounds.items():
                row = figures_of(made, rounds["engine"], load_of_round(0).floods)
                report.add(f"{name}: {subject}", **row)
    report.finish(save=options.save)


def loads(options: argparse.Namespace) -> dict[str, Callable[[int], Load]]:
    """What makes each load, by the number of the round."""
    count = options.streams

    def spread(number: int) -> Load:
        draw = random.Random(number)
        return Load(list(accumulate(draw.expovariate(RATE) for _ in range(count))), SHORT)

    return {
        "burst": lambda number: Load([0.0] * count, options.tokens, floods=True),
        "spread": spread,
        "alone": lambda number: Load([APART_S * at for at in range(min(count, 24))], SHORT),
    }


def rounds_of(
    subjects: dict[str, Callable[[Load], Timing]], load: Callable[[int], Load], count: int
) -> dict[str, list[Round]]:
    """Measure all subjects in turns, `count` times, after one round that isn't counted."""
    rounds: dict[str, list[Round]] = {name: [] for name in subjects}
    for number in range(-1, count):
        for name, ask in subjects.items():
            made = measured(ask, load(number))
            if number >= 0:
                rounds[name].append(made)
    return rounds


def figures_of(made: list[Round], engine: list[Round], floods: bool) -> dict[str, float]:
    """Medians of rounds, compared with the engine's in the round of the same number."""
    row: dict[str, float] = {}
    if floods:
        lost = [1 - each.tokens_s / bare.tokens_s for each, bare in zip(made, engine, strict=True)]
        row["tokens_s"] = round(statistics.median(each.tokens_s for each in made))
        row["lost_%"] = round(100 * statistics.median(lost), 1)
    more = [each.cpu_us - bare.cpu_us for each, bare in zip(made, engine, strict=True)]
    row["cpu_us"] = round(statistics.median(each.cpu_us for each in made), 1)
    row["added_cpu_us"] = round(statistics.median(more), 1)
    if first := first_ms(made):
        row["ttft_ms p50"] = round(first, 2)
        row["added_ms p50"] = round(first - (first_ms(engine) or first), 2)
    return row


def first_ms(rounds: list[Round]) -> float | None:
    """The median over all streams of all rounds, in milliseconds."""
    seconds = [one for each in rounds for one in each.first]
    return 1000 * statistics.median(seconds) if seconds else None


def measured(ask: Callable[[Load], Timing], load: Load) -> Round:
    started = time.process_time()
    timing = ask(load)
    cpu = time.process_time() - started
    tokens = len(load.times) * load.tokens
    return Round(tokens / timing.seconds, 1e6 * cpu / tokens, timing.first)


def body(number: int, tokens: int, stream: bool) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": PROMPTS[number % len(PROMPTS)]}],
        "max_tokens": tokens,
        "ignore_eos": True,
        "seed": number,
        "stream": stream,
    }


def ask_engine(engine: Engine, loaded: LoadedModel, load: Load) -> Timing:
    """What the server would ask for: prompts of its template, seeds, and no end token drawn."""
    prompts = [
        chat_tokens(loaded.tokenizer, [{"role": "user", "content": text}]) for text in PROMPTS
    ]
    started = time.monotonic()
    generations: list[Generation] = []
    for number, second in enumerate(load.times):
        time.sleep(max(0.0, started + second - time.monotonic()))
        params = SamplingParams(seed=number, ignore_eos=True)
        request = Request(prompts[number % len(PROMPTS)], params, load.tokens)
        generations.append(engine.submit(request))
    for generation in generations:
        generation.result()
    seconds = time.monotonic() - started
    traces = [generation.trace for generation in generations]
    return Timing(seconds, [each.ttft_ms / 1e3 for each in traces if each and each.ttft_ms])


def ask_server(url: str, load: Load, stream: bool) -> Timing:
    asked = [
        (second, body(number, load.tokens, stream)) for number, second in enumerate(load.times)
    ]
    client = subprocess.run(
        [sys.executable, "-c", "from benchmarks.server.load_client import main; main()", url],
        cwd=ROOT,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return Timing(**json.loads(client.stdout))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
