"""What the HTTP server and streaming cost over the bare engine: throughput and time to first text.

    python benchmarks/server/overhead.py [--streams 64] [--tokens 128] [--rounds 7] [--save]

In turns, round after round, the same requests (free text of exactly `--tokens` tokens) are given to
the engine directly, whose answers are read whole or as streams, and to the server for whole answers
and as streams. Streams of the engine are read by tasks of one event loop, of the kind that the
server runs on, and a whole answer by a thread that waits for its end. The engine gets prompts as
token ids, so that the server's share contains reading the body, chat template and tokenizer beside
HTTP and events. Engine and server share a process and collect garbage as in `maskwright serve`. The
model is the demo model: a step of it takes so little that the server's share is as large as it
gets.

The server's client is a process of its own, which takes chunks apart no further than it must. It
shares the machine's processors with the server, and nothing is deducted for it: on two cores it
makes the server's figures a little worse than a client on another machine would.

There are three loads. In `burst`, all requests come at one moment, so that the time to the first
text contains the time in which the other requests are read; it shows the throughput. In `spread`,
requests of 32 tokens arrive at random times (a Poisson process, 12 a second), the same times for
engine and server, so that others run while one begins. In `alone`, each comes after the one before
has ended.

`tokens_s` are tokens a second, `cpu_us` the processor time of the server's process for each token
(which other work on the machine hardly changes), `client_cpu_us` that of the client's process,
`ttft_ms` the time from giving a request to reading its first text. `lost_%`, `added_cpu_us` and
`added_ms` compare medians of the rounds with the engine's own whose answers are read in this way,
and the engine's streams with the engine's whole answers. The goals are printed at the
end, beside what was found. Seven rounds take about three and a half minutes.
"""

from __future__ import annotations

import argparse
import asyncio
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

import uvicorn

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report
from benchmarks.server.load_client import Timing
from maskwright.cli.output.tables import Figure
from maskwright.cli.process.collector import collecting
from maskwright.engine import Engine, EngineConfig, Generation, Request
from maskwright.models import DEMO_PATH, LoadedModel, load
from maskwright.sampling import SamplingParams
from maskwright.server import create_app
from tests.live_server import live_server

PROMPTS: Final = ("Anna Berg, 34, lives in Oslo.", "Ines Roth paid for 3 lamps.", "Hello!")

SHORT: Final = 32
"""Tokens of a request that doesn't come together with others."""

RATE: Final = 12.0
"""Requests a second of the load `spread`."""

APART_S: Final = 0.15
"""Seconds from one request to the next of the load `alone`, in which one has ended long since."""

SPREAD: Final = 48
"""Upper bound on the requests of the load `spread`."""

ALONE: Final = 24
"""Upper bound on the requests of the load `alone`."""

BASELINES: Final = {
    "engine, whole": "engine, whole",
    "engine, streams": "engine, whole",
    "server, whole": "engine, whole",
    "server, streams": "engine, streams",
}
"""With what each subject is compared, where both are measured."""

GOAL_LOST: Final = 10.0
"""Most percent of the throughput that the server's streams may lose."""

GOAL_ADDED_MS: Final = 3.0
"""Most milliseconds that the server may add to the time to the first text, at the median."""


@dataclass(frozen=True)
class Load:
    """Requests of `tokens` tokens each, which are sent `times` seconds after the beginning.
    `floods`: whether they come together, so that the throughput says something."""

    times: list[float]
    tokens: int
    floods: bool = False


@dataclass(frozen=True)
class Round:
    """Figures of one round: tokens a second, microseconds of processor time a token of the
    server's and of the client's process, and the seconds to the first text of each stream."""

    tokens_s: float
    cpu_us: float
    client_us: float
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
                "engine, streams": lambda given: stream_engine(engine, loaded, given),
                "server, streams": lambda given: ask_server(url, given, True),
            }
            floods = load_of_round(0).floods
            if floods:
                subjects["engine, whole"] = lambda given: ask_engine(engine, loaded, given)
                subjects["server, whole"] = lambda given: ask_server(url, given, False)
            rounds = rounds_of(subjects, load_of_round, options.rounds)
            for subject, made in rounds.items():
                row = figures_of(made, rounds.get(BASELINES[subject], made), floods)
                report.add(f"{name}: {subject}", **row)
    report.finish(save=options.save)
    print(goals(report.rows))


