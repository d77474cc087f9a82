"""The queue that a request would join, played by hand and on a machine with known costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maskwright.engine.admit.gate import Forecast, Room, Task, ahead, forecast
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.engine.step_times import measured_step_times

COSTS = LinearCosts()


def task(**changes: object) -> Task:
    return Task(0, "", 100.0, 20.0, 1.0, 200, False)._replace(**changes)


@pytest.mark.parametrize(
    ("waiting", "ahead_of_it"),
    [
        ([task(client="a"), task(client="a")], 2),
        ([task(client="b"), task(client="b"), task(client="b")], 1),  # its client's first
        ([task(rank=1)] * 9, 0),  # of a class with an eighth of the weight
        ([task(rank=1, prompt=1.0, output=1.0)] * 9, 5),
    ],
)
def test_who_comes_before(waiting: list[Task], ahead_of_it: int) -> None:
    assert len(ahead(task(client="a"), waiting, (8.0, 1.0))) == ahead_of_it


def test_what_makes_a_request_wait() -> None:
    step_times, room = measured_step_times(COSTS), Room(slots=4, positions=2000, weights=(8.0, 1.0))
    running = [task(running=True, prompt=0.0)] * 4

    def ttft(asked: Task, live: list[Task], room: Room = room) -> float:
        found = forecast(asked, live, room, step_times)
        assert found is not None
        return found.ttft

    free = ttft(task(), running[:3])
    full = ttft(task(), running)
    assert full > free + 15 * COSTS.of(4, 0), "a slot comes free when the first has ended"
    assert ttft(task(), [*running, task()]) > full
    assert ttft(task(prompt=400.0), running[:3]) > free + 300 * COSTS.token
    few = replace(room, positions=500)
    assert ttft(task(), running[:2], few) > ttft(task(), running[:2]) + 10 * COSTS.of(3, 0)
    batch = [item._replace(rank=1) for item in running]
    assert ttft(task(), batch) < full, "a worse class gives way"
    assert forecast(task(), running, room, StepTimeModel(256, 4.0)) is None, "nothing is known"


class FixedStepTimes(StepTimeModel):
    """A step takes 10 ms whatever it decodes, 1 ms more for each token of a prompt, of which it
    takes a hundred."""

    def __init__(self) -> None:
        super().__init__(256, None)

    def step(self, decoding: float) -> float:
        return 0.01

    def prompt(self, tokens: float) -> float:
        return 0.001 * tokens

    def chunk(self, decoding: float) -> int:
        return 100


def at_work(*outputs: float, **changes: object) -> list[Task]:
    """Tasks that decode, with so many tokens to come."""
    return [task(running=True, prompt=0.0, output=output, **changes) for output in outputs]


# A prompt of 100 tokens beside others takes 100 · 1 ms and its part of a step, 10 ms in all; the
# first token comes with the step after it. Where others have prompts to compute, steps take longer.
ALONE, STEP = 0.11, 0.01
PLAYED: list[tuple[str, list[Task], Room, float]] = [
    ("a slot is free", at_work(10, 20, 30), Room(4, 9999, (1.0,)), ALONE + STEP),
    ("the first ends", at_work(30, 10, 20), Room(3, 9999, (1.0,)), 0.1 + ALONE + STEP),
    ("positions are short", at_work(10, 20), Room(4, 500, (1.0,)), 0.1 + ALONE + STEP),
    ("positions are enough", at_work(10, 20), Room(4, 600, (1.0,)), ALONE + STEP),
    ("two must end", at_work(10, 20, 30, positions=100), Room(9, 300, (1.0,)), 0.2 + ALONE + STEP),
    ("a worse class gives way", at_work(10, 20, rank=1), Room(2, 9999, (1.0, 1.0)), ALONE + STEP),
    (
        "one that is worse among better ones",
        [*at_work(10, 20), *at_work(30, rank=1)],
        Room(3, 9999, (1.0, 1.0)),
        ALONE + STEP,
    ),
    (
        "an equal class doesn't",
        [*at_work(10, rank=0), *at_work(20, rank=0)],
        Room(2, 9999, (1.0, 1.0)),
        0.1 + ALONE + STEP,
    ),
    (
        # One waits before it, whose prompt makes steps 15 ms: it enters at 0.15 and has computed
        # its prompt by 0.265; the next slot comes free at 0.3.
        "another waits before it",
        [*at_work(10, 20, 30), task(client="b")],
        Room(3, 9999, (1.0,)),
        0.3 + 0.115 + 0.015,
    ),
    (
        # Half of a prompt is still to be computed for one at work: 2.5 tokens in each of 20 steps.
        "prompts are computed one after the other",
        [task(running=True, prompt=50.0, output=20.0)],
        Room(4, 9999, (1.0,)),
        0.001125 * (50 + 100) + 0.0125,
    ),
]


@pytest.mark.parametrize(
    ("live", "room", "expected"), [case[1:] for case in PLAYED], ids=[case[0] for case in PLAYED]
)
def test_the_first_token(live: list[Task], room: Room, expected: float) -> None:
    found = forecast(task(), live, room, FixedStepTimes())
    assert found is not None
    assert found.ttft == pytest.approx(expected)


def test_the_other_tokens() -> None:
    """A step gives as many as come at once."""
    live = at_work(10, 40, a_step=2.0)
    found = forecast(task(a_step=2.0), live, Room(4, 9999, (1.0,)), FixedStepTimes())
    assert found is not None
    assert (found.tpot, found.alone) == (0.005, 0.005)
    assert found.ends == pytest.approx((0.05, 0.2))


@pytest.mark.parametrize(
    ("wanted", "seconds"),
    [
        (0.008, 0.0),  # as fast as that already
        (0.009, 0.0),
        (0.0075, 1.0),  # an eighth less: when the first has ended
        (0.006, 2.0),
        (0.005, 3.0),
        (0.004, 4.0),  # when all have
        (0.001, 4.0),  # which won't be, but it won't be sooner
    ],
)
def test_when_few_enough_run(wanted: float, seconds: float) -> None:
    found = Forecast(ttft=0.1, tpot=0.008, ends=(1.0, 2.0, 3.0, 4.0), alone=0.004)
    assert found.slower(wanted) == seconds


def test_with_nobody_at_work_there_is_nothing_to_wait_for() -> None:
    assert Forecast(0.1, 0.008, (), 0.008).slower(0.001) == 0.0
