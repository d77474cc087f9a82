"""The order in which waiting sequences are admitted."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.service import ServiceClass
from maskwright.engine.schedule.waiting import PATIENCE, WaitingQueue

CLASSES = (ServiceClass("quick", 4.0), ServiceClass("slow", 1.0))


def waiting(arrival: int, client: str = "a", rank: int = 0) -> Sequence:
    return Sequence(arrival, [1], 1, 9, rank, client)


def changed(one: Sequence, *, preemptions: int = 0, overtaken: int = 0) -> Sequence:
    """One like it, to which this has happened."""
    other = Sequence(one.arrival, [1], 1, 9, one.rank, one.client, preemptions=preemptions)
    other.overtaken = overtaken
    return other


def queue_of(*sequences: Sequence, served: Mapping[str, int] | None = None) -> WaitingQueue:
    """Those sequences, whose clients have been given so many tokens before."""
    queue = WaitingQueue(CLASSES)
    for sequence in sequences:
        queue.enter(sequence)
        queue.add(sequence)
    for client, tokens in (served or {}).items():
        one = next(sequence for sequence in sequences if sequence.client == client)
        queue.charge(one, prompt=tokens)
    return queue


def order(queue: WaitingQueue, cached: Mapping[int, int] | None = None) -> list[int]:
    """The arrivals in the order of admission; `cached` tokens of some are in the cache."""
    found = cached or {}
    return [sequence.arrival for sequence in queue.order(lambda s: found.get(s.arrival, 0))]


A1, A2, B3, B4, A5 = (waiting(n, client) for n, client in enumerate("aabba", 1))


@pytest.mark.parametrize(
    ("sequences", "served", "expected"),
    [
        ([A2, A1], {}, [1, 2]),  # in order of arrival, whenever they were queued
        ([A1, A2, B3, B4], {}, [1, 3, 2, 4]),  # clients in turn
        ([A1, A2, A5, B3], {}, [1, 3, 2, 5]),
        ([A1, A2, B3, B4], {"a": 1}, [3, 1, 4, 2]),  # who was given less comes first
        ([A1, A2, B3, B4], {"a": 2048}, [3, 1, 4, 2]),
        ([A1, A2, B3, B4], {"a": 2049}, [3, 4]),  # who was given much more waits for them
    ],
)
def test_clients_take_turns(
    sequences: list[Sequence], served: dict[str, int], expected: list[int]
) -> None:
    assert order(queue_of(*sequences, served=served)) == expected


@pytest.mark.parametrize(
    ("cached", "expected"),
    [
        ({}, [1, 3, 2, 4]),
        ({2: 16}, [2, 1, 3, 4]),
        ({4: 32, 2: 16}, [4, 2, 1, 3]),
        ({2: 16, 3: 16}, [3, 2, 1, 4]),  # as much of both: in fair order
    ],
)
def test_whoever_has_most_in_the_cache_goes_first(
    cached: dict[int, int], expected: list[int]
) -> None:
    assert order(queue_of(A1, A2, B3, B4), cached) == expected


def test_the_cache_decides_among_the_first_sixteen() -> None:
    many = [waiting(n) for n in range(1, 21)]
    queue = queue_of(*many)
    assert order(queue) == list(range(1, 17))
    assert order(queue, {17: 100}) == list(range(1, 17))
    assert order(queue, {16: 100}) == [16, *range(1, 16)]
    assert (len(queue), [sequence.arrival for sequence in queue]) == (20, list(range(1, 21)))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({4: {"preemptions": 1}}, [4, 1, 3, 2]),
        ({4: {"overtaken": PATIENCE}}, [4, 1, 3, 2]),
        ({4: {"overtaken": PATIENCE - 1}}, [2, 1, 3, 4]),
        ({4: {"overtaken": 8}, 3: {"preemptions": 2}}, [3, 4, 2, 1]),  # by arrival
    ],
)
def test_who_has_waited_or_given_way_goes_before_the_cache(
    changes: dict[int, dict[str, int]], expected: list[int]
) -> None:
    sequences = [changed(one, **changes.get(one.arrival, {})) for one in (A1, A2, B3, B4)]
    cached = {2: 64} if 3 in changes or changes.get(4) == {"overtaken": PATIENCE - 1} else {}
    assert order(queue_of(*sequences), cached) == expected


def test_whom_a_choice_overtakes() -> None:
    """Whoever is blocked, and those of its own client that came before it."""
    sequences = [changed(one) for one in (A1, A2, B3, B4, A5)]
    queue = queue_of(*sequences)
    queue.overtake(sequences[1], [sequences[2]])
    assert [sequence.overtaken for sequence in sequences] == [1, 0, 1, 0, 0]
    queue.overtake(sequences[4], [sequences[0]])
    assert [sequence.overtaken for sequence in sequences] == [2, 1, 1, 0, 0]


def test_classes_by_what_they_were_given_for_their_weight() -> None:
    quick, slow = waiting(2), waiting(1, rank=1)
    queue = queue_of(quick, slow)
    assert queue.ranks() == [0, 1], "of equal ones the better comes first"
    queue.charge(quick, prompt=40, output=0)
    assert (queue.served(0), queue.ranks()) == (10.0, [1, 0])
    queue.charge(slow, prompt=1, output=5)
    assert (queue.served(1), queue.ranks()) == (11.0, [0, 1])
    assert order(queue) == [2, 1]
    queue.remove(quick)
    assert (queue.ranks(), len(queue), list(queue)) == ([1], 1, [slow])


def test_rest_is_not_saved_up_between_classes() -> None:
    """A class that had nobody at work begins level with the other."""
    quick, slow = waiting(1), waiting(2, rank=1)
    queue = queue_of(quick)
    queue.charge(quick, prompt=400)
    queue.enter(slow)
    assert queue.served(1) == queue.served(0) == 100.0
    queue.leave(quick)
    queue.charge(slow, prompt=50)
    queue.enter(quick)
    assert queue.served(0) == 150.0, "lifted to the only class at work"
