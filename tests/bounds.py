"""Bounds that hold on any processor under any load: patience for what must come, calls for work.

A test waits for a state with `wait_until`, whose limit only ends a test that has failed, and asks
how much work something is by counting calls, not by a clock.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import maskwright

PATIENCE = 200.0
"""Seconds after which a test that waits has failed: less than `timeout` in pyproject.toml, and
more than compiling everything takes on a slow machine at work."""

_PACKAGE = str(Path(maskwright.__file__).parent)


def wait_until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Return once `condition()` is true, and fail where it is not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


@dataclass(slots=True)
class Calls:
    """How many calls of the package's Python functions there were so far."""

    count: int = 0


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """Count calls of the package's functions in this thread while the block runs. Neither the
    processor, nor its load, nor whether compiled code had to be compiled changes the count."""
    calls = Calls()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_PACKAGE):
            calls.count += 1

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)
