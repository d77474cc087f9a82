"""Full collections come while nothing is asked, and leave the process as it was."""

from __future__ import annotations

import ctypes
import gc
import time
import weakref
from pathlib import Path

import pytest

from maskwright.cli.process.collector import THRESHOLDS, collecting
from tests.bounds import PATIENCE


class Knot:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.own = self


def dropped() -> weakref.ref[Knot]:
    """One that a young collection does not see."""
    knot = Knot()
    gc.collect()
    return weakref.ref(knot)


def gone(ref: weakref.ref[Knot], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while ref() is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    return ref() is None


def test_garbage_goes_once_the_engine_rests() -> None:
    before = gc.get_threshold()
    busy = True
    with collecting(lambda: not busy, every=0.01):
        assert gc.get_threshold() == THRESHOLDS
        ref = dropped()
        assert not gone(ref, 0.2)
        busy = False
        assert gone(ref, PATIENCE)
    assert gc.get_threshold() == before


def test_nothing_is_collected_where_nothing_happened() -> None:
    with collecting(lambda: True, every=0.01):
        ref = dropped()
        assert not gone(ref, 0.2)


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="malloc gives back by itself, or never"
)
def test_memory_goes_back_to_the_system_once_the_engine_rests() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    busy = True
    with collecting(lambda: not busy, every=0.01):
        blocks = [bytes(2_000) for _ in range(40_000)]
        end = blocks.pop()
        full = resident()
        blocks.clear()
        assert resident() > full - 20_000_000  # for `end` stands behind it
        busy = False
        deadline = time.monotonic() + PATIENCE
        while resident() > full - 60_000_000 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert resident() <= full - 60_000_000
    assert end