def goals(rows: list[dict[str, Figure]]) -> str:
    """The goals, a line each, beside what was found."""
    wanted = (
        ("burst", "lost_%", GOAL_LOST, "% of the throughput lost"),
        ("spread", "added_ms p50", GOAL_ADDED_MS, "ms added to the time to the first text"),
        ("alone", "added_ms p50", GOAL_ADDED_MS, "ms added to the time to the first text"),
    )
    by_case = {row["case"]: row for row in rows}
    lines: list[str] = []
    for name, figure, most, meaning in wanted:
        found = by_case[f"{name}: server, streams"].get(figure)
        if isinstance(found, float):
            verdict = "met" if found <= most else "missed"
            lines.append(f"{name}, streams: {found:g} {meaning}; goal {most:g}: {verdict}")
    return "\n".join(lines)


def loads(options: argparse.Namespace) -> dict[str, Callable[[int], Load]]:
    """What makes each load, by the number of the round."""
    count = options.streams

    def spread(number: int) -> Load:
        draw = random.Random(number)
        return Load(
            list(accumulate(draw.expovariate(RATE) for _ in range(min(count, SPREAD)))), SHORT
        )

    return {
        "burst": lambda number: Load([0.0] * count, options.tokens, floods=True),
        "spread": spread,
        "alone": lambda number: Load([APART_S * at for at in range(min(count, ALONE))], SHORT),
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


def figures_of(made: list[Round], base: list[Round], floods: bool) -> dict[str, float]:
    """Medians of rounds, compared with the rounds of the same numbers in `base`."""
    row: dict[str, float] = {}
    if floods:
        lost = [1 - each.tokens_s / bare.tokens_s for each, bare in zip(made, base, strict=True)]
        row["tokens_s"] = round(statistics.median(each.tokens_s for each in made))
        row["lost_%"] = round(100 * statistics.median(lost), 1)
    more = [each.cpu_us - bare.cpu_us for each, bare in zip(made, base, strict=True)]
    row["cpu_us"] = round(statistics.median(each.cpu_us for each in made), 1)
    row["added_cpu_us"] = round(statistics.median(more), 1)
    row["client_cpu_us"] = round(statistics.median(each.client_us for each in made), 1)
    if first := first_ms(made):
        row["ttft_ms p50"] = round(first, 2)
        row["added_ms p50"] = round(first - (first_ms(base) or first), 2)
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
    return Round(
        tokens / timing.seconds, 1e6 * cpu / tokens, 1e6 * timing.cpu / tokens, timing.first
    )


def body(number: int, tokens: int, stream: bool) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": PROMPTS[number % len(PROMPTS)]}],
        "max_tokens": tokens,
        "ignore_eos": True,
        "seed": number,
        "stream": stream,
    }


def requests_of(loaded: LoadedModel, load: Load) -> list[tuple[float, Request]]:
    """What the server would ask of the engine, and when: prompts of its template, seeds, and no
    end token drawn."""
    prompts = [loaded.render_chat([{"role": "user", "content": text}]) for text in PROMPTS]
    return [
        (
            second,
            Request(
                prompts[number % len(PROMPTS)],
                SamplingParams(seed=number, ignore_eos=True),
                load.tokens,
            ),
        )
        for number, second in enumerate(load.times)
    ]


def ask_engine(engine: Engine, loaded: LoadedModel, load: Load) -> Timing:
    """Give the requests to the engine, and wait for each to end."""
    asked = requests_of(loaded, load)
    started = time.monotonic()
    generations: list[Generation] = []
    for second, request in asked:
        time.sleep(max(0.0, started + second - time.monotonic()))
        generations.append(engine.submit(request))
    for generation in generations:
        generation.result()
    return Timing(time.monotonic() - started, [])


def stream_engine(engine: Engine, loaded: LoadedModel, load: Load) -> Timing:
    """Give the requests to the engine, and read each as a stream, in an event loop of the server's
    kind."""
    factory = uvicorn.Config("", log_config=None).get_loop_factory()
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(read_streams(engine, requests_of(loaded, load)))


async def read_streams(engine: Engine, asked: list[tuple[float, Request]]) -> Timing:
    started = time.monotonic()

    async def read(second: float, request: Request) -> float | None:
        await asyncio.sleep(started + second - time.monotonic())
        begin, first = time.monotonic(), None
        async for delta in engine.submit(request):
            if first is None and delta.text:
                first = time.monotonic() - begin
        return first

    first = await asyncio.gather(*(read(*each) for each in asked))
    return Timing(time.monotonic() - started, [one for one in first if one is not None])


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
