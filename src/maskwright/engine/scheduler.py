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
compute again. It starts again later, from whatever of its prefix is still cached. Where there is
no such sequence, the one in need waits a step and keeps what it holds. A senior therefore never
yields to a junior, and since the most senior can always make room for itself, every admitted
sequence ends.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass

from maskwright.engine.blocks import BlockPool
from maskwright.engine.prefix import Node, PrefixTree, common
from maskwright.engine.sequence import SHORT, Phase, Sequence
from maskwright.engine.service import CLASSES, ServiceClass
from maskwright.engine.waiting import PATIENCE, WaitingQueue


@dataclass(frozen=True, slots=True)
class Chunk:
    """Compute tokens `start .. start+count` of `sequence`, drafts counted in: the last `drafted` of
    them are proposals. `samples`: a new token follows."""

    sequence: Sequence
    start: int
    count: int
    samples: bool
    drafted: int = 0

    @property
    def rows(self) -> int:
        """Logits are wanted of so many tokens, the last ones: where one can follow."""
        return 1 + self.drafted if self.samples else 0


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The work of one step and what was decided on the way.

    To be done before the forward, in this order: each of `copies` (from, to), then the blocks
    `fresh`, which are newly taken, are cleared.
    """

    chunks: tuple[Chunk, ...]
    copies: tuple[tuple[int, int], ...]
    fresh: tuple[int, ...]
    admitted: tuple[Sequence, ...]
    preempted: tuple[Sequence, ...]

    @property
    def tokens(self) -> int:
        """Tokens the forward computes."""
        return sum(chunk.count for chunk in self.chunks)


FIXED_ROWS = 8
"""A step costs as much before its first row as for so many rows. A draft that comes true saves its
sequence a row and its part of that; one that doesn't costs a row. So the more sequences decode,
the surer a draft has to be. (The demo model on a CPU: 3.6 ms and 0.4 ms a row.)"""

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
    ) -> None:
        assert max_batch_tokens >= max_running, "every running sequence must be able to decode"
        self.pool = pool
        self.tree = PrefixTree(pool) if prefix_cache else None
        self.waiting = WaitingQueue(classes)
        self.running: list[Sequence] = []
        self.paused: list[Sequence] = []
        self.preemptions = 0
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
        return sum(s.pending for s in self.running if s.pending <= SHORT)

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
        """Give back the blocks of `sequence`; what of them is in the tree stays there."""
        self.pool.release(sequence.table)
        if self.tree is not None and sequence.node is not None:
            self.tree.leave(sequence.node)
        sequence.table = []
        sequence.node = None
        sequence.computed = 0
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
            self.release(sequence)
            sequence.phase = Phase.WAITING
            self.waiting.add(sequence)

    def plan(self, budget: int | None = None) -> StepPlan:
        """Decide the next step, of at most `budget` tokens (None: `max_batch_tokens`). Tables grow
        and phases change at once, `computed` by `commit`."""
        step = _Step(max(budget or self._max_batch_tokens, len(self.running)))
        self._make_way(step)
        self._decode(step)
        self._prefill(step, self._shares(step.budget))
        if step.budget:  # what a class left of its share
            self._prefill(step, [[step.budget] for _ in self._classes])
        return step.plan()

    def commit(self, plan: StepPlan) -> None:
        """The forward of `plan` is done: its keys and values are in the blocks. Of drafts, none
        counts as computed before it has been accepted (`confirm`)."""
        for chunk in plan.chunks:
            sequence = chunk.sequence
            if sequence.phase is Phase.RUNNING:
                sequence.blocks_peak = max(sequence.blocks_peak, len(sequence.table))
                sequence.computed = chunk.start + chunk.count - chunk.drafted
                self._remember(sequence)

    def confirm(self, sequence: Sequence, tokens: list[int]) -> None:
        """`tokens` have been sampled; all but the last stood in the draft, and are computed."""
        sequence.tokens += tokens
        sequence.computed += len(tokens) - 1
        self.waiting.charge(sequence, output=len(tokens))
        self._remember(sequence)

    def extend(self, sequence: Sequence, tokens: SequenceOf[int]) -> None:
        """`tokens` come next, whatever would be sampled."""
        sequence.tokens += tokens
        self.waiting.charge(sequence, prompt=len(tokens))

    def expired(self, now: float) -> list[Sequence]:
        """Sequences whose deadline has come."""
        return [s for s in self.live() if s.deadline is not None and s.deadline <= now]

    def check(self) -> None:
        """Assert the block invariants and the scheduler's own."""
        tree = self.tree
        self.pool.check((s.table for s in self.live()), () if tree is None else tree.blocks())
        if tree is not None:
            tree.check()
        assert len(self.running) <= self._max_running
        assert all(sequence.phase is Phase.RUNNING for sequence in self.running)
        assert all(sequence.phase is Phase.PAUSED for sequence in self.paused)
        assert all(s.phase is Phase.WAITING and not s.table for s in self.waiting)
        size = self.pool.block_size
        for sequence in (*self.running, *self.paused):
            assert sequence.computed <= min(len(sequence.table) * size, len(sequence.tokens))
            depth = 0 if sequence.node is None else sequence.node.depth
            for block in sequence.table[max(depth, sequence.computed // size) :]:
                assert self.pool.references(block) == 1, "a block still to be written is shared"

    # Running sequences ------------------------------------------------------------------------

    def _decode(self, step: _Step) -> None:
        """Every decoding sequence gets a token before any gets more, and all their tokens before
        any gets drafts."""
        short = [s for s in self.running if 0 < s.pending <= SHORT]
        short.sort(key=lambda s: s.seniority)
        for left, sequence in zip(range(len(short) - 1, -1, -1), short, strict=True):
            if sequence.phase is Phase.RUNNING and step.budget:
                count = min(sequence.pending, max(1, step.budget - left))
                if self._room(sequence, count, step):
                    step.take(sequence, count)
        for sequence in short:
            drafts = min(len(sequence.draft), step.budget)
            if drafts and sequence.promise * (1 + FIXED_ROWS / len(short)) < 1:
                sequence.promise += RECOVERY
                continue
            if drafts and step.counts.get(sequence) == sequence.pending:
                end = sequence.pending + drafts
                missing = self.pool.needed(sequence.computed + end) - len(sequence.table)
                if missing <= self.pool.free and self._room(sequence, end, step):
                    step.draft(sequence, drafts)

    def _prefill(self, step: _Step, shares: list[list[int]]) -> None:
        """Go on with the prompts at work, then let others in, each class within its share."""
        for sequence in sorted(self.running, key=lambda s: s.seniority):
            if sequence.phase is Phase.RUNNING and sequence.pending > step.counts.get(sequence, 0):
                self._fill(sequence, step, shares[sequence.rank])
        if not step.short_of_blocks:
            self._admit(step, shares)

    def _fill(self, sequence: Sequence, step: _Step, share: list[int]) -> None:
        """Compute as much of what is pending as budget and share (one item, lowered) leave."""
        done = step.counts.get(sequence, 0)
        count = min(sequence.pending - done, step.budget, share[0])
        if count > 0 and self._room(sequence, done + count, step):
            step.take(sequence, count)
            share[0] -= count

    def _room(self, sequence: Sequence, count: int, step: _Step) -> bool:
        """Make the table hold `count` more positions; False if there are no blocks for them."""
        missing = self.pool.needed(sequence.computed + count) - len(sequence.table)
        while missing > self.pool.available:
            victim = self._victim(sequence, step)
            if victim is None:
                return False
            self._preempt(victim, step)
            step.short_of_blocks = True
        if missing > 0:
            sequence.table += self._take(missing, step)
        return True

    def _take(self, count: int, step: _Step) -> list[int]:
        if self.tree is not None and count > self.pool.free:
            self.tree.evict(count - self.pool.free)
        blocks = self.pool.allocate(count)
        step.fresh += blocks
        return blocks

    def _victim(self, needy: Sequence, step: _Step) -> Sequence | None:
        """Who gives its blocks up for `needy`: a paused sequence before a running one, the last
        class first, and in it the one with the fewest tokens to compute again for a block."""
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
                -s.computed / len(s.table),
                s.arrival,
            ),
            default=None,
        )

    def _preempt(self, sequence: Sequence, step: _Step) -> None:
        self.release(sequence)
        sequence.preemptions += 1
        self.preemptions += 1
        step.preempted.append(sequence)
        if sequence.phase is Phase.RUNNING:
            self.running.remove(sequence)
            sequence.phase = Phase.WAITING
            self.waiting.add(sequence)

    def _remember(self, sequence: Sequence) -> None:
        """Put the full blocks of `sequence` into the tree. Where the tree has one with the same
        tokens, the table takes that one, and its own is free: both hold the same bits."""
        tree, size = self.tree, self.pool.block_size
        if tree is None:
            return
        depth = 0 if sequence.node is None else sequence.node.depth
        while (depth + 1) * size <= sequence.computed:
            here = sequence.node or tree.root(sequence.salt)
            key = tuple(sequence.tokens[depth * size : (depth + 1) * size])
            own = sequence.table[depth]
            node = sequence.node = tree.insert(here, key, own)
            if node.block != own:
                self.pool.share([node.block])
                self.pool.release([own])
                sequence.table[depth] = node.block
            depth += 1

    # Waiting sequences ------------------------------------------------------------------------

    def _shares(self, budget: int) -> list[list[int]]:
        """What each class may use of `budget` for prompts: its weight's part among the classes that
        have some to compute, the remainder to the first of them. Lists of one, to be lowered."""
        busy = {s.rank for s in self.running if s.pending > SHORT} | set(self.waiting.ranks())
        whole = sum(self._classes[rank].weight for rank in busy)
        shares = [[0] for _ in self._classes]
        for rank in busy:
            shares[rank][0] = int(budget * self._classes[rank].weight / whole)
        if busy:
            shares[min(busy)][0] += budget - sum(share[0] for share in shares)
        return shares

    def _admit(self, step: _Step, shares: list[list[int]]) -> None:
        """Let the next in, again and again. One that doesn't fit may be overtaken, but not for
        ever; one whose prefix is being computed waits for it, and that is in its own interest."""
        coming = {self._next_block(s) for s in self.running} - {None}
        while self.waiting and step.budget and len(self.running) < self._max_running:
            blocked: list[Sequence] = []
            chosen = None
            for sequence in self.waiting.order(self._cached):
                if shares[sequence.rank][0] <= 0 or self._following(sequence) in coming:
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
            coming |= {self._next_block(chosen)} - {None}

    def _enter(self, sequence: Sequence, step: _Step) -> bool:
        """Make `sequence` run if a slot is free and its tokens fit whole beside what the running
        ones still need and a block for each to grow into, so that entering causes no preemption
        soon. One whose reader is slow makes room."""
        node = self._match(sequence)
        if node is not None:
            own = self.tree.path(node) if self.tree is not None else []
            self.pool.share(own)
            sequence.table, sequence.node = own, node if node.depth else None
        while not self._fits(sequence):
            held = [other for other in self.paused if other.table]
            if not held:
                self.release(sequence)
                return False
            self._preempt(held[0], step)
        sequence.computed = len(sequence.table) * self.pool.block_size
        self.waiting.remove(sequence)
        sequence.phase = Phase.RUNNING
        self.running.append(sequence)
        step.admitted.append(sequence)
        if self.tree is not None:
            self._copy_beginning(sequence, step)
            self.tree.queries += len(sequence.tokens) - 1
            self.tree.hits += sequence.computed
        if not sequence.charged:
            sequence.charged, sequence.found = True, sequence.computed
            self.waiting.charge(sequence, prompt=sequence.pending)
        return True

    def _fits(self, sequence: Sequence, without: SequenceOf[Sequence] = ()) -> bool:
        """Whether there would be a slot and blocks for `sequence` if those `without` gave way."""
        others = [other for other in self.running if other not in without]
        if len(others) >= self._max_running:
            return False
        own = sum(self.pool.held_once(other.table) for other in without)
        promised = sum(
            self.pool.needed(len(other.tokens) + 1) + 1 - len(other.table) for other in others
        )
        missing = self.pool.needed(len(sequence.tokens) + 1) - len(sequence.table)
        return not others or self.pool.available + own >= promised + missing

    def _make_way(self, step: _Step) -> None:
        """If it is a better class's turn, and slots or blocks are lacking, running sequences of a
        worse class that has had more than its weight's part give way, if that is enough."""
        ranks = self.waiting.ranks()
        if not ranks or self.decoding >= step.budget:
            return
        if not any(other.rank > ranks[0] for other in self.running):
            return
        sequence = next(self.waiting.order(self._cached))
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

    def _copy_beginning(self, sequence: Sequence, step: _Step) -> None:
        """Where another block begins with the tokens that come next, start from a copy of it: a
        full one in the tree, or the last one of a sequence that runs."""
        assert self.tree is not None
        most, size = len(sequence.tokens) - 1, self.pool.block_size
        start = sequence.computed
        if start >= most or not self.pool.free:
            return
        here = sequence.node or self.tree.root(sequence.salt)
        block, longest = self.tree.nearest(here, sequence.tokens, most)
        wanted = sequence.tokens[start : min(most, start + size - 1)]
        for other in self.running:
            other_node = other.node or self.tree.root(other.salt)
            if other_node is here and other is not sequence and other.computed > start:
                count = common(other.tokens[start : other.computed], wanted)
                if count > longest:
                    block, longest = other.table[here.depth], count
        if longest:
            (copy,) = self.pool.allocate(1)
            step.copies.append((block, copy))
            sequence.table.append(copy)
            sequence.computed += longest

    def _match(self, sequence: Sequence) -> Node | None:
        if self.tree is None:
            return None
        return self.tree.match(sequence.salt, sequence.tokens, len(sequence.tokens) - 1)

    def _cached(self, sequence: Sequence) -> int:
        node = self._match(sequence)
        return 0 if node is None else node.depth * self.pool.block_size

    def _following(self, sequence: Sequence) -> tuple[Hashable, ...] | None:
        """Node and tokens of the first block of a waiting sequence that is not in the tree, with
        its class; None if it would not be a full one."""
        node, size = self._match(sequence), self.pool.block_size
        if node is None or (node.depth + 1) * size >= len(sequence.tokens):
            return None
        start = node.depth * size
        return (node, tuple(sequence.tokens[start : start + size]), sequence.rank)

    def _next_block(self, sequence: Sequence) -> tuple[Hashable, ...] | None:
        """As `_following`, of the block that a running sequence is computing."""
        if self.tree is None or sequence.pending <= 0:
            return None
        node, size = sequence.node or self.tree.root(sequence.salt), self.pool.block_size
        start = node.depth * size
        if start + size > len(sequence.tokens):
            return None
        return (node, tuple(sequence.tokens[start : start + size]), sequence.rank)


