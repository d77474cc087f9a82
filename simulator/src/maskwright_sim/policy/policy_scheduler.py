"""A scheduler made of a batching, an order and a way to preempt.

It offers what `Scheduler` offers to the engine, over the same pool, tables and prefix tree, so that
a simulation runs either. It has no service classes, no fairness and no drafts: the systems that it
stands for have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Protocol, TypeAlias

from maskwright.engine.kv.blocks import AttentionWindow, BlockPool
from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.plan import PlanBuilder, StepPlan
from maskwright.engine.schedule.sequence import Phase, Sequence
from maskwright.engine.schedule.tables import Tables
from maskwright_sim.policy.order import ORDERS, Key, OrderName

WATERMARK = 0.01
"""Share of the blocks that admission leaves free for the growth of running sequences (vLLM's)."""

Preemption: TypeAlias = Literal["recompute", "swap", "drop"]
Displaces: TypeAlias = Callable[[Sequence, Sequence], bool]


class BatchPolicy(Protocol):
    """Chooses the tokens of a step. `reserves`: blocks for the longest possible answer are taken
    when a sequence is admitted, so that it never has to be preempted."""

    @property
    def reserves(self) -> bool: ...

    def compose(self, scheduler: PolicyScheduler, step: PlanBuilder) -> None:
        """Put work into the step."""
        ...


class PolicyScheduler:
    """`batching`, `order` and `preemption` are the policies. `max_running`, `max_batch_tokens`,
    `prefix_cache` and `host_blocks`: as of `Scheduler`. `max_batch`: most sequences of a step; None
    for no bound of its own. `continues_blocks`: whether a prefix hit may end within a block (a
    radix tree of tokens) or only at a whole one (block hashes). Several plans may be in flight at a
    time, as in a pipeline: a sequence is in one of them at most."""

    def __init__(
        self,
        pool: BlockPool,
        batching: BatchPolicy,
        *,
        max_running: int,
        max_batch_tokens: int,
        max_batch: int | None = None,
        order: OrderName = "fcfs",
        preemption: Preemption = "recompute",
        prefix_cache: bool = False,
        continues_blocks: bool = True,
        host_blocks: int = 0,
    ) -> None:
        self.pool = pool
        self.host = BlockPool(host_blocks, pool.block_size)
        window = AttentionWindow(pool.block_size, max_batch_tokens)
        self.tables = Tables(pool, self.host, window, prefix_cache=prefix_cache)
        self.tree = self.tables.tree
        self.batching = batching
        self.max_running = max_running
        self.max_batch_tokens = max_batch_tokens
        self.max_batch = max_batch or max_running
        self.running: list[Sequence] = []
        self.waiting: list[Sequence] = []
        self.preemptions = 0
        self.dropped = 0
        self.swaps = 0
        self._flying: dict[Sequence, Chunk] = {}
        self._order = ORDERS[order]
        self._preemption: Preemption = preemption
        self._continues_blocks = continues_blocks

    @property
    def idle(self) -> bool:
        """Whether there is nothing to compute."""
        return not self.waiting and not any(s.pending for s in self.running)

    @property
    def decoding(self) -> int:
        """Tokens to compute for decoding sequences."""
        return sum(s.pending for s in self.running if s.decodes)

    @property
    def prefilled(self) -> int:
        """Computed tokens of the prompt whose prefill has come furthest; 0 without one."""
        return max((s.computed for s in self.running if s.pending and not s.decodes), default=0)

    def live(self) -> Iterator[Sequence]:
        """Yield every sequence that has not ended."""
        yield from self.running
        yield from self.waiting

    def add(self, sequence: Sequence) -> None:
        """Queue a new sequence."""
        self.waiting.append(sequence)

    def end(self, sequence: Sequence) -> None:
        """Remove a sequence in whatever phase it is. It keeps its blocks until `release`."""
        if sequence.phase is Phase.WAITING:
            self.waiting.remove(sequence)
        elif sequence.phase is Phase.RUNNING:
            self.running.remove(sequence)
        sequence.phase = Phase.ENDED

    def release(self, sequence: Sequence) -> None:
        """Give back all blocks of a sequence in both pools."""
        self.tables.release(sequence)

    def plan(self, budget: int | None = None) -> StepPlan:
        """Plan the next step."""
        step = PlanBuilder(budget or self.max_batch_tokens)
        self.batching.compose(self, step)
        plan = step.plan()
        self._flying.update((chunk.sequence, chunk) for chunk in plan.chunks)
        return plan

    def pass_on(self, plan: StepPlan) -> None:
        """Record that a plan has left the first stage of a pipeline: its prompts may go on there
        with their next tokens, which come after these in every stage."""
        self._record(chunk for chunk in plan.chunks if not chunk.samples)

    def commit(self, plan: StepPlan) -> None:
        """Record that the forward of a plan has run."""
        self._record(plan.chunks)

    def _record(self, chunks: Iterable[Chunk]) -> None:
        """Count the tokens of chunks as computed, except for those that were recorded before."""
        for chunk in chunks:
            sequence = chunk.sequence
            if self._flying.get(sequence) is not chunk:
                continue
            del self._flying[sequence]
            if sequence.phase is Phase.RUNNING:
                sequence.computed = chunk.start + chunk.count
                self.tables.settle(sequence)

    def confirm(self, sequence: Sequence, tokens: list[int]) -> None:
        """Append sampled tokens."""
        sequence.tokens += tokens
        self.tables.settle(sequence)

    def check(self) -> None:
        """Assert the invariants of the block tables and of the phases."""
        self.tables.check(self.live())
        assert len(self.running) <= self.max_running
        assert all(sequence.phase is Phase.RUNNING for sequence in self.running)
        assert all(s.phase is Phase.WAITING and not s.table for s in self.waiting)

    # What batchings are made of ---------------------------------------------------------------

    def decode(self, step: PlanBuilder) -> None:
        """Give every decoding sequence its pending tokens, oldest first, preempting the newest ones
        where blocks run out."""
        for sequence in list(self.running):
            if step.budget <= 0 or len(step.counts) >= self.max_batch:
                return
            free = sequence not in step.counts and self.grounded(sequence)
            if free and sequence.phase is Phase.RUNNING and sequence.decodes:
                self.compute(sequence, sequence.pending, step)

    def in_prefill(self) -> list[Sequence]:
        """Running sequences with prompt tokens that the step may compute, oldest first."""
        return [s for s in self.running if s.pending and not s.decodes and self.grounded(s)]

    def grounded(self, sequence: Sequence) -> bool:
        """Whether no plan in flight computes tokens of `sequence`."""
        return sequence not in self._flying

    def compute(self, sequence: Sequence, count: int, step: PlanBuilder) -> bool:
        """Put `count` tokens of a running sequence into the step; False if it has to wait for
        blocks or was preempted itself."""
        missing = self.tables.missing(sequence, step.counts.get(sequence, 0) + count)
        while missing > self.pool.available:
            victim = next(
                (s for s in reversed(self.running) if s not in step.counts and self.grounded(s)),
                None,
            )
            if victim is None:
                return False
            self._preempt(victim, step)
            if victim is sequence:
                return False
        if missing > 0:
            self.tables.grow(sequence, missing, step)
        step.take(sequence, count)
        return True

    def admit(
        self,
        step: PlanBuilder,
        most: int | None = None,
        *,
        whole: bool = False,
        order: Key | None = None,
        displaces: Displaces | None = None,
    ) -> Iterator[Sequence]:
        """Admit waiting sequences in `order`, or in the scheduler's, at most `most`, and yield
        each. The first that does not fit ends it: none is overtaken because of its size. `whole`:
        the prompt has to fit into what is left of the step, unless the step has no prompt yet.
        `displaces`: whether a waiting sequence may preempt a running one in order to be admitted;
        the newest ones go first."""
        order = order or self._order
        self.waiting.sort(key=lambda s: order(s, self.tables))
        for admitted, sequence in enumerate(list(self.waiting)):
            full = admitted == most or len(step.counts) >= self.max_batch
            large = whole and admitted > 0 and len(sequence.tokens) > step.budget
            if full or large or step.budget <= 0:
                return
            while not self._enter(sequence, step):
                if displaces is None or not self._displace(sequence, step, displaces):
                    return
            yield sequence

    def _displace(self, sequence: Sequence, step: PlanBuilder, displaces: Displaces) -> bool:
        """Preempt the newest running sequence that may be preempted for `sequence`; False if there
        is none."""
        for victim in reversed(self.running):
            free = victim not in step.counts and self.grounded(victim)
            if free and displaces(sequence, victim):
                self._preempt(victim, step)
                return True
        return False

    def _enter(self, sequence: Sequence, step: PlanBuilder) -> bool:
        """Admit a sequence if a slot is free, all its tokens fit, and `WATERMARK` of the blocks
        stay free beside running ones."""
        if len(self.running) >= self.max_running:
            return False
        self.tables.begin(sequence)
        positions = sequence.limit if self.batching.reserves else len(sequence.tokens)
        missing = self.pool.needed(positions) - len(sequence.table)
        spare = 0 if self.batching.reserves or not self.running else WATERMARK * self.pool.total
        if missing + spare > self.pool.available:
            self.tables.let_go(sequence)
            return False
        found = sequence.computed = len(sequence.table) * self.pool.block_size
        if sequence.host:
            self.tables.swap_in(sequence, step)
        elif self._continues_blocks:
            self.tables.copy_beginning(sequence, self.running, step)
            found = sequence.computed
        if self.batching.reserves:
            self.tables.grow(sequence, self.pool.needed(positions) - len(sequence.table), step)
        self.waiting.remove(sequence)
        sequence.phase = Phase.RUNNING
        self.running.append(sequence)
        step.admitted.append(sequence)
        if not sequence.preemptions:
            sequence.cached_tokens = found
        if self.tree is not None:
            self.tree.queries += len(sequence.tokens) - 1
            self.tree.hits += found
        return True

    def _preempt(self, sequence: Sequence, step: PlanBuilder) -> None:
        self.preemptions += 1
        sequence.preemptions += 1
        step.preempted.append(sequence)
        if self._preemption == "drop":
            self.dropped += 1
            self.end(sequence)
            self.release(sequence)
            return
        blocks = self.pool.needed(sequence.computed)
        if self._preemption == "swap" and 0 < blocks <= self.host.free:
            self.tables.swap_out(sequence, step)
            self.swaps += 1
        self.tables.let_go(sequence)
        self.running.remove(sequence)
        sequence.phase = Phase.WAITING
        self.waiting.append(sequence)
