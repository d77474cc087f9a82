"""Tests of what a grammar process does beside its jobs."""

from __future__ import annotations

import gc
import threading
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
from maskwright.processes.worker import Terms, Worker, begin
from maskwright.workbench.reading import byte_vocabulary

NOTHING = Forget(texts=[], grammars=[], taught=[])


class Cycle:
    """An object that only a collection frees."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No collection is made by itself."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize(
    ("rest_objects", "most_objects", "busy", "due"),
    [
        (0, 10**9, False, True),
        (10**9, 10**9, False, False),
        (0, 10**9, True, False),
        (0, 0, True, True),
    ],
    ids=["rests", "little is new", "busy", "never rests"],
)
def test_garbage_is_collected_between_jobs_when_it_is_due(
    rest_objects: int,
    most_objects: int,
    busy: bool,
    due: bool,
    uncollected: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del uncollected
    monkeypatch.setattr(worker, "REST_SECONDS", 0.0)
    monkeypatch.setattr(worker, "REST_OBJECTS", rest_objects)
    monkeypatch.setattr(worker, "MOST_OBJECTS", most_objects)
    garbage = weakref.ref(Cycle())
    ours, its = Pipe()
    if busy:
        ours.send([NOTHING])
    process = Worker(its, byte_vocabulary(), Terms(shared=True, nbytes=1 << 30, seconds=60))
    process._rest()
    assert (garbage() is None) == due
    ours.close()


def test_a_grammar_process_makes_no_collection_by_itself(
    uncollected: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    del uncollected
    monkeypatch.setattr(worker.resource, "setrlimit", lambda *_: None)
    gc.enable()
    ours, its = Pipe()
    ours.close()
    begin(its, byte_vocabulary(), Terms(shared=True, nbytes=1 << 40, seconds=60))
    assert not gc.isenabled()


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
