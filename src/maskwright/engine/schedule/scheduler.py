"""The scheduler: which tokens of which sequences the next forward computes.

It uses no torch, no clock and no thread. In each step, within a budget of tokens:

1. Every decoding sequence gets its tokens: the sampled one, those that its grammar forces after it,
and draft tokens as far as the budget leaves room. 2. Running prefills go on, the most senior first,
each service class within its share of the rest (chunked prefill, Sarathi-Serve, OSDI'24). 3.
Waiting sequences are admitted in the order of `WaitingQueue` while slots, blocks and budget last.
What a class leaves of its share goes to the others.

Blocks are taken from the free ones, then from the prefix tree by eviction, then by preemption of a
sequence that is junior to the one in need (`Sequence.seniority`) and has no work in this step yet:
from the last class, the one that is cheapest to compute again. A preempted sequence restarts later
from the part of its prefix that is still cached; or, if that is cheaper and there is room, its
blocks are swapped out to the host's memory and back. These copies may run beside steps: blocks
become available, and the sequence is computed again, when they have ended. Where no sequence can be
preempted, the one in need waits a step and keeps what it holds. A senior sequence therefore never
yields to a junior one, and since the most senior can always make room for itself, every admitted
sequence ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Sequence as SequenceOf
from operator import attrgetter

from maskwright.engine.kv.blocks import AttentionWindow, BlockPool
from maskwright.engine.schedule.batch_work import (
    chunks_of,
    commit,
    count_decoding,
    decode,
    has_more,
    most_prefilled,
)
from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.plan import PlanBuilder, StepPlan
from maskwright.engine.schedule.sequence import Phase, Sequence
from maskwright.engine.schedule.service import CLASSES, ServiceClass
from maskwright.engine.schedule.tables import Tables
from maskwright.engine.schedule.waiting import PATIENCE, WaitingQueue

MOST_BLOCKED = 4
"""Waiting sequences that one step tries to admit without finding blocks for them before it
stops."""


class Scheduler:
    """Owns phase, block table and progress of every live sequence."""

    def __init__(
        self,
        pool: BlockPool,
        *,
        max_running: int,
        max_batch_tokens: int,
        classes: SequenceOf[ServiceClass] = CLASSES,
        prefix_cache: bool = True,
        window: int | None = None,
        host_blocks: int = 0,
        swap_pays: Callable[[int, int], bool] | None = None,
        beside_steps: bool = False,
    ) -> None:
        """`max_running`: sequences in a batch. `max_batch_tokens`: tokens in a step. `window`: the
        model's widest attention window in positions, None for full attention. `host_blocks`: the
        size of the host's pool. `swap_pays(blocks, tokens)`: whether copying the blocks out and
        back is cheaper than computing the tokens again; None for always. `beside_steps`: see
        `Tables`."""
        assert max_batch_tokens >= max_running, "every running sequence must be able to decode"
        self.pool = pool
        self.attention_window = AttentionWindow(pool.block_size, max_batch_tokens, window)
        self.host = BlockPool(host_blocks, pool.block_size)
        self.tables = Tables(
            *(pool, self.host, self.attention_window),
            prefix_cache=prefix_cache,
            beside_steps=beside_steps,
        )
        self.tree = self.tables.tree
        self.waiting = WaitingQueue(classes)
        self.running: list[Sequence] = []
        self.paused: list[Sequence] = []
        self.preemptions = 0
        self.swaps = 0
        """Preemptions whose blocks were swapped to the host's pool."""
        self.arriving: Callable[[Sequence], bool] | None = None
        """Whether a waiting sequence whose turn it is should wait for blocks from a store."""
        self._swap_pays = swap_pays
        self._classes = classes
        self._max_running = max_running
        self._max_batch_tokens = max_batch_tokens

    @property
    def idle(self) -> bool:
        """Whether there is nothing to compute: every sequence waits for its reader or for a mask,
        or there is none."""
        return not self.waiting and not any(sequence.pending for sequence in self.running)

    @property
    def may_admit(self) -> bool:
        """Whether the next plan may admit a waiting sequence: a slot is free, or a sequence of a
        worse class may have to give its own."""
        if not self.waiting or len(self.running) < self._max_running:
            return bool(self.waiting)
        best = self.waiting.ranks()[0]
        return any(sequence.rank > best for sequence in self.running)

    @property
    def decoding(self) -> int:
        """Tokens to compute for decoding sequences, without drafts."""
        return count_decoding(self.running)

    @property
    def prefilled(self) -> int:
        """Computed tokens of the prompt whose prefill has come furthest; 0 without one."""
        return most_prefilled(self.running)

    def live(self) -> Iterator[Sequence]:
        """Yield every sequence that has not ended."""
        yield from self.running
        yield from self.paused
        yield from self.waiting

    def add(self, sequence: Sequence) -> None:
        """Queue a new sequence."""
        self.waiting.enter(sequence)
        self.waiting.add(sequence)

    def end(self, sequence: Sequence) -> None:
        """Remove `sequence` in whatever phase it is. It keeps its blocks until `release`, which
        every caller must call afterwards."""
        if sequence.phase is not Phase.ENDED:
            self._group(sequence).remove(sequence)
            sequence.phase = Phase.ENDED
            self.waiting.leave(sequence)

    def release(self, sequence: Sequence) -> None:
        """Give back all blocks of `sequence` in both pools."""
        self.tables.release(sequence)
        sequence.draft = []

    def pause(self, sequence: Sequence) -> None:
        """Compute nothing more of `sequence` until it is resumed."""
        if sequence.phase in (Phase.RUNNING, Phase.WAITING):
            self._group(sequence).remove(sequence)
            sequence.phase = Phase.PAUSED
            self.paused.append(sequence)

    def _group(self, sequence: Sequence) -> list[Sequence] | WaitingQueue:
        """The sequences in the phase of one that has not ended."""
        if sequence.phase is Phase.WAITING:
            return self.waiting
        return self.running if sequence.phase is Phase.RUNNING else self.paused

    def resume(self, sequence: Sequence) -> None:
        """Go on with a paused sequence: at once if it still has its blocks and a slot is free, else
        from the queue."""
        if sequence.phase is not Phase.PAUSED:
            return
        self.paused.remove(sequence)
        if sequence.table and len(self.running) < self._max_running:
            sequence.phase = Phase.RUNNING
            self.running.append(sequence)
        else:
            self.tables.let_go(sequence)
            sequence.draft = []
            sequence.phase = Phase.WAITING
            self.waiting.add(sequence)

    def plan(self, budget: int | None = None) -> StepPlan:
        """Plan the next step, of at most `budget` tokens (None: `max_batch_tokens`). Block tables
        and phases change at once; `Sequence.computed` changes only with `commit`."""
        step = PlanBuilder(max(budget or self._max_batch_tokens, len(self.running)))
        self.tables.unwritten.clear()
        self.running.sort(key=attrgetter("seniority"))
        self._make_way(step)
        decode(self.running, step, self.pool.block_size, self.pool, self._room)
        if step.budget and self._more(step):
            self._prefill(step, self._shares(step.budget))
        if step.budget and self._more(step):  # what a class left of its share
            self._prefill(step, [[step.budget] for _ in self._classes])
        return step.plan()

    def plan_ahead(self, counts: Mapping[Sequence, int]) -> StepPlan | None:
        """Plan steps in a row in which nothing is decided: each sequence of `counts`, which are all
        that run, computes its one pending token, and gets the blocks for as many tokens as `counts`
        says, that one included. None, with nothing changed, if that took a preemption."""
        missing = {
            sequence: max(0, self.tables.missing(sequence, count))
            for sequence, count in counts.items()
        }
        if sum(missing.values()) > self.pool.available:
            return None
        step = PlanBuilder(len(counts))
        for sequence, blocks in missing.items():
            step.take(sequence, 1)
            if blocks:
                self.tables.grow(sequence, blocks, step)
        return step.plan()

    def _more(self, step: PlanBuilder) -> bool:
        """Whether a sequence has work that is not yet in the step."""
        return bool(self.waiting) or has_more(self.running, step.counts)

    def commit(self, plan: StepPlan) -> None:
        """Record that the forward of `plan` has run, so that its keys and values are in the blocks.
        Draft tokens count as computed only after they have been accepted (`confirm`)."""
        self._commit(plan.chunks)

    def commit_ahead(self, sequences: Iterable[Sequence]) -> None:
        """Record for steps in a row that the one pending token of each of `sequences` has been
        computed. The tokens after it are, once they have been appended (`confirm`)."""
        self._commit(chunks_of(dict.fromkeys(sequences, 1), {}))

    def _commit(self, chunks: tuple[Chunk, ...]) -> None:
        windowed = self.attention_window.positions is not None
        for sequence in commit(chunks, self.pool.block_size, windowed):
            self.tables.settle(sequence)

    def confirm(self, sequence: Sequence, tokens: list[int]) -> None:
        """Append sampled `tokens`; all but the last were accepted draft tokens, and so are
        computed."""
        sequence.tokens += tokens
        sequence.computed += len(tokens) - 1
        self.waiting.charge(sequence, output=len(tokens))
        if len(tokens) > 1:
            self.tables.settle(sequence)

    def extend(self, sequence: Sequence, tokens: SequenceOf[int]) -> None:
        """Append `tokens` that the grammar forces; they have to be computed."""
        sequence.tokens += tokens
        self.waiting.charge(sequence, prompt=len(tokens))

    def expired(self, now: float) -> list[Sequence]:
        """Sequences whose deadline has passed at time `now`."""
        return [s for s in self.live() if s.deadline is not None and s.deadline <= now]

    def check(self) -> None:
        """Assert the invariants of the block tables and of the phases."""
        self.tables.check(self.live())
        assert len(self.running) <= self._max_running
        assert all(sequence.phase is Phase.RUNNING for sequence in self.running)
        assert all(sequence.phase is Phase.PAUSED for sequence in self.paused)
        assert all(s.phase is Phase.WAITING and not s.table for s in self.waiting)

    # Running sequences ------------------------------------------------------------------------

    def _prefill(self, step: PlanBuilder, shares: list[list[int]]) -> None:
        """Continue running prefills, then admit waiting sequences, each class within its share."""
        for sequence in self.running.copy():
            if sequence.phase is Phase.RUNNING and sequence.pending > step.counts.get(sequence, 0):
                self._fill(sequence, step, shares[sequence.rank])
        if not step.short_of_blocks:
            self._admit(step, shares)

    def _fill(self, sequence: Sequence, step: PlanBuilder, share: list[int]) -> None:
        """Compute as many pending tokens as budget and `share` allow; `share` is a list of one
        number, which is reduced."""
        if sequence.transfer is not None:
            return  # its blocks are on their way back
        done = step.counts.get(sequence, 0)
        count = min(sequence.pending - done, step.budget, share[0])
        if sequence.scored < sequence.to_score:
            count = min(count, step.scorable)
        if count > 0 and self._room(sequence, done + count, step):
            step.take(sequence, count)
            share[0] -= count

    def _room(self, sequence: Sequence, count: int, step: PlanBuilder) -> bool:
        """Extend the block table by `count` positions, preempting juniors where necessary; False if
        there are not enough blocks, or not before copies have ended."""
        missing = self.tables.missing(sequence, count)
        if missing <= 0:
            return True
        while self._lacks(missing + step.promised):
            victim = self._victim(sequence, step)
            if victim is None:
                return False
            self._preempt(victim, step)
            step.short_of_blocks = True
        if missing + step.promised > self.pool.available:
            step.promised += missing
            step.short_of_blocks = True
            return False
        self.tables.grow(sequence, missing, step)
        return True

    def _lacks(self, blocks: int) -> bool:
        """Whether there are not so many blocks, not even once the copies in flight have ended."""
        lacking = blocks - self.pool.available
        return lacking > 0 and lacking > self.tables.transfers.leaving()

    def _victim(self, needy: Sequence, step: PlanBuilder) -> Sequence | None:
        """The sequence to preempt for `needy`, None if there is none: a paused one before a running
        one, the last class first, and within it the one with the fewest tokens to compute again for
        each block that becomes free. One whose blocks are all shared frees none and comes last."""
        juniors = [
            sequence
            for sequence in (*self.paused, *self.running)
            if (sequence.phase is Phase.PAUSED or sequence.seniority > needy.seniority)
            and sequence not in step.counts
            and sequence.table
            and sequence.transfer is None
        ]
        return max(
            juniors,
            key=lambda s: (
                s.phase is Phase.PAUSED,
                s.seniority[0],
                -self.tables.loss(s),
                s.arrival,
            ),
            default=None,
        )

    def _preempt(self, sequence: Sequence, step: PlanBuilder) -> None:
        if self._swaps_out(sequence):
            self.tables.swap_out(sequence, step)
            self.swaps += 1
        self.tables.let_go(sequence)
        sequence.draft = []
        sequence.preemptions += 1
        self.preemptions += 1
        step.preempted.append(sequence)
        if sequence.phase is Phase.RUNNING:
            self.running.remove(sequence)
            sequence.phase = Phase.WAITING
            self.waiting.add(sequence)

    def _swaps_out(self, sequence: Sequence) -> bool:
        blocks = self.pool.needed(sequence.computed) - sequence.outside_window
        if not 0 < blocks <= self.host.free:
            return False
        return self._swap_pays is None or self._swap_pays(blocks, sequence.computed)

    # Waiting sequences ------------------------------------------------------------------------

    def _shares(self, budget: int) -> list[list[int]]:
        """The part of `budget` that each class may use for prompts: in proportion to its weight
        among the classes that have prompts to compute, with the remainder of the division for the
        first of them. Each part is a list of one number, which `_fill` reduces."""
        busy = {s.rank for s in self.running if s.pending and not s.decodes}
        busy |= set(self.waiting.ranks())
        whole = sum(self._classes[rank].weight for rank in busy)
        shares = [[0] for _ in self._classes]
        for rank in busy:
            shares[rank][0] = int(budget * self._classes[rank].weight / whole)
        if busy:
            shares[min(busy)][0] += budget - sum(share[0] for share in shares)
        return shares

    def _admit(self, step: PlanBuilder, shares: list[list[int]]) -> None:
        """Admit waiting sequences as long as there is room. One that doesn't fit may be overtaken
        `PATIENCE` times. One whose next block is being computed for another sequence waits for it,
        because it will then be a cache hit."""
        if not self.waiting:
            return
        coming = {self.tables.next_block(s) for s in self.running} - {None}
        while self.waiting and step.budget and len(self.running) < self._max_running:
            blocked: list[Sequence] = []
            chosen = None
            for sequence in self.waiting.order(self.tables.cached):
                if shares[sequence.rank][0] <= 0 or self.tables.following(sequence) in coming:
                    continue
                if sequence.transfer is not None:
                    continue
                if self.arriving is not None and self._fits(sequence) and self.arriving(sequence):
                    continue
                if self._enter(sequence, step):
                    chosen = sequence
                    break
                blocked.append(sequence)
                if sequence.overtaken >= PATIENCE or len(blocked) == MOST_BLOCKED:
                    break
            if chosen is None:
                return
            self.waiting.overtake(chosen, blocked)
            self._fill(chosen, step, shares[chosen.rank])
            coming |= {self.tables.next_block(chosen)} - {None}

    def _enter(self, sequence: Sequence, step: PlanBuilder) -> bool:
        """Admit `sequence` if a slot is free and all its tokens fit in addition to what the running
        sequences still need and one block of growth for each, so that admission does not soon cause
        a preemption. Paused sequences are preempted for it."""
        self.tables.begin(sequence)
        while not self._fits(sequence):
            held = [other for other in self.paused if other.table and other.transfer is None]
            if not held or self._fits(sequence, leaving=self.tables.transfers.leaving()):
                self.tables.let_go(sequence)
                return False
            self._preempt(held[0], step)
        sequence.computed = from_cache = len(sequence.table) * self.pool.block_size
        if sequence.host:
            self.tables.swap_in(sequence, step)
        else:
            self.tables.copy_beginning(sequence, self.running, step)
            from_cache = sequence.computed
        self.waiting.remove(sequence)
        sequence.phase = Phase.RUNNING
        self.running.append(sequence)
        step.admitted.append(sequence)
        if self.tree is not None:
            self.tree.queries += len(sequence.tokens) - 1
            self.tree.hits += from_cache
        if not sequence.charged:
            sequence.charged, sequence.cached_tokens = True, sequence.computed
            self.waiting.charge(sequence, prompt=sequence.pending)
        return True

    def _fits(
        self, sequence: Sequence, without: SequenceOf[Sequence] = (), *, leaving: int = 0
    ) -> bool:
        """Whether there is a slot and there are blocks for `sequence` once the running sequences
        `without` have been preempted and `leaving` blocks, whose copies are in flight, have become
        available."""
        others = [other for other in self.running if other not in without]
        if len(others) >= self._max_running:
            return False
        available = self.pool.available + leaving
        available += sum(self.pool.held_once(self.tables.held(other)) for other in without)
        promised = sum(self.tables.to_come(other) + 1 for other in others)
        missing = self.tables.to_come(sequence)
        if not others:
            return available >= self.tables.to_come_back(sequence)
        return available >= promised + missing

    def _make_way(self, step: PlanBuilder) -> None:
        """Preempt running sequences of a worse class where it is a better class's turn, slots or
        blocks are lacking, and the worse class has had more than its fair share; only as many as
        are needed, and only if that is enough."""
        ranks = self.waiting.ranks()
        if not ranks or self.decoding >= step.budget:
            return
        if not any(other.rank > ranks[0] for other in self.running):
            return
        sequence = next(self.waiting.order(self.tables.cached))
        if sequence.transfer is not None:
            return  # its blocks are on their way to the host
        worse = [
            other
            for other in self.running
            if other.seniority[0] > sequence.rank
            and other.transfer is None
            and self.waiting.served(other.rank) >= self.waiting.served(sequence.rank)
        ]
        worse.sort(key=lambda other: other.seniority, reverse=True)
        leaving = self.tables.transfers.leaving()
        for count in range(len(worse) + 1):
            victims = worse[:count]
            if self._fits(sequence, victims, leaving=leaving):
                for spared in worse[:count]:
                    fewer = [victim for victim in victims if victim is not spared]
                    if self._fits(sequence, fewer, leaving=leaving):
                        victims = fewer
                for victim in victims:
                    self._preempt(victim, step)
                return
