"""Train the demo model on a schedule of wall-clock time; a run can be stopped and resumed.

    python -m examples.demo_model.train --tokenizer DIR --work DIR --minutes 100
    python -m examples.demo_model.train --device cuda --workers 15 ... --minutes 9

On a CPU each worker trains on batches of its own. Every few seconds the workers' weights are
averaged, weighted by the tokens of each, so that a slow core doesn't slow down the others. With
another ``--device`` one model trains there, and the workers make its batches. The learning rate
is constant and falls to zero over the last ``--decay-minutes``. A run that is started again with
an old ``--work`` goes on from its last checkpoint, so that ``--minutes 20 --decay-minutes 20``
starts the decay at once. The tasks grow from short copying to everything over the first
``--easy-tokens``. ``WORK/curve.jsonl`` gets a row at every evaluation, ``WORK/export`` the finished
checkpoint.
"""

import argparse
import ctypes
import time
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import torch
import torch.multiprocessing as mp
from torch import Tensor
from torch.multiprocessing.spawn import start_processes
from transformers import AutoTokenizer

from examples.demo_model.course import Course, rate_factor
from examples.demo_model.log import Log
from examples.demo_model.on_device import learn
from examples.demo_model.state import State


@dataclass(slots=True)
class Shared:
    """What the workers share; ``slots`` [workers, parameters] holds their weights at a meeting."""

    slots: Tensor
    tokens: Tensor
    steps: Tensor
    barrier: Barrier
    deadline: Any
    course: Course


def work(rank: int, shared: Shared, options: argparse.Namespace) -> None:
    """The loop of one worker: train until the deadline, wait for the others, average weights."""
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    state = State(options.work / "latest.pt", options.rate, start=options.start)
    log = Log(state, tokenizer, options) if rank == 0 else None
    course = shared.course
    batches = course.batches(tokenizer, options)
    mean, factor, met = 0.0, 0.0, time.time()
    while not course.stop.value:
        tokens = steps = 0
        while not steps or time.time() < shared.deadline.value:
            factor = rate_factor(state.progress.step + steps, options)
            batch = next(batches)
            loss = state.learn(batch, factor)
            mean = 0.97 * mean + 0.03 * loss if mean else loss
            tokens, steps = tokens + batch.tokens, steps + 1
        shared.slots[rank], shared.tokens[rank], shared.steps[rank] = state.flat(), tokens, steps
        shared.barrier.wait()
        weights = shared.tokens / shared.tokens.sum()
        state.adopt(weights.float() @ shared.slots)
        gained, now = int(shared.tokens.sum()), time.time()
        state.progress.tokens += gained
        state.progress.step += int(shared.steps.sum())
        state.progress.seconds += now - met
        state.progress.index = course.index.value
        if rank == 0:
            course.stop.value = now - options.began >= options.minutes * 60
            course.follow(state.progress, options)
            shared.deadline.value = now + options.round_seconds
        shared.barrier.wait()
        if log:
            log.round(mean, factor, course.level.value, gained, now - met)
            state.save()
        met = now
    if log:
        log.finish(mean)


def _average(state: State, course: Course, options: argparse.Namespace) -> None:
    """Train with workers whose weights are averaged."""
    context = mp.get_context("spawn")
    shared = Shared(
        slots=torch.zeros(options.workers, state.flat().numel()).share_memory_(),
        tokens=torch.zeros(options.workers, dtype=torch.float64).share_memory_(),
        steps=torch.zeros(options.workers, dtype=torch.float64).share_memory_(),
        barrier=context.Barrier(options.workers),
        deadline=context.Value(ctypes.c_double, options.began + options.round_seconds),
        course=course,
    )
    start_processes(work, (shared, options), options.workers, start_method="spawn")


def torch_device(name: str) -> str:
    """A device that torch can compute on."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise argparse.ArgumentTypeError(f"torch can't compute on {name!r}: {reason}") from error
    return name


def main() -> None:
    """Start the workers and wait for them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--start", type=Path, help="a checkpoint to start from, else from nothing")
    parser.add_argument("--decay-minutes", type=float, default=25)
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--easy-tokens", type=float, default=3e6)
    parser.add_argument("--batch-tokens", type=int, default=6000)
    parser.add_argument(
        "--device", type=torch_device, default="cpu", help="as torch names it: cuda"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--round-seconds", type=float, default=20)
    parser.add_argument("--evaluate-every", type=float, default=5e5, help="tokens")
    parser.add_argument("--held-out", type=int, default=200, help="examples of an evaluation")
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    options.began = time.time()
    state = State(
        options.work / "latest.pt", options.rate, start=options.start, device=options.device
    )
    course = Course.begin(mp.get_context("spawn"), state.progress, options)
    if state.device.type == "cpu":
        _average(state, course, options)
    else:
        learn(state, course, options)


if __name__ == "__main__":
    main()
