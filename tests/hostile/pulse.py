"""How late the machine lets a process work that needs little: what other work there is.

A process of its own works for a few milliseconds now and then, and tells how much longer that took
than the processor time that it needed. A server cannot be faster than this, whatever it does; a
test that runs on a busy machine allows for it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

EVERY: Final = 0.05
"""Seconds between two beats."""
WORK: Final = 0.005
"""Seconds of processor time of a beat: more than the system gives to a process at once, so that a
beat has to wait for others as longer work does."""

_PROGRAM: Final = f"""
import time
while True:
    begin = time.monotonic()
    time.sleep({EVERY})
    worked = time.thread_time() + {WORK}
    while time.thread_time() < worked:
        pass
    end = time.monotonic()
    print(end, end - begin - {EVERY + WORK}, flush=True)
"""


@dataclass(frozen=True)
class Beat:
    """When the process had worked, and by how many seconds that was late."""

    end: float
    late: float


@dataclass
class Pulse:
    """The process, while a `with` block runs."""

    beats: list[Beat] = field(default_factory=list[Beat])

    def __enter__(self) -> Pulse:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", _PROGRAM], stdout=subprocess.PIPE, text=True
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()

    def during(self, begin: float, end: float) -> Sequence[float]:
        """How late the beats were that overlap a time, each in seconds. It returns when the first
        beat after that time is there."""
        while (not self.beats or self.beats[-1].end < end) and self._thread.is_alive():
            time.sleep(EVERY)
        found: list[float] = []
        for beat in reversed(self.beats):
            if beat.end < begin:
                break
            found.append(beat.late)
        return found

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                if not line.endswith("\n"):
                    return  # the process was killed while it wrote this line
                end, late = map(float, line.split())
                self.beats.append(Beat(end, late))
