"""Python's garbage collector in a server: full collections while no request is being answered.

A full collection looks at every object of the oldest generation, which takes tens of milliseconds
once some grammars are compiled, and by default it comes in the middle of an answer. Here objects
that were loaded before serving are never looked at again, collections of young objects stay small,
and full ones are made while the engine is idle; if it never is, every `LONGEST_S` seconds.

The memory that a collection frees is then returned to the system. By itself glibc's `malloc` does
that only for memory at the end of the heap, so that most of what compiling needs for a moment would
be kept.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (2_000, 2, 25_000)
"""Arguments of `gc.set_threshold`: a collection never looks at more than 6,000 new objects, which
takes a millisecond, and the oldest generation is collected after 150 million."""
EVERY_S: Final = 5.0
"""Seconds between two checks whether the engine is idle."""
LONGEST_S: Final = 600.0
"""Seconds after which a full collection is made though the engine is busy."""


@contextmanager
def collecting(idle: Callable[[], bool], every: float = EVERY_S) -> Generator[None]:
    """Collect while `idle`. At the end of the block the collector's settings are put back."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    stopped = threading.Event()
    thread = threading.Thread(
        target=_collect, args=(idle, every, stopped), name="maskwright-collector", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
        gc.set_threshold(*before)
        gc.unfreeze()


def _collect(idle: Callable[[], bool], every: float, stopped: threading.Event) -> None:
    last = time.monotonic()
    clean = True
    while not stopped.wait(every):
        now = time.monotonic()
        resting = idle()
        clean &= resting
        if (resting and not clean) or now - last > LONGEST_S:
            clean_up()
            last, clean = now, True


def clean_up() -> None:
    """Collect everything, and return the freed memory to the system."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # glibc has it, other C libraries don't
        trim(0)