class _Step:
    """A plan in the making."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.short_of_blocks = False
        self.counts: dict[Sequence, int] = {}
        self.drafts: dict[Sequence, int] = {}
        self.copies: list[tuple[int, int]] = []
        self.fresh: list[int] = []
        self.admitted: list[Sequence] = []
        self.preempted: list[Sequence] = []

    def take(self, sequence: Sequence, count: int) -> None:
        """`count` more tokens of `sequence`."""
        self.counts[sequence] = self.counts.get(sequence, 0) + count
        self.budget -= count

    def draft(self, sequence: Sequence, count: int) -> None:
        """The first `count` drafts of `sequence`."""
        self.drafts[sequence] = count
        self.budget -= count

    def plan(self) -> StepPlan:
        return StepPlan(
            tuple(
                _chunk(sequence, count, self.drafts.get(sequence, 0))
                for sequence, count in self.counts.items()
            ),
            tuple(self.copies),
            tuple(self.fresh),
            tuple(self.admitted),
            tuple(self.preempted),
        )


def _chunk(sequence: Sequence, count: int, drafted: int) -> Chunk:
    """The chunk of `count` pending tokens and `drafted` drafts."""
    samples = count == sequence.pending
    return Chunk(sequence, sequence.computed, count + drafted, samples, drafted)
