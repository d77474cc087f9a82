"""What blocks of keys and values that arrive from another server do to the steps of answers.

    python benchmarks/server/arriving_blocks.py [--tokens-s 5000] [--rounds 8] [--save]

An engine with the shipped model decodes `--streams` answers in a server that takes blocks, as
`maskwright serve` with a hand-off key does. In turns, nothing arrives, and a process of its own
sends the blocks of `--prompt` tokens each, as a server for prompts does that computes `--tokens-s`
tokens a second: it asks what is lacking, and sends eight blocks a message. A round has two turns of
each kind; one kind has the first and the last turn.

The engine's thread has a core of its own, on which nothing else of this benchmark runs in any turn:
the server's event loop, the threads of its requests and the sender share the others. So what is
measured is what arriving blocks do to an engine, not how many processes fit on a core. `--shared`
pins nothing, as where a server and its senders share a small machine.

`step_ms` is the time from the beginning of one step to that of the next one, work between the steps
included, and `cpu_ms` the processor time of the engine's thread for it, which other work on the
machine hardly changes. `longer_%` is by how much their means are larger than in the turns of the
round in which nothing arrives: the median over the rounds. `between_%` is the share of work
between the steps, such as writing blocks, in the processor time of the engine's thread.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
import torch

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report
from maskwright.dist.handoff.http_names import BLOCKS_PATH, HANDOFF_KEY, LACKING_PATH
from maskwright.dist.handoff.pieces import CHUNK_BLOCKS, Piece, pack_message, pack_prefix
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.engine.kv.block_keys import block_keys
from maskwright.engine.step.exchange import KvLayout, KvPrefix
from maskwright.models import DEMO_PATH, load
from maskwright.sampling import SamplingParams
from maskwright.server import ServerConfig, create_app
from tests.live_server import live_server

KEY: Final = "in common"
SEND: Final = "from benchmarks.server.arriving_blocks import send; send()"
MOST_TOKENS: Final = 2000
"""Tokens of an answer, which nobody reads meanwhile."""

CASES: Final = ("nothing arrives", "blocks arrive")


@dataclass
class StepTimes:
    """When steps began: by the clock, and by the processor time of the engine's thread."""

    clock: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])
    calls: float = 0.0
    """Seconds of processor time of work between steps so far."""

    def watch(self, engine: Engine, own_core: int | None) -> None:
        """Note every step of `engine` from now on, and let its thread run on `own_core` alone."""
        # What an engine does within and between steps shows in nothing that is public.
        core, calls = engine._core, engine._calls  # pyright: ignore[reportPrivateUsage]
        step, pinned = core.step, own_core is None

        def watched() -> None:
            nonlocal pinned
            if not pinned:
                assert own_core is not None
                pin({own_core})
                pinned = True
            self.clock.append(time.perf_counter())
            self.processor.append(time.thread_time())
            step()

        core.step = watched
        run_one = calls.run_one

        def watched_call(*, busy: bool = False) -> None:
            began = time.thread_time()
            run_one(busy=busy)
            self.calls += time.thread_time() - began

        calls.run_one = watched_call

    def since(self, begin: int) -> tuple[list[float], list[float]]:
        """Milliseconds of the steps from number `begin` on, by both."""
        return _differences(self.clock[begin:]), _differences(self.processor[begin:])


@dataclass
class Turns:
    """Mean milliseconds of a step in each turn or round, the share of work between steps in the
    processor time of each, and all steps by the clock."""

    clock: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])
    shares: list[float] = field(default_factory=list[float])
    steps: list[float] = field(default_factory=list[float])

    def add(self, two: Turns) -> None:
        """Take the mean of the turns of one round."""
        self.clock.append(statistics.fmean(two.clock))
        self.processor.append(statistics.fmean(two.processor))
        self.shares.append(statistics.fmean(two.shares))
        self.steps += two.steps


def main() -> None:
    options = arguments()
    settings = {name: value for name, value in vars(options).items() if name != "save"}
    report = Report("arriving_blocks", packages=("torch", "uvicorn"), **settings)
    turns = {case: Turns() for case in CASES}
    times, sent = StepTimes(), 0.0
    own_core = None if options.shared else divide_cores()
    config = EngineConfig(max_running=options.streams, reader_tokens=MOST_TOKENS)
    with Engine(load(DEMO_PATH), config) as engine:
        times.watch(engine, own_core)
        app = create_app(engine, ServerConfig(handoff_key=KEY))
        with live_server(app) as url, sender(url, engine, options) as process:
            for number in range(options.rounds + 1):
                tell(process, "prepare")  # before the answers, whose steps grow with their length
                with answers(engine, options.streams, number):
                    measured = {case: Turns() for case in CASES}
                    order = CASES if number % 2 else CASES[::-1]
                    for case in (*order, *order[::-1]):  # as steps grow longer with the answers
                        begin, before = len(times.clock), times.calls
                        if case == CASES[1]:
                            sent += float(tell(process, "send")) * (number > 0)
                        else:
                            time.sleep(options.seconds)
                        note(measured[case], *times.since(begin), times.calls - before)
                    for case, made in measured.items() if number else ():  # the first warms up
                        turns[case].add(made)
    for case, made in turns.items():
        report.add(case, **figures_of(made, turns[CASES[0]]))
    report.add("sent", MiB_s=round(sent / options.rounds / (2 * options.seconds) / 2**20, 1))
    report.finish(save=options.save)


