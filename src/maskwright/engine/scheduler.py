"""Which tokens of which sequences the next forward computes. Pure: no torch, no clock, no thread.

Policy, each step, within `max_batch_tokens` tokens:
1. every running sequence that decodes gets its one token;
2. running prefills continue, in order of arrival, by as much as the budget leaves (chunked
   prefill, Sarathi-Serve, OSDI'24);
3. waiting sequences enter, in order of arrival, while slots, blocks and budget last.

When blocks run out, the youngest sequence that has no work in this step yet and is younger than
the one in need gives its blocks up and starts again later (recompute); where there is none, the
one in need waits a step and keeps what it holds. An older sequence therefore never yields to a
younger one, and since the oldest can always make room for itself, every admitted sequence ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from maskwright.engine.blocks import BlockPool
from maskwright.engine.sequence import Phase, Sequence


@dataclass(frozen=True, slots=True)
class Chunk:
    """Compute tokens `start .. start+count` of `sequence`; `samples`: a new token follows."""

    sequence: Sequence
    start: int
    count: int
    samples: bool


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The work of one step and what was decided on the way; `fresh` are newly taken blocks."""

    chunks: tuple[Chunk, ...]
    fresh: tuple[int, ...]
    admitted: tuple[Sequence, ...]
    preempted: tuple[Sequence, ...]

    @property
    def tokens(self) -> int:
        """Tokens the forward computes."""
        return sum(chunk.count for chunk in self.chunks)


class Scheduler:
    """Owns the phase, table and progress of every live sequence."""

    def __init__(self, pool: BlockPool, *, max_running: int, max_batch_tokens: int) -> None:
        assert max_batch_tokens >= max_running, "every running sequence must be able to decode"
        self.pool = pool
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.preemptions = 0
        self._max_running = max_running
        self._max_batch_tokens = max_batch_tokens

    @property
    def idle(self) -> bool:
        """Nothing to do."""
        return not self.waiting and not self.running

    def live(self) -> Iterator[Sequence]:
        """Every sequence that has not ended."""
        yield from self.running
        yield from self.waiting

    def add(self, sequence: Sequence) -> None:
        """Queue a new sequence."""
        self._enqueue(sequence)

    def end(self, sequence: Sequence) -> None:
        """Take `sequence` out, wherever it stands, and free its blocks. The one way to end."""
        if sequence.phase is Phase.ENDED:
            return
        (self.running if sequence.phase is Phase.RUNNING else self.waiting).remove(sequence)
        self._release(sequence)
        sequence.phase = Phase.ENDED

    def plan(self) -> StepPlan:
        """Decide the next step; tables grow and phases change at once, `computed` by `commit`."""
        step = _Step(self._max_batch_tokens)
        decoding = [sequence for sequence in self.running if sequence.pending == 1]
        filling = [sequence for sequence in self.running if sequence.pending > 1]
        for sequence in (*decoding, *filling):
            if sequence.phase is Phase.RUNNING and step.budget:
                self._continue(sequence, step)
        if not step.preempted:
            self._admit(step)
        return StepPlan(
            tuple(step.chunks), tuple(step.fresh), tuple(step.admitted), tuple(step.preempted)
        )

    def commit(self, plan: StepPlan) -> None:
        """The forward of `plan` is done: its keys and values are in the blocks."""
        for chunk in plan.chunks:
            if chunk.sequence.phase is Phase.RUNNING:
                chunk.sequence.computed = chunk.start + chunk.count

    def check(self) -> None:
        """Assert the block invariants and the scheduler's own."""
        self.pool.check(sequence.table for sequence in self.live())
        assert len(self.running) <= self._max_running
        assert all(sequence.phase is Phase.RUNNING for sequence in self.running)
        assert all(not sequence.table for sequence in self.waiting)
        arrivals = [sequence.arrival for sequence in self.waiting]
        assert arrivals == sorted(arrivals), "the queue is out of order"
        for sequence in self.running:
            assert sequence.computed <= len(sequence.table) * self.pool.block_size

    def _continue(self, sequence: Sequence, step: _Step) -> None:
        count = min(sequence.pending, step.budget)
        missing = self.pool.needed(sequence.computed + count) - len(sequence.table)
        while missing > self.pool.free:
            victim = self._victim(sequence, step)
            if victim is None:
                return
            self._preempt(victim)
            step.preempted.append(victim)
        if missing > 0:
            blocks = self.pool.allocate(missing)
            sequence.table += blocks
            step.fresh += blocks
        step.take(sequence, count)

    def _victim(self, needy: Sequence, step: _Step) -> Sequence | None:
        younger = [
            sequence
            for sequence in self.running
            if sequence.arrival > needy.arrival and sequence not in step.planned and sequence.table
        ]
        return max(younger, key=lambda sequence: sequence.arrival, default=None)

    def _preempt(self, sequence: Sequence) -> None:
        self.running.remove(sequence)
        self._release(sequence)
        sequence.phase = Phase.WAITING
        sequence.preemptions += 1
        self.preemptions += 1
        self._enqueue(sequence)

    def _enqueue(self, sequence: Sequence) -> None:
        place = len(self.waiting)
        while place and self.waiting[place - 1].arrival > sequence.arrival:
            place -= 1
        self.waiting.insert(place, sequence)

    def _release(self, sequence: Sequence) -> None:
        self.pool.release(sequence.table)
        sequence.table = []
        sequence.computed = 0

    def _admit(self, step: _Step) -> None:
        """Only a sequence whose tokens fit whole, beside what running prefills still need and one
        block for each running sequence to grow into, so that entering causes no preemption soon."""
        while self.waiting and step.budget and len(self.running) < self._max_running:
            sequence = self.waiting[0]
            promised = sum(
                max(1, self.pool.needed(len(other.tokens) + 1) - len(other.table))
                for other in self.running
            )
            if self.running and self.pool.free < promised + self.pool.needed(
                len(sequence.tokens) + 1
            ):
                return
            self.waiting.popleft()
            sequence.phase = Phase.RUNNING
            self.running.append(sequence)
            step.admitted.append(sequence)
            self._continue(sequence, step)


class _Step:
    """A plan in the making."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.chunks: list[Chunk] = []
        self.fresh: list[int] = []
        self.planned: set[Sequence] = set()
        self.admitted: list[Sequence] = []
        self.preempted: list[Sequence] = []

    def take(self, sequence: Sequence, count: int) -> None:
        samples = count == sequence.pending
        self.chunks.append(Chunk(sequence, sequence.computed, count, samples))
        self.planned.add(sequence)
        self.budget -= count
