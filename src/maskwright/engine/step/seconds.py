"""Where the time of an engine's steps goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Part = Literal["draft", "plan", "forward", "sample"]


@dataclass(slots=True)
class StepSeconds:
    """Seconds that all steps so far have spent in each part: `wait` for post-step work, where the
    engine does nothing else, `draft` in the draft model, `plan` in the scheduler, deadlines
    included, `forward` in the model, `sample` in sampling. Without overlap, post-step work is part
    of `sample`."""

    wait: float = 0.0
    draft: float = 0.0
    plan: float = 0.0
    forward: float = 0.0
    sample: float = 0.0


class Stopwatch:
    """Adds up the parts of steps in `seconds`. It stands still while the engine waits, for `waited`
    seconds so far."""

    def __init__(self, waited: Callable[[], float]) -> None:
        self.seconds = StepSeconds()
        self._waited = waited
        self._at = 0.0

    def now(self) -> float:
        """The time that it shows."""
        return time.perf_counter() - self._waited()

    def start(self) -> float:
        """Begin a part; returns the time."""
        self._at = self.now()
        return self._at

    def lap(self, part: Part) -> float:
        """Count the time since the last call as one of `part`, and begin the next; returns its
        seconds."""
        begun = self._at
        passed = self.start() - begun
        setattr(self.seconds, part, getattr(self.seconds, part) + passed)
        self.seconds.wait = self._waited()
        return passed
