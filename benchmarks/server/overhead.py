"""What the HTTP server and streaming cost over the bare engine: throughput and time to first text.

    python benchmarks/server/overhead.py [--streams 64] [--tokens 128] [--rounds 7] [--save]

In turns, round after round, the same requests (free text of exactly `--tokens` tokens) are given to
the engine directly, to the server for whole answers, and to the server as streams, by a client in
a process of its own that takes chunks apart no further than it must. Engine and server share a
process, as in `maskwright serve`. The model is the demo model: a step of it takes so little that
the server's share is as large as it gets.

`tokens_s` are tokens a second, `cpu_us` the processor time of the server's process for each token
(which other work on the machine hardly changes), `ttft_ms` the time from sending a request until
its first text. `lost_%` and `added_ms` compare medians of the rounds with those of the engine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report
from benchmarks.server.load_client import Timing
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.models import DEMO_PATH, LoadedModel, load
from maskwright.models.chat import chat_tokens
from maskwright.sampling import SamplingParams
from maskwright.server import create_app
from tests.live_server import live_server

PROMPTS: Final = ("Anna Berg, 34, lives in Oslo.", "Ines Roth paid for 3 lamps.", "Hello!")


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
    with Engine(loaded, config) as engine, live_server(create_app(engine)) as url:
        subjects: dict[str, Callable[[], Round]] = {
            "engine": lambda: measured(lambda: ask_engine(engine, loaded, options), options),
            "server, whole": lambda: measured(lambda: ask_server(url, options, False), options),
            "server, streams": lambda: measured(lambda: ask_server(url, options, True), options),
        }
        for ask in subjects.values():
            ask()
        rounds: dict[str, list[Round]] = {name: [] for name in subjects}
        for _ in range(options.rounds):
            for name, ask in subjects.items():
                rounds[name].append(ask())
    engine_rounds = rounds["engine"]
    for name, made in rounds.items():
        report.add(name, **figures_of(made, engine_rounds))
    report.finish(save=options.save)


def figures_of(made: list[Round], engine: list[Round]) -> dict[str, float]:
    """Medians of rounds, compared with the engine's in the round of the same number."""
    lost = [1 - each.tokens_s / bare.tokens_s for each, bare in zip(made, engine, strict=True)]
    more = [each.cpu_us - bare.cpu_us for each, bare in zip(made, engine, strict=True)]
    row = {
        "tokens_s": round(statistics.median(each.tokens_s for each in made)),
        "lost_%": round(100 * statistics.median(lost), 1),
        "cpu_us": round(statistics.median(each.cpu_us for each in made), 1),
        "added_cpu_us": round(statistics.median(more), 1),
    }
    if first := first_ms(made):
        row["ttft_ms p50"] = round(first, 2)
        row["added_ms p50"] = round(first - (first_ms(engine) or first), 2)
    return row


def first_ms(rounds: list[Round]) -> float | None:
    """The median over all streams of all rounds, in milliseconds."""
    seconds = [one for each in rounds for one in each.first]
    return 1000 * statistics.median(seconds) if seconds else None


def measured(ask: Callable[[], Timing], options: argparse.Namespace) -> Round:
    started = time.process_time()
    timing = ask()
    cpu = time.process_time() - started
    tokens = options.streams * options.tokens
    return Round(tokens / timing.seconds, 1e6 * cpu / tokens, timing.first)


def body(number: int, options: argparse.Namespace, stream: bool) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": PROMPTS[number % len(PROMPTS)]}],
        "max_tokens": options.tokens,
        "ignore_eos": True,
        "seed": number,
        "stream": stream,
    }


def ask_engine(engine: Engine, loaded: LoadedModel, options: argparse.Namespace) -> Timing:
    """The same prompts and seeds, of which the server's template makes the tokens here as well."""
    prompts = [
        chat_tokens(loaded.tokenizer, [{"role": "user", "content": text}]) for text in PROMPTS
    ]
    started = time.monotonic()
    generations = [
        engine.submit(
            Request(
                prompts[number % len(PROMPTS)], SamplingParams(seed=number), options.tokens, eos=()
            )
        )
        for number in range(options.streams)
    ]
    for generation in generations:
        generation.result()
    seconds = time.monotonic() - started
    traces = [generation.trace for generation in generations]
    return Timing(seconds, [each.ttft_ms / 1e3 for each in traces if each and each.ttft_ms])


def ask_server(url: str, options: argparse.Namespace, stream: bool) -> Timing:
    bodies = [body(number, options, stream) for number in range(options.streams)]
    client = subprocess.run(
        [sys.executable, "-c", "from benchmarks.server.load_client import main; main()", url],
        cwd=ROOT,
        input=json.dumps(bodies),
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
