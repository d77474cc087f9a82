"""One model on a device, usually a GPU, with batches that worker processes make.

A small model learns from a batch in some ten milliseconds on a GPU, and making a batch takes a
processor several times as long, so it takes many processes to keep a GPU busy.
"""

import argparse
import time
from queue import Empty
from typing import Any

import torch
import torch.multiprocessing as mp
from torch.multiprocessing.spawn import start_processes
from transformers import AutoTokenizer

from examples.demo_model.course import Course, rate_factor
from examples.demo_model.log import Log
from examples.demo_model.state import State

WAITING = 4
"""Batches that may wait for the model, for each process that makes them."""


def make_batches(_rank: int, course: Course, waiting: Any, options: argparse.Namespace) -> None:
    """The loop of a process that makes batches, until the process is ended."""
    torch.set_num_threads(1)
    for batch in course.batches(AutoTokenizer.from_pretrained(options.tokenizer), options):
        waiting.put(batch)


def learn(state: State, course: Course, options: argparse.Namespace) -> None:
    """Train `state` until the time is over; the checkpoint is written every round."""
    waiting = mp.get_context("spawn").Queue(WAITING * options.workers)
    makers: Any = start_processes(
        make_batches,
        (course, waiting, options),
        options.workers,
        join=False,
        daemon=True,
        start_method="spawn",
    )
    try:
        _rounds(state, course, waiting, makers, options)
    finally:
        for process in makers.processes:
            process.terminate()


def _rounds(
    state: State, course: Course, waiting: Any, makers: Any, options: argparse.Namespace
) -> None:
    log = Log(state, AutoTokenizer.from_pretrained(options.tokenizer), options)
    progress, mean = state.progress, 0.0
    while not course.stop.value:
        began, tokens, waited, factor = time.time(), 0, 0.0, 0.0
        while not tokens or time.time() - began < options.round_seconds:
            asked = time.time()
            batch = _next(waiting, makers)
            waited += time.time() - asked
            factor = rate_factor(progress.step, options)
            loss = state.learn(batch, factor)
            mean = 0.97 * mean + 0.03 * loss if mean else loss
            tokens, progress.step = tokens + batch.tokens, progress.step + 1
        seconds = time.time() - began
        progress.tokens += tokens
        progress.seconds += seconds
        progress.index = course.index.value
        course.follow(progress, options)
        course.stop.value = time.time() - options.began >= options.minutes * 60
        print(f"waited for batches for {waited / seconds:.0%} of the time")
        log.round(mean, factor, course.level.value, tokens, seconds)
        state.save()
    log.finish(mean)


def _next(waiting: Any, makers: Any) -> Any:
    """The next batch; an error where a process that makes them has ended."""
    while True:
        try:
            return waiting.get(timeout=5)
        except Empty:
            makers.join(timeout=0)
