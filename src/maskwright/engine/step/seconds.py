"""Where the time of an engine's steps goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

Part = Literal["draft", "plan", "forward", "sample"]


class Stopwatch:
    """Adds up the parts of steps. It stands still while the engine waits, for `waited` seconds so
    far."""

    def __init__(self, waited: Callable[[], float]) -> None:
        parts = ("wait", "draft", "plan", "forward", "sample")
        self.seconds = dict.fromkeys(parts, 0.0)
        """What all steps so far have spent in each part: `wait` for post-step work, where the
        engine does nothing else, `draft` in the draft model, `plan` in the scheduler, deadlines
        included, `forward` in the model, `sample` in sampling. Without overlap, post-step work is
        part of `sample`."""
        self._waited = waited
        self._at = 0.0

    def now(self) -> float:
        """The time that it shows."""
        return time.perf_counter() - self._waited()

    def start(self) -> None:
        """Begin a part."""
        self._at = self.now()

    def lap(self, part: Part) -> None:
        """Count the time since the last call as one of `part`, and begin the next."""
        begun, self._at = self._at, self.now()
        self.seconds[part] += self._at - begun
        self.seconds["wait"] = self._waited()
