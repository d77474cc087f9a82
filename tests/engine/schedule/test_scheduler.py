"""Who computes what, step by step, without a model."""

import itertools
import random
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.plan import CopyDirection, StepPlan
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Phase, Sequence
from maskwright.engine.schedule.tables import Transfers
from maskwright.engine.schedule.transfer import BlockTransfer
from maskwright.engine.schedule.waiting import PATIENCE
from tests.engine.step.late_copies import LateCopies

MOST_DRAFTS = 4


def sequence(arrival: int, prompt: int, output: int) -> Sequence:
    """Prompts that share nothing."""
    tokens = list(range(1000 * arrival, 1000 * arrival + prompt))
    return Sequence(arrival, tokens, prompt, prompt + output)


def advance(scheduler: Scheduler, plan: StepPlan) -> None:
    """Commit a step and sample token 1 everywhere, ending sequences at their limit."""
    scheduler.commit(plan)
    for chunk in plan.chunks:
        if chunk.samples:
            scheduler.confirm(chunk.sequence, [1])
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


def test_copies_in_flight_are_counted_a_few_times_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting takes time for every block that is being copied."""
    counted: list[int] = []
    leaving = Transfers.leaving

    def count(transfers: Transfers) -> int:
        counted.append(leaving(transfers))
        return counted[-1]

    monkeypatch.setattr(Transfers, "leaving", count)
    scheduler = Scheduler(
        BlockPool(40, 1),
        max_running=12,
        max_batch_tokens=40,
        host_blocks=40,
        beside_steps=True,
    )
    for arrival in range(10):
        worse = sequence(arrival, 2, 2)
        worse.rank = 2
        scheduler.add(worse)
    plan = scheduler.plan()
    scheduler.commit(plan)
    assert len(plan.chunks) == 10
    for each in plan.chunks:
        scheduler.confirm(each.sequence, [1])
    assert len(scheduler.plan().chunks) == 10
    assert counted == [], "nobody lacks a block"
    scheduler.add(sequence(99, 30, 1))
    assert scheduler.plan().transfers
    assert counted != []
    assert len(counted) <= 4


class Memory:
    """The oracle of the books: what would be in the blocks. A slot holds the text up to its token;
    whatever a chunk reads back on must be there when it is computed. `late`: who copies beside
    steps."""

    def __init__(self, scheduler: Scheduler, late: LateCopies) -> None:
        self.scheduler = scheduler
        self.late = late
        size = scheduler.pool.block_size
        self.pool = [[0] * size for _ in range(scheduler.pool.total + 1)]
        self.host = [[0] * size for _ in range(scheduler.host.total + 1)]

    def run(self, plan: StepPlan) -> None:
        """Move, clear, read, write."""
        size = self.scheduler.pool.block_size
        for move in plan.copies:
            origin, home = {
                CopyDirection.WITHIN: (self.pool, self.pool),
                CopyDirection.OUT: (self.pool, self.host),
                CopyDirection.IN: (self.host, self.pool),
            }[move.direction]
            home[move.target] = list(origin[move.source])
        for block in plan.fresh:
            self.pool[block] = [0] * size
        for transfer in plan.transfers:
            transfer.event = self.late.begin(partial(self.copy, transfer))
        for chunk in plan.chunks:
            sequence, end = chunk.sequence, chunk.start + chunk.count
            plain = sequence.tokens[: end - chunk.drafted]
            tokens = [*plain, *sequence.draft[: chunk.drafted]]
            texts = list(itertools.accumulate(tokens, lambda a, b: hash((a, b)), initial=1))[1:]
            window = self.scheduler.attention_window.positions
            first = 0 if window is None else max(0, chunk.start - window + 1)
            for position in range(first, chunk.start):
                found = self.pool[sequence.table[position // size]][position % size]
                assert found == texts[position], "not the keys and values of this text"
            for position in range(chunk.start, end):
                self.pool[sequence.table[position // size]][position % size] = texts[position]

    def copy(self, transfer: BlockTransfer) -> None:
        pools = (self.host, self.pool) if transfer.inward else (self.pool, self.host)
        for source, target in transfer.pairs:
            pools[1][target] = list(pools[0][source])


@dataclass
class World:
    """A scheduler under random load, and what must hold after each of its steps."""

    rng: random.Random
    scheduler: Scheduler
    budget: int
    todo: list[Sequence]
    memory: "Memory"
    late: list[Sequence] = field(default_factory=list)

    def arrive(self) -> None:
        while self.todo and (self.rng.random() < 0.5 or not any(self.scheduler.live())):
            self.scheduler.add(self.todo.pop(0))

    def step(self) -> None:
        scheduler = self.scheduler
        before = {s: (s.computed, len(s.tokens), s.preemptions) for s in scheduler.live()}
        senior = min(scheduler.running, key=lambda s: s.seniority, default=None)
        scheduler.tables.collect()
        scheduler.check()
        plan = scheduler.plan()
        scheduler.check()
        assert plan.totals.tokens <= self.budget
        assert len({chunk.sequence for chunk in plan.chunks}) == len(plan.chunks)
        waits = scheduler.idle or self.late or scheduler.tables.transfers
        assert plan.chunks or waits, "a step did nothing although work was waiting"
        for chunk in plan.chunks:
            sequence = chunk.sequence
            assert sequence.phase is Phase.RUNNING
            assert chunk.start == sequence.computed
            plain = chunk.start + chunk.count - chunk.drafted
            assert chunk.samples == (plain == len(sequence.tokens))
            assert chunk.samples or not chunk.drafted
            assert plain + chunk.drafted <= len(sequence.table) * scheduler.pool.block_size
            held = scheduler.tables.held(sequence)
            assert 0 not in held
            assert len(held) <= scheduler.attention_window.most_blocks(
                len(sequence.tokens) + MOST_DRAFTS
            )
            for block in sequence.table[chunk.start // scheduler.pool.block_size :]:
                assert scheduler.pool.references(block) == 1, "a shared block would be written"
        if senior is not None and senior.pending and senior in before:
            others = (*plan.admitted, *scheduler.waiting)
            better = any(s.rank < senior.rank for s in others if s is not senior)
            assert senior not in plan.preempted or better, "the most senior gave way"
        self.memory.run(plan)
        if not plan.chunks:
            scheduler.tables.transfers.wait()
        scheduler.commit(plan)
        scheduler.check()
        for chunk in plan.chunks:
            sequence = chunk.sequence
            assert sequence.outside_window == scheduler.attention_window.blocks_outside(
                sequence.computed
            )
            if chunk.samples and chunk.sequence.phase is Phase.RUNNING:
                if self.rng.random() < 0.1:
                    self.late.append(chunk.sequence)
                else:
                    self.sample(chunk.sequence, chunk.drafted)

    def sample(self, sequence: Sequence, drafted: int) -> None:
        """Some of the draft comes true, then another token; then a forced run, a new draft, a
        pause, or the end."""
        rng, scheduler = self.rng, self.scheduler
        left = sequence.limit - len(sequence.tokens)
        matched = min(rng.randint(0, drafted), left - 1)
        scheduler.confirm(sequence, [*sequence.draft[:matched], rng.randint(0, 1)])
        left = sequence.limit - len(sequence.tokens)
        sequence.draft = []
        if rng.random() < 0.2:
            run = [rng.randint(0, 1) for _ in range(rng.randint(0, left))]
            scheduler.extend(sequence, run)
            left -= len(run)
        if not left or rng.random() < 0.05:
            finish(scheduler, sequence)
        elif rng.random() < 0.1:
            scheduler.pause(sequence)
        else:
            sequence.draft = [
                rng.randint(0, 1) for _ in range(rng.randint(0, min(MOST_DRAFTS, left - 1)))
            ]

    def meddle(self) -> None:
        """Masks that were late come, readers come back, and clients leave."""
        for sequence in list(self.late):
            if sequence.pending or sequence.phase is not Phase.RUNNING:
                self.late.remove(sequence)  # gave way: its row is computed again
            elif self.rng.random() < 0.4:
                self.late.remove(sequence)
                sequence.draft = []
                self.sample(sequence, 0)
        for sequence in list(self.scheduler.paused):
            if self.rng.random() < 0.4:
                self.scheduler.resume(sequence)
        live = list(self.scheduler.live())
        if live and self.rng.random() < 0.05:
            finish(self.scheduler, self.rng.choice(live))
        self.scheduler.check()


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_every_sequence_ends_within_budget_and_pool(seed: int) -> None:
    """Random arrivals, lengths, classes, clients, shared prompts, drafts, forced runs, pauses and
    cancellations in pools of any size, with copies that end at once or late, in any order: the
    invariants after every step, the budget kept, no idle step while work is left, no endless
    preemption."""
    rng = random.Random(seed)
    blocks, block_size = rng.randint(1, 12), rng.choice([1, 4])
    max_running = rng.randint(1, 6)
    budget = max_running + rng.randint(0, 20)
    scheduler = Scheduler(
        BlockPool(blocks, block_size),
        max_running=max_running,
        max_batch_tokens=budget,
        prefix_cache=rng.random() < 0.7,
        window=rng.choice([None, None, 1, 6, 20]),
        host_blocks=rng.choice([0, 3, 20]),
        swap_pays=lambda blocks, tokens: rng.random() < 0.8,
        beside_steps=rng.random() < 0.5,
    )
    made = []
    for arrival in range(rng.randint(1, 12)):
        whole = rng.randint(2, blocks * block_size + 1)  # the last token needs no slot
        if scheduler.attention_window.most_blocks(4 * whole) <= blocks:
            whole *= 4  # a window: more than the pool holds
        prompt = rng.randint(1, whole - 1)
        tokens = [rng.randint(0, 1) if rng.random() < 0.1 else 0 for _ in range(prompt)]
        made.append(
            Sequence(
                arrival, tokens, prompt, whole, rank=rng.randint(0, 2), client=rng.choice("ab")
            )
        )
    world = World(rng, scheduler, budget, list(made), Memory(scheduler, LateCopies(rng)))
    steps = 0
    while world.todo or any(scheduler.live()) or scheduler.tables.transfers:
        world.arrive()
        world.step()
        world.meddle()
        steps += 1
        assert steps < 5_000, "no progress"
    assert scheduler.pool.used == scheduler.host.used == 0
    assert all(s.phase is Phase.ENDED for s in made)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32))
def test_steps_are_full_while_prompts_wait(seed: int) -> None:
    """SplitFuse: with slots and blocks to spare, a step has budget left only if every prompt is
    in it; and a decoding sequence gets its token in every step (Sarathi: decodes never stall),
    unless it gives way to a better class."""
    rng = random.Random(seed)
    scheduler = Scheduler(BlockPool(2000, 4), max_running=8, max_batch_tokens=rng.randint(8, 40))
    left = [sequence(n, rng.randint(1, 90), rng.randint(1, 9)) for n in range(12)]
    while left or not scheduler.idle:
        while left and rng.random() < 0.3:
            added = left.pop()
            added.rank = rng.randint(0, 2)
            scheduler.add(added)
        decoding = {s for s in scheduler.running if s.decodes}
        plan = scheduler.plan()
        planned = {chunk.sequence: chunk.count for chunk in plan.chunks}
        assert decoding - set(plan.preempted) <= set(planned)
        if plan.totals.tokens < scheduler._max_batch_tokens and len(scheduler.running) < 8:
            assert not scheduler.waiting
        if plan.totals.tokens < scheduler._max_batch_tokens:
            assert all(planned.get(s) == s.pending for s in scheduler.running)
        advance(scheduler, plan)


def test_a_large_request_is_not_overtaken_for_ever() -> None:
    """Small ones keep the pool busy; the large one enters all the same."""
    scheduler = Scheduler(BlockPool(10, 4), max_running=8, max_batch_tokens=40)
    for number in range(3):
        scheduler.add(sequence(number, 4, 8))
    scheduler.plan()
    large = sequence(3, 32, 4)
    scheduler.add(large)
    number = 10
    for _ in range(200):
        while len(scheduler.waiting) < 4:
            number += 1
            scheduler.add(sequence(number, 4, 8))
        plan = scheduler.plan()
        advance(scheduler, plan)
        if large.phase is Phase.ENDED:
            break
    assert large.phase is Phase.ENDED


def test_the_cached_go_first_but_not_for_ever() -> None:
    scheduler = Scheduler(BlockPool(60, 4), max_running=1, max_batch_tokens=64)
    shared = list(range(32))
    order = []
    scheduler.add(Sequence(0, list(shared), 32, 33))
    for number in range(1, 30):
        tokens = [*shared[:24], 500 + number] if number % 3 else [900 + number] * 20
        scheduler.add(Sequence(number, tokens, len(tokens), len(tokens) + 1))
    while not scheduler.idle:
        plan = scheduler.plan()
        order += [s.arrival for s in plan.admitted]
        advance(scheduler, plan)
    assert order != sorted(order), "the cache had a say"
    assert order[1:3] == [1, 2]
    assert order.index(3) == 3 + PATIENCE


def test_an_order_that_ignores_the_cache_without_one() -> None:
    scheduler = Scheduler(BlockPool(60, 4), max_running=1, max_batch_tokens=64, prefix_cache=False)
    order = []
    for number in range(9):
        scheduler.add(Sequence(number, [7] * 9, 9, 10))
    while not scheduler.idle:
        plan = scheduler.plan()
        order += [s.arrival for s in plan.admitted]
        advance(scheduler, plan)
    assert order == list(range(9))
    assert scheduler.pool.free == 60


def test_the_budget_must_let_everyone_decode() -> None:
    with pytest.raises(AssertionError, match="decode"):
        Scheduler(BlockPool(4, 4), max_running=5, max_batch_tokens=4)
