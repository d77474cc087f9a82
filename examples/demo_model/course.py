"""What all processes of a run share: which examples are used, how hard the tasks are, and when the
run ends."""

import argparse
import ctypes
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from typing import Any

from transformers import PreTrainedTokenizerFast

from examples.demo_model.batches import Batch, stream
from examples.demo_model.state import Progress

POOL = 384
"""Examples that a process takes at a time; their batches have rows of similar length."""
WARM = 50
"""Steps over which the rate rises."""


@dataclass(slots=True)
class Course:
    """Shared values: the first unused example, the difficulty (0 to 1), and whether to stop."""

    index: Any
    level: Any
    stop: Any

    @classmethod
    def begin(
        cls, context: BaseContext, progress: Progress, options: argparse.Namespace
    ) -> "Course":
        """Where a run begins, or goes on."""
        course = cls(
            index=context.Value(ctypes.c_longlong, progress.index),
            level=context.Value(ctypes.c_double, 0.0),
            stop=context.Value(ctypes.c_bool, options.minutes <= 0),
        )
        course.follow(progress, options)
        return course

    def follow(self, progress: Progress, options: argparse.Namespace) -> None:
        """Set the difficulty that belongs to the tokens so far."""
        self.level.value = min(1.0, progress.tokens / options.easy_tokens)

    def batches(
        self, tokenizer: PreTrainedTokenizerFast, options: argparse.Namespace
    ) -> Iterator[Batch]:
        """Endless batches of examples that no process has used yet."""
        while True:
            with self.index.get_lock():
                start = self.index.value
                self.index.value += POOL
            yield from stream(
                tokenizer, options.seed, start, self.level.value, POOL, options.batch_tokens
            )


def rate_factor(step: int, options: argparse.Namespace) -> float:
    """The share of the full rate that a step gets now: it rises first, and falls to zero by the
    end."""
    left = options.minutes * 60 - (time.time() - options.began)
    decay = max(options.decay_minutes * 60, 1e-9)
    return min(1.0, (step + 1) / WARM) * max(0.0, min(1.0, left / decay))
