"""Tests of what a grammar process does beside its jobs."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Iterator
from multiprocessing import Pipe

import pytest

from maskwright.errors import GenerationError
from maskwright.mask import compile_regex
from maskwright.processes import worker
from maskwright.processes.messages import (
    Answer,
    Build,
    Compile,
    Compiled,
    Forget,
    Lesson,
    LookAhead,
    Parcel,
    TextQuestion,
)
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


def test_a_text_at_which_looking_ahead_has_failed_ends_with_that_error() -> None:
    """And not with one that says no more than that it has failed; other texts go on."""
    ours, its = Pipe()
    terms = Terms(shared=False, nbytes=1 << 30, seconds=60)
    thread = threading.Thread(target=Worker(its, byte_vocabulary(), terms).run)
    thread.start()

    def question(request: int, known: int, tokens: list[int]) -> Answer:
        ours.send([TextQuestion(0, request, known, tokens, len(tokens), 9, canonical=False)])
        return ours.recv()

    try:
        build = Parcel(Build(compile_regex, ("a*b",), {}))
        ours.send([Compile(0, build.sent, again=False)])
        assert isinstance(ours.recv(), Compiled)
        assert isinstance(question(1, 0, []), Lesson)
        assert isinstance(question(2, 0, [ord("a")]), Lesson)
        ours.send([LookAhead(0, 1, 0, [ord("c")])])
        failed = question(1, 1, [ord("a")])
        assert isinstance(failed, GenerationError)
        assert f"refused token {ord('c')}" in str(failed)
        assert isinstance(question(2, 1, [ord("b")]), Lesson)
        assert isinstance(question(1, 0, [ord("b")]), Lesson)  # read from its beginning
    finally:
        ours.close()
        thread.join()
