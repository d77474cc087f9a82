"""Requests that wait for their grammar: known by number, until it is there, or they give up."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from maskwright.engine import Generation, Request
from maskwright.engine.admit.compiling import Compiling
from maskwright.mask import Grammar
from maskwright.sampling import SamplingParams

REQUEST = Request([1], SamplingParams(), 5)


class Room:
    """A `Compiling`, and how often it has called for the engine."""

    def __init__(self) -> None:
        self.calls = 0
        self.compiling = Compiling(self.wake)

    def wake(self) -> None:
        self.calls += 1

    def add(self, number: int, deadline: float | None = None) -> Future[Grammar]:
        future: Future[Grammar] = Future()
        generation = Generation(number, 0, 1, lambda _: None, deadline=deadline)
        self.compiling.add(REQUEST, generation, future)
        return future

    def taken(self) -> list[int]:
        return [waiting.generation.id for waiting in self.compiling.take()]


@pytest.fixture
def room() -> Room:
    return Room()


def test_what_is_there_is_taken_once(room: Room) -> None:
    first, second = room.add(1), room.add(2)
    assert (len(room.compiling), room.compiling.ready, room.taken()) == (2, False, [])
    second.set_exception(ValueError())  # a failure is an answer too
    assert (room.calls, room.compiling.ready) == (1, True)
    assert room.taken() == [2]
    assert (room.compiling.ready, room.taken(), len(room.compiling)) == (False, [], 1)
    first.cancel()
    assert (room.calls, room.taken(), len(room.compiling)) == (2, [1], 0)


def test_a_grammar_that_was_there_before(room: Room) -> None:
    done: Future[Grammar] = Future()
    done.cancel()
    room.compiling.add(REQUEST, Generation(7, 0, 1, lambda _: None), done)
    assert (room.calls, room.taken()) == (1, [7])


def test_who_gave_up_is_not_taken(room: Room) -> None:
    future = room.add(1)
    gone = room.compiling.remove(1)
    assert gone is not None
    assert gone.id == 1
    assert room.compiling.remove(1) is None
    future.cancel()
    assert (room.calls, room.taken(), len(room.compiling)) == (1, [], 0)


def test_deadlines(room: Room) -> None:
    assert room.compiling.next_deadline() is None
    room.add(1)
    assert room.compiling.next_deadline() is None
    room.add(2, deadline=5.0)
    room.add(3, deadline=3.0)
    assert room.compiling.next_deadline() == 3.0
    assert [room.compiling.expired(now) for now in (2.9, 3.0, 5.0)] == [[], [3], [2, 3]]


def test_everybody_at_the_end(room: Room) -> None:
    future = room.add(1)
    room.add(2)
    assert [generation.id for generation in room.compiling.take_all()] == [1, 2]
    assert (len(room.compiling), room.compiling.take_all()) == (0, [])
    future.cancel()
    assert room.taken() == []
