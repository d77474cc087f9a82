"""Train the demo model on a schedule of wall-clock time; a run can be stopped and resumed.

    python -m examples.demo_model.train --tokenizer DIR --work DIR --minutes 100

Each worker trains on batches of its own. Every few seconds the workers' weights are averaged,
weighted by the tokens of each, so that a slow core doesn't slow down the others. The learning rate
is constant and falls to zero over the last ``--decay-minutes``. A run that is started again with
an old ``--work`` goes on from its last checkpoint, so that ``--minutes 20 --decay-minutes 20``
starts the decay at once. The tasks grow from short copying to everything over the first
``--easy-tokens``. ``WORK/curve.jsonl`` gets a row at every evaluation, ``WORK/export`` the finished
checkpoint.
"""

import argparse
import ctypes
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import torch
import torch.multiprocessing as mp
from torch import Tensor
from transformers import AutoTokenizer

from examples.demo_model.batches import Batch, stream
from examples.demo_model.held_out import HeldOut, evaluate, greedy, held_out
from examples.demo_model.llama import save
from examples.demo_model.state import State

POOL = 384


@dataclass(slots=True)
class Shared:
    """What the workers share; ``slots`` [workers, parameters] holds their weights at a meeting."""

    slots: Tensor
    tokens: Tensor
    steps: Tensor
    barrier: Barrier
    index: Any
    deadline: Any
    level: Any
    stop: Any


def _batches(shared: Shared, tokenizer: Any, options: argparse.Namespace) -> Iterator[Batch]:
    """Endless batches of examples that no worker has used yet."""
    while True:
        with shared.index.get_lock():
            start = shared.index.value
            shared.index.value += POOL
        yield from stream(
            tokenizer, options.seed, start, shared.level.value, POOL, options.batch_tokens
        )


class Log:
    """The log of a run, which the first worker prints and writes."""

    def __init__(self, state: State, tokenizer: Any, options: argparse.Namespace) -> None:
        self.state, self.tokenizer, self.options = state, tokenizer, options
        self.examples: HeldOut = held_out(tokenizer, options.held_out)
        self.evaluated = state.progress.tokens

    def round(self, loss: float, factor: float, level: float, tokens: int, seconds: float) -> None:
        """Print a line when weights have been averaged, and evaluate after enough tokens."""
        progress = self.state.progress
        print(
            f"step {progress.step} tokens {progress.tokens / 1e6:.2f}M loss {loss:.3f} "
            f"level {level:.2f} factor {factor:.2f} {tokens / seconds:.0f} tokens/s",
            flush=True,
        )
        if progress.tokens - self.evaluated >= self.options.evaluate_every:
            self.evaluated = progress.tokens
            self.evaluate(loss)

    def evaluate(self, loss: float) -> None:
        """Add a row to the curve, and print one example as the model decodes it."""
        progress, model = self.state.progress, self.state.model
        held_loss, exact = evaluate(model, self.examples, self.tokenizer.pad_token_id)
        row = {
            "step": progress.step,
            "tokens": progress.tokens,
            "minutes": round(progress.seconds / 60, 1),
            "loss": round(loss, 4),
            "held_out_loss": round(held_loss, 4),
            "held_out_values_exact": round(exact, 4),
        }
        with (self.options.work / "curve.jsonl").open("a") as curve:
            curve.write(json.dumps(row) + "\n")
        sample = self.examples.rows[progress.step % len(self.examples.rows)]
        answer = greedy(model, sample.prompt, self.tokenizer.eos_token_id)
        print(row, self.tokenizer.decode(answer), flush=True)


def work(rank: int, shared: Shared, options: argparse.Namespace) -> None:
    """The loop of one worker: train until the deadline, wait for the others, average weights."""
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    state = State(options.work / "latest.pt", options.rate, start=options.start)
    log = Log(state, tokenizer, options) if rank == 0 else None
    total, decay = options.minutes * 60, max(options.decay_minutes * 60, 1e-9)
    batches = _batches(shared, tokenizer, options)
    mean, factor, met = 0.0, 0.0, time.time()
    while not shared.stop.value:
        tokens = steps = 0
        while not steps or time.time() < shared.deadline.value:
            left = total - (time.time() - options.began)
            warm = min(1.0, (state.progress.step + steps + 1) / 50)
            factor = warm * max(0.0, min(1.0, left / decay))
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
        state.progress.index = shared.index.value
        if rank == 0:
            shared.stop.value = now - options.began >= total
            shared.level.value = min(1.0, state.progress.tokens / options.easy_tokens)
            shared.deadline.value = now + options.round_seconds
        shared.barrier.wait()
        if log:
            log.round(mean, factor, shared.level.value, gained, now - met)
            state.save()
        met = now
    if log:
        end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
        save(state.model, options.work / "export", end, pad)
        tokenizer.save_pretrained(options.work / "export", save_jinja_files=False)
        log.evaluate(mean)


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
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--round-seconds", type=float, default=20)
    parser.add_argument("--evaluate-every", type=float, default=5e5, help="tokens")
    parser.add_argument("--held-out", type=int, default=200, help="examples of an evaluation")
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    options.began = time.time()
    state = State(options.work / "latest.pt", options.rate, start=options.start)
    context = mp.get_context("spawn")
    shared = Shared(
        slots=torch.zeros(options.workers, state.flat().numel()).share_memory_(),
        tokens=torch.zeros(options.workers, dtype=torch.float64).share_memory_(),
        steps=torch.zeros(options.workers, dtype=torch.float64).share_memory_(),
        barrier=context.Barrier(options.workers),
        index=context.Value(ctypes.c_longlong, state.progress.index),
        deadline=context.Value(ctypes.c_double, options.began + options.round_seconds),
        level=context.Value(ctypes.c_double, min(1.0, state.progress.tokens / options.easy_tokens)),
        stop=context.Value(ctypes.c_bool, options.minutes <= 0),
    )
    mp.start_processes(work, (shared, options), options.workers, start_method="spawn")


if __name__ == "__main__":
    main()