def divide_cores() -> int:
    """Take a core from this thread, and so from the threads and processes that it starts from now
    on. Returns the core."""
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        raise SystemExit("a core for the engine and another one are needed; see --shared")
    own = max(cores)
    pin(cores - {own})
    torch.set_num_threads(1)  # products would otherwise be computed on the other cores as well
    return own


def pin(cores: set[int]) -> None:
    """Let the calling thread run on `cores` alone."""
    os.sched_setaffinity(0, cores)


def note(turns: Turns, clock: list[float], processor: list[float], calls: float) -> None:
    turns.clock.append(statistics.fmean(clock))
    turns.processor.append(statistics.fmean(processor))
    turns.shares.append(1e3 * calls / sum(processor))
    turns.steps += clock


def figures_of(made: Turns, quiet: Turns) -> dict[str, float]:
    """Times of a step, and how much longer they are than without blocks."""
    ordered = sorted(made.steps)
    return {
        "step_ms p50": round(statistics.median(ordered), 3),
        "step_ms p99": round(ordered[len(ordered) * 99 // 100], 3),
        "longer_%": round(longer(made.clock, quiet.clock), 1),
        "cpu_ms mean": round(statistics.median(made.processor), 3),
        "cpu longer_%": round(longer(made.processor, quiet.processor), 1),
        "between_%": round(100 * statistics.median(made.shares), 1),
    }


def longer(made: list[float], quiet: list[float]) -> float:
    """By how many percent the turns of one case are longer: the median over the rounds."""
    ratios = [ours / theirs for ours, theirs in zip(made, quiet, strict=True)]
    return 100 * (statistics.median(ratios) - 1)


@contextmanager
def answers(engine: Engine, count: int, seed: int) -> Generator[None]:
    """`count` answers that are being decoded while the block runs."""
    prompts = [list(range(100 + number, 140 + number)) for number in range(count)]
    running = [
        engine.submit(Request(prompt, SamplingParams(seed=seed), MOST_TOKENS, eos=()))
        for prompt in prompts
    ]
    for generation in running:
        next(iter(generation))
    yield
    for generation in running:
        generation.cancel()
    while not engine.idle:
        time.sleep(0.01)


# The process that sends --------------------------------------------------------------------------


@contextmanager
def sender(
    url: str, engine: Engine, options: argparse.Namespace
) -> Generator[subprocess.Popen[str]]:
    """The process that sends blocks, while the block runs."""
    salt = engine.kv_prefix(Request([1], SamplingParams(), 1)).salt
    task = {"url": url, "layout": asdict(engine.kv_layout()), "salt": salt, **vars(options)}
    command = [sys.executable, "-c", SEND]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdin is not None
        process.stdin.write(json.dumps(task) + "\n")
        yield process
    finally:
        process.kill()
        process.communicate()


def tell(process: subprocess.Popen[str], what: str) -> str:
    """Have the sender do something, and return what it says of it."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(what + "\n")
    process.stdin.flush()
    return process.stdout.readline()


def send() -> None:
    """Prepare messages and send them, as standard input says."""
    task = json.loads(sys.stdin.readline())
    messages: Iterator[tuple[str, bytes]] = iter(())
    with httpx.Client(base_url=task["url"], headers={HANDOFF_KEY: KEY}) as client:
        for line in sys.stdin:
            if line.strip() == "prepare":
                messages = iter(prepared(task))
                print("ready", flush=True)
            else:
                print(send_all(client, messages, task), flush=True)


def send_all(
    client: httpx.Client, messages: Iterator[tuple[str, bytes]], task: dict[str, Any]
) -> int:
    """Send messages for the time of a turn, at the rate of `task`; returns the bytes."""
    began, sent = time.monotonic(), 0
    seconds, pause = task["seconds"], 16 * CHUNK_BLOCKS / task["tokens_s"]
    count = 0
    for path, body in messages:
        if path == BLOCKS_PATH:
            count += 1
            time.sleep(max(0.0, began + count * pause - time.monotonic()))
        if time.monotonic() - began > seconds:
            break
        client.post(path, content=body, timeout=60).raise_for_status()
        sent += len(body)
    time.sleep(max(0.0, began + seconds - time.monotonic()))
    return sent


def prepared(task: dict[str, Any]) -> list[tuple[str, bytes]]:
    """The messages of the two turns of a round, of prompts that nobody has."""
    fields = task["layout"]
    layout = KvLayout(**(fields | {"kind": tuple(fields["kind"])}))
    salt, size = tuple(task["salt"]), layout.block_size
    rng = random.Random()
    block = np.zeros((layout.layers, layout.layer_bytes), np.uint8)
    messages: list[tuple[str, bytes]] = []
    for _ in range(1 + int(2 * task["seconds"] * task["tokens_s"] / task["prompt"])):
        prefix = KvPrefix(salt, [rng.randrange(4, 4000) for _ in range(task["prompt"])])
        head = pack_prefix(layout, prefix)
        keys = block_keys(prefix.tokens, size, repr(salt))
        messages.append((LACKING_PATH, head))
        for begin in range(0, len(keys), CHUNK_BLOCKS):
            pieces = [Piece(at, 0, block) for at in range(begin, min(begin + 8, len(keys)))]
            messages.append((BLOCKS_PATH, head + pack_message(pieces, keys)))
    return messages


def _differences(moments: list[float]) -> list[float]:
    return [1e3 * (after - before) for before, after in pairwise(moments)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--tokens-s", type=float, default=5000.0)
    parser.add_argument("--prompt", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a turn")
    parser.add_argument("--shared", action="store_true", help="pin no thread to a core")
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
