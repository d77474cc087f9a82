"""Tests of what a grammar process does beside its jobs."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Iterator
from multiprocessing import Pipe

import pytest

from maskwright.processes import worker
from maskwright.processes.messages import Forget
from maskwright.processes.worker import Terms, Worker
from maskwright.workbench.reading import byte_vocabulary
from tests.bounds import PATIENCE

NOTHING = Forget(requests=[], readers=[], grammars=[], taught=[])


class Cycle:
    """An object that only a collection frees."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No collection is made by itself, and a full one is due."""
    gc.collect()
    gc.disable()
    for _ in range(worker.REST_COLLECTIONS):
        gc.collect(1)
    yield
    gc.enable()


@pytest.mark.parametrize("due", [True, False])
def test_garbage_is_collected_while_there_is_no_job(
    due: bool, uncollected: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not before it is due."""
    del uncollected
    monkeypatch.setattr(worker, "REST_SECONDS", 0.0)
    if not due:
        monkeypatch.setattr(worker, "REST_COLLECTIONS", 10**6)
    garbage = Cycle()
    gc.collect(1)  # from now on, only a full collection looks at it
    freed = threading.Event()
    weakref.finalize(garbage, freed.set)
    ours, its = Pipe()
    terms = Terms(shared=True, nbytes=1 << 30, seconds=60)
    thread = threading.Thread(target=Worker(its, byte_vocabulary(), terms).run)
    thread.start()
    try:
        del garbage
        ours.send([NOTHING])
        until = time.monotonic() + PATIENCE
        while not freed.wait(0.2) and due and time.monotonic() < until:
            # Threads that earlier tests have left may have made the one that was due.
            for _ in range(worker.REST_COLLECTIONS):
                gc.collect(1)
            ours.send([NOTHING])
        assert freed.is_set() == due
    finally:
        ours.close()
        thread.join()
