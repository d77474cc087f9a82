"""Who is served next: the bound of the virtual token counter, and what lifting is for."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.service import CLASSES, OUTPUT_PRICE, FairShare, ServiceClass
from maskwright.engine.schedule.waiting import WaitingQueue
from maskwright.errors import InputError
from tests.engine.schedule.test_scheduler import advance, sequence


def test_rest_cannot_be_saved_up() -> None:
    share = FairShare()
    share.enter("busy")
    share.charge("busy", 1000)
    share.enter("new")
    assert share.served("new") == 1000
    share.leave("busy")
    share.leave("new")
    share.enter("late")
    assert share.served("late") == 1000, "level with the last who left"


def test_a_return_does_not_forget_what_was_given() -> None:
    share = FairShare()
    for party in ("one", "other"):
        share.enter(party)
    share.charge("one", 500)
    share.leave("one")
    share.enter("one")
    assert share.served("one") == 500


def test_idle_parties_are_forgotten_in_time() -> None:
    share = FairShare()
    for number in range(20_000):
        share.enter(str(number))
        share.leave(str(number))
    assert len(share._served) < 10_000


@pytest.mark.parametrize(("name", "weight"), [("", 1.0), ("x", 0.0), ("x", -1.0)])
def test_a_class_needs_a_name_and_a_weight(name: str, weight: float) -> None:
    with pytest.raises(InputError):
        ServiceClass(name, weight)


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_clients_with_work_are_served_alike(rng: random.Random) -> None:
    """Sheng et al., theorem 4.4: of two clients that always have requests waiting, neither gets
    ahead by more than twice the larger of a prompt and what all slots generate."""
    slots, prompt, output = rng.randint(1, 4), rng.randint(1, 20), rng.randint(1, 10)
    scheduler = Scheduler(
        BlockPool(200, 4), max_running=slots, max_batch_tokens=40, prefix_cache=False
    )
    served = {"greedy": 0, "modest": 0}
    number = 0
    bound = 2 * max(prompt, OUTPUT_PRICE * slots * output)
    for _ in range(150):
        for client, most in (("greedy", 12), ("modest", 5)):
            while sum(s.client == client for s in scheduler.waiting) < most:
                number += 1
                made = sequence(number, rng.randint(1, prompt), rng.randint(1, output))
                made.client = client
                scheduler.add(made)
        plan = scheduler.plan()
        for entered in plan.admitted:
            served[entered.client] += entered.prompt_length
        for chunk in plan.chunks:
            served[chunk.sequence.client] += OUTPUT_PRICE * chunk.samples
        advance(scheduler, plan)
        assert abs(served["greedy"] - served["modest"]) <= bound


def test_the_price_of_an_answer_is_two_of_a_prompt() -> None:
    """Requests of 30 + 10 tokens weigh as much as those of 10 + 20: of two clients that always have
    some waiting for the one slot, each gets as many served."""
    scheduler = Scheduler(BlockPool(80, 4), max_running=1, max_batch_tokens=64, prefix_cache=False)
    shapes = {"asks much": (30, 10), "gets much": (10, 20)}
    number = 0
    served: Counter[str] = Counter()
    while served.total() < 60:
        for client, (prompt, output) in shapes.items():
            while sum(waiting.client == client for waiting in scheduler.waiting) < 2:
                number += 1
                made = sequence(number, prompt, output)
                made.client = client
                scheduler.add(made)
        plan = scheduler.plan()
        served.update(entered.client for entered in plan.admitted)
        advance(scheduler, plan)
    assert abs(served["asks much"] - served["gets much"]) <= 1


def test_classes_enter_by_their_weights() -> None:
    """Of two classes with equal requests that wait for the one slot, the one with three times the
    weight gets three times as many served."""
    classes = (ServiceClass("quick", 3.0), ServiceClass("slow", 1.0))
    scheduler = Scheduler(
        BlockPool(80, 4), max_running=1, max_batch_tokens=64, classes=classes, prefix_cache=False
    )
    number = 0
    served = [0, 0]
    while sum(served) < 80:
        for rank in range(2):
            while sum(waiting.rank == rank for waiting in scheduler.waiting) < 2:
                number += 1
                made = sequence(number, 10, 5)
                made.rank = rank
                scheduler.add(made)
        plan = scheduler.plan()
        for entered in plan.admitted:
            served[entered.rank] += entered.preemptions == 0
        advance(scheduler, plan)
    assert served[0] == pytest.approx(60, abs=2)


@pytest.mark.parametrize(
    ("weights", "served"), [({}, 12.0), ({"one": 4.0}, 3.0), ({"other": 4.0}, 12.0)]
)
def test_work_counts_by_weight(weights: dict[str, float], served: float) -> None:
    share = FairShare(weights)
    share.enter("one")
    share.charge("one", 12)
    assert share.served("one") == served


def test_classes_get_their_parts_of_the_budget() -> None:
    """Two classes with prompts to compute: by weight, and what one leaves the other takes."""
    scheduler = Scheduler(
        BlockPool(400, 16),
        max_running=4,
        max_batch_tokens=90,
        classes=(ServiceClass("quick", 2.0), ServiceClass("slow", 1.0)),
    )
    slow, quick = sequence(1, 900, 1), sequence(2, 300, 1)
    slow.rank = 1
    scheduler.add(slow)
    advance(scheduler, scheduler.plan())
    assert slow.computed == 90, "alone it gets everything"
    scheduler.add(quick)
    plans = []
    while quick.phase.value != "ended":
        plan = scheduler.plan()
        plans.append({c.sequence.rank: c.count for c in plan.chunks})
        advance(scheduler, plan)
    assert plans == [{0: 60, 1: 30}] * 5
    assert scheduler.plan().totals.tokens == 90


def test_a_better_class_takes_the_slot_of_a_worse_one_and_gives_it_back() -> None:
    scheduler = Scheduler(BlockPool(40, 4), max_running=1, max_batch_tokens=40)
    slow = sequence(1, 4, 60)
    slow.rank = 2
    scheduler.add(slow)
    for _ in range(20):
        advance(scheduler, scheduler.plan())
    quick = sequence(2, 4, 5)
    scheduler.add(quick)
    plan = scheduler.plan()
    assert (plan.preempted, plan.admitted) == ((slow,), (quick,))
    steps = 0
    while not scheduler.idle:
        advance(scheduler, plan)
        scheduler.check()
        plan = scheduler.plan()
        steps += 1
    assert len(quick.tokens) == 9
    assert len(slow.tokens) == 64
    assert slow.preemptions == 1


def test_a_sequence_that_yielded_often_yields_no_more() -> None:
    """A stream of better requests doesn't starve a batch of one."""
    scheduler = Scheduler(BlockPool(40, 4), max_running=1, max_batch_tokens=40)
    slow = Sequence(0, [0] * 4, 4, 24, rank=2)
    scheduler.add(slow)
    number = 0
    for _ in range(400):
        if len(scheduler.waiting) < 3:
            number += 1
            scheduler.add(sequence(number, 4, 4))
        advance(scheduler, scheduler.plan())
        scheduler.check()
        if slow.phase.value == "ended":
            break
    assert len(slow.tokens) == 24
    assert slow.preemptions <= 3


def test_who_gave_way_goes_before_those_who_never_ran() -> None:
    """Although its client has had more, and many of that client wait before it was queued again."""
    queue = WaitingQueue(CLASSES)
    gave_way = Sequence(0, [1], 1, 9, client="had much", preemptions=1)
    others = [Sequence(n, [1], 1, 9, client="had much") for n in range(1, 40)]
    needy = Sequence(50, [1], 1, 9, client="had nothing")
    for waiting in (*others, needy, gave_way):
        queue.enter(waiting)
        queue.add(waiting)
    queue.charge(gave_way, prompt=10_000)
    order = list(queue.order(lambda other: other.arrival))
    assert order[:2] == [gave_way, needy]
