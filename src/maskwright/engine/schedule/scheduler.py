"""Which tokens of which sequences the next forward computes. Pure: no torch, no clock, no thread.

Policy, each step, within a budget of tokens:
1. every running sequence that decodes gets its tokens: the sampled one, those its grammar forces
   after it, and drafts as far as the budget leaves room;
2. running prefills go on, the most senior first, each class within its share of what is left
   (chunked prefill, Sarathi-Serve, OSDI'24);
3. waiting sequences enter in the order of `WaitingQueue`, while slots, blocks and budget last;
   what a class left of its share goes to whoever has work.

Blocks come from the free ones, then from the prefix tree's, then from a sequence junior to the one
in need (`Sequence.seniority`) that has no work in this step yet: of the last class, the cheapest to
compute again. It starts again later, from whatever of its prefix is still cached; or, if that is
cheaper and there is room, its blocks are swapped to the host's memory and back. Where there is no
such sequence, the one in need waits a step and keeps what it holds. A senior therefore never yields
to a junior, and since the most senior can always make room for itself, every admitted sequence
ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as SequenceOf

from maskwright.engine.kv.attention_window import Reach
from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.plan import Step, StepPlan
from maskwright.engine.schedule.sequence import Phase, Sequence
from maskwright.engine.schedule.service import CLASSES, ServiceClass
from maskwright.engine.schedule.step_time import FIXED_ROWS
from maskwright.engine.schedule.tables import Tables
from maskwright.engine.schedule.waiting import PATIENCE, WaitingQueue

RECOVERY = 0.01
"""What the promise of drafts gains for each one that was not tried."""

MOST_BLOCKED = 4
"""Waiting sequences that are tried in one step although there are no blocks for them."""


class Scheduler:
    """Owns the phase, table and progress of every live sequence."""

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
    ) -> None:
        """`window`: positions that the model looks back on at most, None for all. `host_blocks`:
        the size of the host's pool; `swap_pays` says whether copying so many blocks out and back
        costs less than computing so many tokens again, None for always."""
        assert max_batch_tokens >= max_running, "every running sequence must be able to decode"
        self.pool = pool
        self.reach = Reach(pool.block_size, max_batch_tokens, window)
        self.host = BlockPool(host_blocks, pool.block_size)
        self.tables = Tables(pool, self.host, self.reach, prefix_cache=prefix_cache)
        self.tree = self.tables.tree
        self.waiting = WaitingQueue(classes)
        self.running: list[Sequence] = []
        self.paused: list[Sequence] = []
        self.preemptions = 0
        self.swaps = 0
        """Preemptions whose blocks were swapped to the host's pool."""
        self._swap_pays = swap_pays
        self._classes = classes
        self._max_running = max_running
        self._max_batch_tokens = max_batch_tokens

    @property
    def idle(self) -> bool:
        """Nothing to compute: no sequence, or none but those that wait for their reader or for a
        mask."""
        return not self.waiting and not any(sequence.pending for sequence in self.running)

    @property
    def decoding(self) -> int:
        """Tokens that sequences which decode have to compute."""
        return sum(s.pending for s in self.running if s.decodes)

    @property
    def prefilled(self) -> int:
        """How far the longest of the prompts at work has been computed."""
        return max((s.computed for s in self.running if s.pending and not s.decodes), default=0)

    def live(self) -> Iterator[Sequence]:
        """Every sequence that has not ended."""
        yield from self.running
        yield from self.paused
        yield from self.waiting

    def add(self, sequence: Sequence) -> None:
        """Queue a new sequence."""
        self.waiting.enter(sequence)
        self.waiting.add(sequence)

    def end(self, sequence: Sequence) -> None:
        """Take `sequence` out, wherever it stands. Its blocks stay its own until `release`; the two
        are the one way to end."""
        match sequence.phase:
            case Phase.WAITING:
                self.waiting.remove(sequence)
            case Phase.RUNNING:
                self.running.remove(sequence)
            case Phase.PAUSED:
                self.paused.remove(sequence)
            case Phase.ENDED:
                return
        sequence.phase = Phase.ENDED
        self.waiting.leave(sequence)

    def release(self, sequence: Sequence) -> None:
        """Give back everything that `sequence` holds, which goes on from the beginning, if at
        all."""
        self.tables.release(sequence)
        sequence.draft = []

    def pause(self, sequence: Sequence) -> None:
        """Compute nothing more of `sequence` until it is resumed."""
        if sequence.phase is Phase.RUNNING:
            self.running.remove(sequence)
        elif sequence.phase is Phase.WAITING:
            self.waiting.remove(sequence)
        else:
            return
        sequence.phase = Phase.PAUSED
        self.paused.append(sequence)

    def resume(self, sequence: Sequence) -> None:
        """Go on with a paused sequence, where it was or, if it lost its blocks, from the queue."""
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
        """Decide the next step, of at most `budget` tokens (None: `max_batch_tokens`). Tables grow
        and phases change at once, `computed` by `commit`."""
        step = Step(max(budget or self._max_batch_tokens, len(self.running)))
        self._make_way(step)
        self._decode(step)
        if step.budget and self._more(step):
            self._prefill(step, self._shares(step.budget))
        if step.budget and self._more(step):  # what a class left of its share
            self._prefill(step, [[step.budget] for _ in self._classes])
        return step.plan()

    def _more(self, step: Step) -> bool:
        """Whether somebody has work beside what is in the step."""
        return bool(self.waiting) or any(s.pending > step.counts.get(s, 0) for s in self.running)

    def commit(self, plan: StepPlan) -> None:
        """The forward of `plan` is done: its keys and values are in the blocks. Of drafts, none
        counts as computed before it has been accepted (`confirm`)."""
        for chunk in plan.chunks:
            sequence = chunk.sequence
            if sequence.phase is Phase.RUNNING:
                sequence.blocks_peak = max(sequence.blocks_peak, len(self.tables.held(sequence)))
                sequence.computed = chunk.start + chunk.count - chunk.drafted
                self.tables.settle(sequence)

    def confirm(self, sequence: Sequence, tokens: list[int]) -> None:
        """`tokens` have been sampled; all but the last stood in the draft, and are computed."""
        sequence.tokens += tokens
        sequence.computed += len(tokens) - 1
        self.waiting.charge(sequence, output=len(tokens))
        self.tables.settle(sequence)

    def extend(self, sequence: Sequence, tokens: SequenceOf[int]) -> None:
        """`tokens` come next, whatever would be sampled."""
        sequence.tokens += tokens
        self.waiting.charge(sequence, prompt=len(tokens))

    def expired(self, now: float) -> list[Sequence]:
        """Sequences whose deadline has come."""
        return [s for s in self.live() if s.deadline is not None and s.deadline <= now]

    def check(self) -> None:
        """Assert the invariants of the tables and the scheduler's own."""
        self.tables.check(self.live())
        assert len(self.running) <= self._max_running
        assert all(sequence.phase is Phase.RUNNING for sequence in self.running)
        assert all(sequence.phase is Phase.PAUSED for sequence in self.paused)
        assert all(s.phase is Phase.WAITING and not s.table for s in self.waiting)

    # Running sequences ------------------------------------------------------------------------

    def _decode(self, step: Step) -> None:
        """Every decoding sequence gets a token before any gets more, and all their tokens before
        any gets drafts."""
        short = [s for s in self.running if s.decodes]
        short.sort(key=lambda s: s.seniority)
        for left, sequence in zip(range(len(short) - 1, -1, -1), short, strict=True):
            if sequence.phase is Phase.RUNNING and step.budget:
                count = min(sequence.pending, max(1, step.budget - left))
                if self._room(sequence, count, step):
                    step.take(sequence, count)
        for sequence in short:
            # A draft that comes true saves its sequence a row and its part of a step's fixed costs;
            # one that doesn't costs a row. So the more decode, the surer a draft has to be.
            drafts = min(len(sequence.draft), step.budget)
            unsure = sequence.promise * (1 + FIXED_ROWS / len(short)) < 1
            if drafts and unsure and not sequence.by_model:
                sequence.promise += RECOVERY
                continue
            if drafts and step.counts.get(sequence) == sequence.pending:
                end = sequence.pending + drafts
                missing = self.tables.missing(sequence, end)
                if missing <= self.pool.free and self._room(sequence, end, step):
                    step.draft(sequence, drafts)

    def _prefill(self, step: Step, shares: list[list[int]]) -> None:
        """Go on with the prompts at work, then let others in, each class within its share."""
        for sequence in sorted(self.running, key=lambda s: s.seniority):
            if sequence.phase is Phase.RUNNING and sequence.pending > step.counts.get(sequence, 0):
                self._fill(sequence, step, shares[sequence.rank])
        if not step.short_of_blocks:
            self._admit(step, shares)

    def _fill(self, sequence: Sequence, step: Step, share: list[int]) -> None:
        """Compute as much of what is pending as budget and share (one item, lowered) leave."""
        done = step.counts.get(sequence, 0)
        count = min(sequence.pending - done, step.budget, share[0])
        if count > 0 and self._room(sequence, done + count, step):
            step.take(sequence, count)
            share[0] -= count

    def _room(self, sequence: Sequence, count: int, step: Step) -> bool:
        """Make the table hold `count` more positions; False if there are no blocks for them."""
        missing = self.tables.missing(sequence, count)
        while missing > self.pool.available:
            victim = self._victim(sequence, step)
            if victim is None:
                return False
            self._preempt(victim, step)
            step.short_of_blocks = True
        if missing > 0:
            self.tables.grow(sequence, missing, step)
        return True

    def _victim(self, needy: Sequence, step: Step) -> Sequence | None:
        """Who gives its blocks up for `needy`: a paused sequence before a running one, the last
        class first, and in it the one with the fewest tokens to compute again for a block that
        comes free; one whose blocks others hold as well comes last."""
        juniors = [
            sequence
            for sequence in (*self.paused, *self.running)
            if (sequence.phase is Phase.PAUSED or sequence.seniority > needy.seniority)
            and sequence not in step.counts
            and sequence.table
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

    def _preempt(self, sequence: Sequence, step: Step) -> None:
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
        blocks = self.pool.needed(sequence.computed) - sequence.behind
        if not 0 < blocks <= self.host.free:
            return False
        return self._swap_pays is None or self._swap_pays(blocks, sequence.computed)

    # Waiting sequences ------------------------------------------------------------------------

    def _shares(self, budget: int) -> list[list[int]]:
        """What each class may use of `budget` for prompts: its weight's part among the classes that
        have some to compute, the remainder to the first of them. Lists of one, to be lowered."""
        busy = {s.rank for s in self.running if s.pending and not s.decodes}
        busy |= set(self.waiting.ranks())
        whole = sum(self._classes[rank].weight for rank in busy)
        shares = [[0] for _ in self._classes]
        for rank in busy:
            shares[rank][0] = int(budget * self._classes[rank].weight / whole)
        if busy:
            shares[min(busy)][0] += budget - sum(share[0] for share in shares)
        return shares

    def _admit(self, step: Step, shares: list[list[int]]) -> None:
        """Let the next in, again and again. One that doesn't fit may be overtaken, but not for
        ever; one whose prefix is being computed waits for it, and that is in its own interest."""
        if not self.waiting:
            return
        coming = {self.tables.next_block(s) for s in self.running} - {None}
        while self.waiting and step.budget and len(self.running) < self._max_running:
            blocked: list[Sequence] = []
            chosen = None
            for sequence in self.waiting.order(self.tables.cached):
                if shares[sequence.rank][0] <= 0 or self.tables.following(sequence) in coming:
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

    def _enter(self, sequence: Sequence, step: Step) -> bool:
        """Make `sequence` run if a slot is free and its tokens fit whole beside what the running
        ones still need and a block for each to grow into, so that entering causes no preemption
        soon. One whose reader is slow makes room."""
        self.tables.begin(sequence)
        while not self._fits(sequence):
            held = [other for other in self.paused if other.table]
            if not held:
                self.tables.let_go(sequence)
                return False
            self._preempt(held[0], step)
        sequence.computed = found = len(sequence.table) * self.pool.block_size
        if sequence.host:
            self.tables.swap_in(sequence, step)
        else:
            self.tables.copy_beginning(sequence, self.running, step)
            found = sequence.computed
        self.waiting.remove(sequence)
        sequence.phase = Phase.RUNNING
        self.running.append(sequence)
        step.admitted.append(sequence)
        if self.tree is not None:
            self.tree.queries += len(sequence.tokens) - 1
            self.tree.hits += found
        if not sequence.charged:
            sequence.charged, sequence.found = True, sequence.computed
            self.waiting.charge(sequence, prompt=sequence.pending)
        return True

    def _fits(self, sequence: Sequence, without: SequenceOf[Sequence] = ()) -> bool:
        """Whether there would be a slot and blocks for `sequence` if those `without` gave way."""
        others = [other for other in self.running if other not in without]
        if len(others) >= self._max_running:
            return False
        own = sum(self.pool.held_once(self.tables.held(other)) for other in without)
        promised = sum(self.tables.to_come(other) + 1 for other in others)
        missing = self.tables.to_come(sequence)
        if not others:
            return self.pool.available + own >= self.tables.to_come_back(sequence)
        return self.pool.available + own >= promised + missing

    def _make_way(self, step: Step) -> None:
        """If it is a better class's turn, and slots or blocks are lacking, running sequences of a
        worse class that has had more than its weight's part give way, if that is enough."""
        ranks = self.waiting.ranks()
        if not ranks or self.decoding >= step.budget:
            return
        if not any(other.rank > ranks[0] for other in self.running):
            return
        sequence = next(self.waiting.order(self.tables.cached))
        worse = [
            other
            for other in self.running
            if other.seniority[0] > sequence.rank
            and self.waiting.served(other.rank) >= self.waiting.served(sequence.rank)
        ]
        worse.sort(key=lambda other: other.seniority, reverse=True)
        for count in range(len(worse) + 1):
            victims = worse[:count]
            if self._fits(sequence, victims):
                for spared in worse[:count]:
                    if self._fits(sequence, fewer := [v for v in victims if v is not spared]):
                        victims = fewer
                for victim in victims:
                    self._preempt(victim, step)
                return
