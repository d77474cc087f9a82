"""Python's garbage collector in a server: it looks through everything when nobody waits.

A full collection looks at every object that lives long, tens of milliseconds with some grammars
compiled, and by itself comes in the middle of an answer. Here what is loaded before serving is
never looked at again, collections of young objects stay small, and full ones are made while the
engine has nothing to do; or, where it always has, once in `LONGEST_S`.

What has been let go of is then given back to the system, which glibc's `malloc` only does by itself
where it lies at the end of the heap: of what compiling takes for a moment most would be kept.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (2_000, 10, 5_000)
"""As for `gc.set_threshold`: the oldest generation is left alone for 100 million new objects."""
EVERY_S: Final = 5.0
"""Seconds between two looks at whether the engine is idle."""
LONGEST_S: Final = 600.0
"""Seconds after which a full collection is made all the same."""


@contextmanager
def collecting(idle: Callable[[], bool], every: float = EVERY_S) -> Generator[None]:
    """Collect while `idle`; on the way out everything is as it was."""
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
    """Collect everything, and give back what that frees."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # as in glibc
        trim(0)
