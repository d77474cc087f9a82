"""Who computes what, step by step, without a model."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.engine.blocks import BlockPool
from maskwright.engine.scheduler import Scheduler, StepPlan
from maskwright.engine.sequence import Phase, Sequence


def sequence(arrival: int, prompt: int, output: int) -> Sequence:
    """Prompts that share nothing."""
    tokens = list(range(1000 * arrival, 1000 * arrival + prompt))
    return Sequence(arrival, tokens, prompt, prompt + output)


def advance(scheduler: Scheduler, plan: StepPlan) -> None:
    """Commit a step and sample token 1 everywhere, ending sequences at their limit."""
    scheduler.commit(plan)
    for chunk in plan.chunks:
        if chunk.samples:
            chunk.sequence.tokens.append(1)
            if len(chunk.sequence.tokens) == chunk.sequence.limit:
                finish(scheduler, chunk.sequence)


def finish(scheduler: Scheduler, ended: Sequence) -> None:
    """The way out: scheduler, then blocks."""
    scheduler.end(ended)
    scheduler.release(ended)


def table(plan: StepPlan) -> list[tuple[int, int, int, bool]]:
    return [(c.sequence.arrival, c.start, c.count, c.samples) for c in plan.chunks]


def test_decodes_come_first_and_prefill_fills_the_budget() -> None:
    scheduler = Scheduler(BlockPool(99, 16), max_running=4, max_batch_tokens=10)
    scheduler.add(sequence(1, 3, 9))
    plans = [scheduler.plan()]
    advance(scheduler, plans[-1])
    scheduler.add(sequence(2, 25, 9))
    scheduler.add(sequence(3, 4, 9))
    for _ in range(4):
        plans.append(scheduler.plan())
        advance(scheduler, plans[-1])
    assert [table(plan) for plan in plans] == [
        [(1, 0, 3, True)],
        [(1, 3, 1, True), (2, 0, 9, False)],
        [(1, 4, 1, True), (2, 9, 9, False)],
        [(1, 5, 1, True), (2, 18, 7, True), (3, 0, 2, False)],
        [(1, 6, 1, True), (2, 25, 1, True), (3, 2, 2, True)],
    ]


def test_the_youngest_yields_and_comes_back() -> None:
    scheduler = Scheduler(BlockPool(4, 4), max_running=4, max_batch_tokens=16)
    old, young = sequence(1, 6, 10), sequence(2, 3, 10)
    scheduler.add(old)
    scheduler.add(young)
    preempted = []
    while not scheduler.idle:
        plan = scheduler.plan()
        scheduler.check()
        preempted += [s.arrival for s in plan.preempted]
        advance(scheduler, plan)
    assert set(preempted) == {2}
    assert young.preemptions == len(preempted)
    assert (len(old.tokens), len(young.tokens)) == (16, 13)


def test_ending_frees_everything_wherever_it_happens() -> None:
    pool = BlockPool(8, 4)
    scheduler = Scheduler(pool, max_running=1, max_batch_tokens=4)
    running, waiting = sequence(1, 9, 3), sequence(2, 5, 3)
    scheduler.add(running)
    scheduler.add(waiting)
    scheduler.commit(scheduler.plan())
    assert pool.used == 1
    finish(scheduler, waiting)
    finish(scheduler, running)
    finish(scheduler, running)
    assert (running.phase, waiting.phase) == (Phase.ENDED, Phase.ENDED)
    assert pool.used == 0
    assert scheduler.idle


@given(
    st.randoms(use_true_random=False),
    st.integers(1, 8),
    st.sampled_from([1, 4]),
    st.integers(1, 6),
    st.integers(0, 20),
)
def test_every_sequence_ends_within_budget_and_pool(
    rng: random.Random, blocks: int, block_size: int, max_running: int, extra_budget: int
) -> None:
    """Random arrivals, lengths and cancellations: invariants after every step, the budget kept, no
    idle step while work is left, no endless preemption."""
    pool = BlockPool(blocks, block_size)
    budget = max_running + extra_budget
    scheduler = Scheduler(pool, max_running=max_running, max_batch_tokens=budget)
    arrivals = []
    for arrival in range(rng.randint(1, 12)):
        whole = rng.randint(2, blocks * block_size + 1)  # the last token needs no slot
        prompt = rng.randint(1, whole - 1)
        arrivals.append(sequence(arrival, prompt, whole - prompt))
    todo, steps = list(arrivals), 0
    while todo or not scheduler.idle:
        while todo and (rng.random() < 0.5 or scheduler.idle):
            scheduler.add(todo.pop(0))
        plan = scheduler.plan()
        scheduler.check()
        assert plan.tokens <= budget
        assert plan.chunks, "a step did nothing although work was waiting"
        assert len({chunk.sequence for chunk in plan.chunks}) == len(plan.chunks)
        for chunk in plan.chunks:
            assert chunk.sequence.phase is Phase.RUNNING
            assert chunk.samples == (chunk.start + chunk.count == len(chunk.sequence.tokens))
        oldest = min(scheduler.live(), key=lambda s: s.arrival)
        assert oldest not in plan.preempted, "the oldest gave way"
        advance(scheduler, plan)
        if rng.random() < 0.05 and not scheduler.idle:
            finish(scheduler, rng.choice(list(scheduler.live())))
        scheduler.check()
        steps += 1
        assert steps < 5_000, "no progress"
    assert pool.used == 0
    assert all(s.phase is Phase.ENDED for s in arrivals)


def test_the_budget_must_let_everyone_decode() -> None:
    with pytest.raises(AssertionError, match="decode"):
        Scheduler(BlockPool(4, 4), max_running=5, max_batch_tokens=4)
