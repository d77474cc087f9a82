"""Who gives blocks up for others: the one who loses least by it, and never for nothing."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.plan import PlanBuilder
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import MOST_PREEMPTIONS, Phase, Sequence
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from tests.engine.schedule.test_scheduler import advance


@dataclass
class Judge:
    """Watches a scheduler choose victims, and counts from the tables themselves what each of those
    who could be chosen would lose and free. `seen`: how often the choice was of each kind."""

    scheduler: Scheduler
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.choose, self.scheduler._victim = self.scheduler._victim, self.victim
        self.give_way, self.scheduler._preempt = self.scheduler._preempt, self.preempt

    def losses(self, sequence: Sequence) -> tuple[int, int]:
        """Tokens that would have to be computed again, and blocks that would come free."""
        others = {
            block
            for other in self.scheduler.live()
            if other is not sequence
            for block in self.scheduler.tables.held(other)
        }
        size = self.scheduler.pool.block_size
        lost = freed = 0
        for place, block in enumerate(sequence.table):
            if block not in others:
                lost += max(0, min(size, sequence.computed - place * size))
                freed += block != 0
        return lost, freed

    def victim(self, needy: Sequence, step: PlanBuilder) -> Sequence | None:
        chosen = self.choose(needy, step)
        juniors = [
            other
            for other in (*self.scheduler.paused, *self.scheduler.running)
            if (other.phase is Phase.PAUSED or other.seniority > needy.seniority)
            and other not in step.counts
            and other.table
        ]
        assert (chosen is None) == (not juniors)
        if chosen is None:
            return None
        assert chosen in juniors
        lost, freed = self.losses(chosen)
        for other in juniors:
            if (other.phase, other.seniority[0]) == (chosen.phase, chosen.seniority[0]):
                theirs, theirs_freed = self.losses(other)
                if theirs_freed:
                    assert freed, "one that frees nothing was chosen before one that does"
                    assert lost * theirs_freed <= theirs * freed, "a dear victim"
                self.seen["sharing"] += not theirs_freed
                self.seen["dearer but younger"] += lost * theirs_freed < theirs * freed and (
                    other.arrival > chosen.arrival
                )
        return chosen

    def preempt(self, sequence: Sequence, step: PlanBuilder) -> None:
        _, freed = self.losses(sequence)
        before = self.scheduler.pool.available
        self.give_way(sequence, step)
        assert self.scheduler.pool.available == before + freed, "blocks that come free later"
        self.seen["preemptions"] += 1


def run(seed: int) -> Judge:
    """Requests, some with their whole prompt in common, in a pool too small for them."""
    rng = random.Random(seed)
    size = rng.choice([2, 4, 8])
    blocks = rng.randint(48, 96) // size
    scheduler = Scheduler(
        BlockPool(blocks, size),
        max_running=8,
        max_batch_tokens=rng.choice([16, 64]),
        prefix_cache=rng.random() < 0.8,
    )
    judge = Judge(scheduler)
    made = []
    prompt: list[int] = []
    for arrival in range(14):
        if not prompt or rng.random() < 0.5:
            prompt = [arrival * 1000 + place for place in range(rng.randint(1, 20))]
        output = rng.randint(1, min(30, blocks * size - len(prompt)))
        made.append(
            Sequence(
                arrival,
                list(prompt),
                len(prompt),
                len(prompt) + output,
                rank=rng.choice([0, 0, 0, 1]),
            )
        )
    todo = list(made)
    steps = 0
    while todo or not scheduler.idle:
        while todo and rng.random() < 0.6:
            scheduler.add(todo.pop(0))
        plan = scheduler.plan()
        scheduler.check()
        assert plan.chunks or not plan.preempted, "gave way for nothing"
        advance(scheduler, plan)
        steps += 1
        assert steps < 2_000, "no progress"
    assert scheduler.pool.used == 0
    for sequence in made:
        older = sum(-(-s.limit // size) for s in made if s.seniority < sequence.seniority)
        assert sequence.preemptions <= MOST_PREEMPTIONS + older, "endless preemption"
    return judge


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_who_loses_least_gives_way_and_frees_blocks_at_once(seed: int) -> None:
    """Of the last class, whoever has the fewest tokens to compute again for a block that comes
    free; one whose blocks others hold too is no help. What is given up is there in the same step,
    and somebody goes on with it."""
    run(seed)


def test_the_loads_are_such_that_there_is_a_choice() -> None:
    seen = sum((run(seed).seen for seed in range(50)), Counter())
    assert seen["preemptions"] > 150
    assert seen["dearer but younger"] > 5
    assert seen["sharing"] > 5


def test_little_is_computed_twice_under_pressure() -> None:
    """Twice as many requests as the pool holds, of lengths that nobody knows: who is let in has
    room for all that the running ones have to compute and for a block more of each. (Without that
    block a third is computed twice.)"""
    rng = random.Random(1)
    scheduler = Scheduler(BlockPool(70, 16), max_running=16, max_batch_tokens=256)
    simulation = SimulatedEngine(scheduler, StepTimeModel(256, 4.0), LinearCosts())
    needed = computed = 0
    for arrival in range(150):
        prompt = [arrival * 1000 + place for place in range(rng.randint(20, 120))]
        output = max(1, min(200, int(rng.expovariate(1 / 60))))
        made = Sequence(arrival, prompt, len(prompt), len(prompt) + output)
        needed += made.limit - 1
        simulation.add(made, [arrival] * output)
    while not scheduler.idle:
        computed += simulation.step().totals.tokens
    assert scheduler.preemptions > 0
    assert needed < computed < 1.15 * needed
