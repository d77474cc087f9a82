"""The work between two tokens, inline and in its thread: its order, and whom a failure concerns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from maskwright.engine import FinishReason
from maskwright.engine.request.active import Active, Advance, Masks
from maskwright.engine.step.post_step import PostStepWork

MASKS = Masks((np.zeros(1, np.int32),))
WAIT = 60.0


class Asked:
    """Stands in for a request: notes what is done for it."""

    def __init__(
        self,
        name: str,
        log: list[str],
        *,
        reason: FinishReason | None = None,
        fails: str = "",
        begin: Callable[[], object] = bool,
    ) -> None:
        self.name, self.log, self.reason, self.fails, self.begin = name, log, reason, fails, begin
        self.closed = False
        self.generation = SimpleNamespace(record=self)
        self.lacks = 0
        """Answers that are needed before the grammar is known."""
        self.questions: list[Callable[[Any], None]] = []

    def knows(self, tokens: list[int]) -> bool:
        return self.lacks <= 0

    def ask(self, tokens: list[int], then: Callable[[Any], None]) -> None:
        self.note("ask", tokens)
        self.questions.append(then)

    def answered(self, seconds: float, seen: object) -> None:
        """As its record notes it."""
        assert seconds >= 0

    def learn(self) -> None:
        self.note("learn", "all")
        self.lacks -= 1

    def advance(self, tokens: list[int]) -> Advance:
        self.begin()
        self.note("advance", tokens)
        return Advance(self.reason, draft=(7,))

    def prepare(self, draft: tuple[int, ...]) -> Masks:
        self.note("prepare", draft)
        return MASKS

    def note(self, what: str, of: object) -> None:
        self.log.append(f"{self.name} {what} {of}")
        if self.fails == what:
            raise ZeroDivisionError(self.name)


def active(asked: Asked) -> Active:
    return cast(Any, asked)


@pytest.fixture(params=[False, True], ids=["inline", "thread"])
def work(request: pytest.FixtureRequest) -> Iterator[PostStepWork]:
    made = PostStepWork(overlap=request.param)
    yield made
    made.stop()


def results(work: PostStepWork, count: int) -> list[tuple[str, object]]:
    """So many results, with the names of their requests."""
    found: list[tuple[str, object]] = []
    while len(found) < count:
        before = len(found)
        for asked, result in work.collect(WAIT):
            found.append((cast(Asked, asked).name, result))
        assert len(found) > before, "nothing came"
    return found


def kinds(found: list[tuple[str, object]]) -> set[tuple[str, type]]:
    return {(name, type(result)) for name, result in found}


def test_a_token_is_taken_in_and_then_its_mask_filled(work: PostStepWork) -> None:
    log: list[str] = []
    work.start(active(Asked("a", log)), [3, 4])
    (_, advanced), (_, prepared) = results(work, 2)
    assert (advanced, prepared) == (Advance(None, draft=(7,)), MASKS)
    assert log == ["a advance [3, 4]", "a prepare (7,)"]
    assert list(work.collect()) == []
    work.stop()
    assert work.busy > 0


def test_what_has_ended_needs_no_mask(work: PostStepWork) -> None:
    log: list[str] = []
    work.start(active(Asked("a", log, reason=FinishReason.STOP)), [3])
    work.start(active(Asked("b", log)), [5])
    assert kinds(results(work, 3)) == {("a", Advance), ("b", Advance), ("b", Masks)}
    work.stop()
    assert "a prepare (7,)" not in log


@pytest.mark.parametrize("fails", ["advance", "prepare"])
def test_a_failure_is_its_requests_own(work: PostStepWork, fails: str) -> None:
    log: list[str] = []
    work.start(active(Asked("a", log, fails=fails)), [3])
    work.start(active(Asked("b", log)), [5])
    found = results(work, 3 if fails == "advance" else 4)
    failures = [(name, result) for name, result in found if isinstance(result, Exception)]
    [(name, failed)] = failures
    assert name == "a"
    assert isinstance(failed, ZeroDivisionError)
    assert ("b", Masks) in kinds(found)
    assert ("a", Masks) not in kinds(found)


def test_tokens_of_all_are_taken_in_before_any_mask_is_filled() -> None:
    """In the thread: the next step's plan waits for the former alone."""
    log: list[str] = []
    go = threading.Event()
    work = PostStepWork(overlap=True)
    try:
        work.start(active(Asked("a", log, begin=lambda: go.wait(WAIT))), [1])
        for name in "bc":
            work.start(active(Asked(name, log)), [1])
        go.set()
        found = results(work, 6)
    finally:
        work.stop()
    assert [entry.split()[1] for entry in log] == ["advance"] * 3 + ["prepare"] * 3
    assert [name for name, _ in found] == list("abcabc"), "each in the order of submission"


def test_what_is_not_known_is_asked_first(work: PostStepWork) -> None:
    log: list[str] = []
    asked = Asked("a", log)
    asked.lacks = 1
    work.start(active(asked), [1, 2])
    assert list(work.collect()) == []
    asked.questions[0](asked.learn)
    assert [kind for kind, _ in results(work, 2)] == ["a", "a"]
    assert log == ["a ask [1, 2]", "a learn all", "a advance [1, 2]", "a prepare (7,)"]


def test_an_error_of_the_process_is_the_requests(work: PostStepWork) -> None:
    log: list[str] = []
    asked = Asked("a", log)
    asked.lacks = 1
    work.start(active(asked), [])
    error = ZeroDivisionError("there")
    asked.questions[0](error)
    ((_, result),) = work.collect(WAIT)
    assert result is error


def test_an_answer_to_a_request_that_has_ended_is_dropped(work: PostStepWork) -> None:
    log: list[str] = []
    asked = Asked("a", log)
    asked.lacks = 1
    work.start(active(asked), [])
    asked.closed = True
    asked.questions[0](asked.learn)
    assert list(work.collect()) == []
    assert log == ["a ask []"]


def test_a_process_that_never_answers_the_question_ends_the_request(work: PostStepWork) -> None:
    log: list[str] = []
    asked = Asked("a", log)
    asked.lacks = 1_000
    work.start(active(asked), [])
    found: list[Any] = []
    for _ in range(100):
        found += work.collect()
        if found:
            break
        asked.questions[-1](asked.learn)
    ((_, result),) = found
    assert isinstance(result, Exception)
    assert "does not answer" in str(result)


def test_a_wait_ends_when_it_is_told_to(work: PostStepWork) -> None:
    threading.Timer(0.05, work.wake).start()
    assert list(work.collect(WAIT)) == []


def test_it_says_whether_there_are_results(work: PostStepWork) -> None:
    assert not work.has_results
    work.wake()
    assert work.has_results
    assert list(work.collect()) == []
    assert not work.has_results
