"""The block tables of sequences: allocation, prefix-cache hits, insertion into the tree, swapping.

The scheduler decides which sequence gets blocks and which is preempted; this module carries that
out on the tables. A preempted sequence may keep a copy of its blocks in the host's pool, from which
they are copied back when it is admitted again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from maskwright.engine.kv.blocks import AttentionWindow, BlockPool
from maskwright.engine.kv.prefix import Node, PrefixTree, common
from maskwright.engine.schedule.plan import BlockCopy, CopyDirection, PlanBuilder
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.transfer import BlockTransfer


class Transfers:
    """The copies in flight between `pool`, whose cached blocks `tree` knows, and `host`.

    A copy has a reference of its own to every block that it reads or writes, in both pools. So no
    block becomes free, and none is evicted, before the copies of it have ended, whatever happens to
    its sequence meanwhile.
    """

    def __init__(self, pool: BlockPool, host: BlockPool, tree: PrefixTree | None) -> None:
        self._pool = pool
        self._host = host
        self._tree = tree
        self._in_flight: dict[BlockTransfer, Sequence] = {}

    def __bool__(self) -> bool:
        """Whether copies are in flight."""
        return bool(self._in_flight)

    def __iter__(self) -> Iterator[BlockTransfer]:
        return iter(self._in_flight)

    def begin(self, sequence: Sequence, transfer: BlockTransfer) -> None:
        """Hold the blocks of `transfer`, which are copied for `sequence`."""
        self._pool.share(transfer.blocks)
        self._host.share(transfer.homes)
        self._in_flight[transfer] = sequence

    def take_ended(self) -> list[tuple[BlockTransfer, Sequence]]:
        """Give up the blocks of copies that have ended; returns these with their sequences."""
        ended = [
            (transfer, sequence)
            for transfer, sequence in self._in_flight.items()
            if transfer.event is not None and transfer.event.done()
        ]
        for transfer, _ in ended:
            del self._in_flight[transfer]
            self._pool.release(transfer.blocks)
            self._host.release(transfer.homes)
            if self._tree is not None and transfer.node is not None:
                self._tree.leave(transfer.node)  # what only the tree holds now can be evicted
        return ended

    def wait(self) -> None:
        """Wait until the copies that began first have ended."""
        for transfer in self._in_flight:
            if transfer.event is not None:
                transfer.event.wait()
                return

    def leaving(self) -> int:
        """How many blocks of the model's pool nobody but copies and the tree holds: they become
        available when the copies end."""
        held = Counter(block for transfer in self._in_flight for block in transfer.blocks)
        return sum(
            self._pool.references(block) - self._pool.in_tree(block) == count
            for block, count in held.items()
        )


class Tables:
    """The block tables of all live sequences over one pool. `host` is the pool that blocks are
    swapped to. `tree` is None without a prefix cache. `beside_steps`: copies between the pools go
    on beside steps and are held in `transfers` until they have ended; otherwise the copies of a
    step end before its forward begins."""

    def __init__(
        self,
        pool: BlockPool,
        host: BlockPool,
        attention_window: AttentionWindow,
        *,
        prefix_cache: bool,
        beside_steps: bool = False,
    ) -> None:
        self.pool = pool
        self.host = host
        self.attention_window = attention_window
        self.tree = PrefixTree(pool, attention_window) if prefix_cache else None
        self.transfers = Transfers(pool, host, self.tree)
        self._beside_steps = beside_steps
        self.unwritten: set[int] = set()
        """Blocks of the step that is being planned whose contents are still to be copied there."""

    def held(self, sequence: Sequence) -> list[int]:
        """The blocks that `sequence` holds now."""
        return sequence.table[sequence.outside_window :]

    def missing(self, sequence: Sequence, count: int) -> int:
        """Blocks that must be allocated before `count` more tokens can be computed."""
        return self.pool.needed(sequence.computed + count) - len(sequence.table)

    def to_come(self, sequence: Sequence) -> int:
        """Upper bound on the further blocks that `sequence` needs to compute the tokens that it has
        and one more."""
        return self.attention_window.most_blocks(len(sequence.tokens) + 1) - len(
            self.held(sequence)
        )

    def loss(self, sequence: Sequence) -> float:
        """The cost of preempting `sequence`: tokens to compute again for each block that becomes
        free; infinite where none does. Blocks shared with other tables don't become free; they form
        a prefix, which does not have to be computed again."""
        own = self.pool.held_once(self.held(sequence))
        if not own:
            return math.inf
        kept = len(self.held(sequence)) - own
        return (sequence.computed - kept * self.pool.block_size) / own

    def to_come_back(self, sequence: Sequence) -> int:
        """Upper bound on the blocks that `swap_in` will allocate."""
        return sum(map(bool, sequence.host[len(sequence.table) :]))

    def grow(self, sequence: Sequence, blocks: int, step: PlanBuilder) -> None:
        """Append `blocks` newly allocated blocks to the table. The caller has checked that they are
        available."""
        taken = self._take(blocks)
        step.fresh += taken
        sequence.table += taken

    def begin(self, sequence: Sequence) -> None:
        """Give `sequence`, whose table is empty, the cached blocks of its longest prefix in the
        tree."""
        node = self._match(sequence)
        if node is None or self.tree is None:
            return
        sequence.table = self.tree.path(node)
        sequence.outside_window = self.attention_window.blocks_outside(
            node.depth * self.pool.block_size
        )
        sequence.node = node if node.depth else None
        self.pool.share(self.held(sequence))

    def release(self, sequence: Sequence) -> None:
        """Release the blocks of `sequence` in both pools."""
        self.let_go(sequence)
        self._forget(sequence)

    def let_go(self, sequence: Sequence) -> None:
        """Release the blocks of `sequence` in the model's pool. Those in the tree stay cached;
        copies in the host's pool stay there."""
        self.pool.release(self.held(sequence))
        if self.tree is not None and sequence.node is not None:
            self.tree.leave(sequence.node)
        if sequence.transfer is not None and sequence.transfer.inward:
            sequence.transfer = None  # what comes back is for nobody
        sequence.table = []
        sequence.outside_window = 0
        sequence.node = None
        sequence.computed = 0

    def swap_out(self, sequence: Sequence, step: PlanBuilder) -> None:
        """Plan copies of the computed blocks of `sequence` to the host's pool. The caller has
        checked that there is room. The sequence still holds its blocks afterwards."""
        blocks = sequence.table[sequence.outside_window : self.pool.needed(sequence.computed)]
        homes = self.host.allocate(len(blocks))
        sequence.host = [0] * sequence.outside_window + homes
        sequence.saved = sequence.computed
        self._copy(sequence, blocks, homes, step, inward=False)

    def swap_in(self, sequence: Sequence, step: PlanBuilder) -> None:
        """Plan copies back of the blocks that are not in the tree. The last token is always
        computed again, because its logits were not kept. Blocks that are copied beside steps go to
        the tree when that has ended."""
        computed = min(sequence.saved, len(sequence.tokens) - 1)
        start = len(sequence.table)
        if computed > start * self.pool.block_size:
            origins = sequence.host[start : self.pool.needed(computed)]
            homes = list(filter(None, origins))
            blocks = self._take(len(homes))
            taken = iter(blocks)
            sequence.table += [next(taken) if origin else 0 for origin in origins]
            sequence.computed = computed
            self._copy(sequence, blocks, homes, step, inward=True)
        self._forget(sequence)
        if sequence.transfer is None:
            self.settle(sequence)
        else:
            self._leave_window(sequence)

    def collect(self) -> list[BlockTransfer]:
        """Note which copies beside steps have ended, and return them. Their blocks are given up;
        sequences whose blocks have come back go on, others can be admitted."""
        ended = self.transfers.take_ended()
        for transfer, sequence in ended:
            if sequence.transfer is transfer:
                sequence.transfer = None
                if transfer.inward:
                    self.settle(sequence)
        return [transfer for transfer, _ in ended]

    def _copy(
        self,
        sequence: Sequence,
        blocks: list[int],
        homes: list[int],
        step: PlanBuilder,
        *,
        inward: bool,
    ) -> None:
        """Plan copies between `blocks` and `homes` for `sequence`."""
        transfer = BlockTransfer(blocks, homes, inward, sequence.node)
        if self._beside_steps:
            self.transfers.begin(sequence, transfer)
            sequence.transfer = transfer
            step.transfers.append(transfer)
            return
        direction = CopyDirection.IN if inward else CopyDirection.OUT
        step.copies += (BlockCopy(direction, *pair) for pair in transfer.pairs)
        if inward:
            self.unwritten.update(blocks)

    def take_in(self, sequence: Sequence) -> dict[int, int]:
        """Extend the table of `sequence` to all its whole blocks, and count them as computed.
        Returns by their numbers the blocks that were allocated because the tree lacks them; their
        contents must be written before the next forward. To be called after `begin`; the caller
        has checked that there is room."""
        assert self.tree is not None, "received blocks are kept by the tree"
        start, count = len(sequence.table), len(sequence.tokens) // self.pool.block_size
        first = self.attention_window.blocks_outside(count * self.pool.block_size)
        blocks = dict.fromkeys(range(start, count), 0)
        for node in self.tree.along(sequence.salt, sequence.tokens)[max(start, first) : count]:
            blocks[node.depth - 1] = node.block
        self.pool.share(block for block in blocks.values() if block)
        lacking = [number for number in range(max(start, first), count) if not blocks[number]]
        taken = dict(zip(lacking, self._take(len(lacking)), strict=True))
        sequence.table += (blocks | taken).values()
        sequence.computed = count * self.pool.block_size
        return taken

    def settle(self, sequence: Sequence) -> None:
        """Insert the full blocks of `sequence` into the tree and release those that have left its
        attention window. To be called after tokens of it have been computed."""
        self._remember(sequence)
        self._leave_window(sequence)

    def _leave_window(self, sequence: Sequence) -> None:
        """Release the blocks of `sequence` that have left its attention window."""
        if self.attention_window.positions is None:
            return
        outside = self.attention_window.blocks_outside(sequence.computed)
        while outside < len(sequence.table) and not sequence.table[outside]:
            outside += 1  # left the window before the last token had to be computed again
        if outside <= sequence.outside_window:
            return
        given_up = sequence.table[sequence.outside_window : outside]
        self.pool.release(block for block in given_up if block)
        sequence.table[sequence.outside_window : outside] = [0] * len(given_up)
        if self.tree is not None and sequence.node is not None:
            self.tree.release_range(sequence.node, sequence.outside_window, outside)
        sequence.outside_window = outside

    def copy_beginning(
        self, sequence: Sequence, running: Iterable[Sequence], step: PlanBuilder
    ) -> None:
        """Where a block of another sequence begins with the next tokens of `sequence`, continue
        from a copy of it (copy on write): a full block in the tree, or the last block of a running
        sequence."""
        most, size = sequence.cacheable, self.pool.block_size
        start = sequence.computed
        if self.tree is None or start >= most or not self.pool.free:
            return
        here = sequence.node or self.tree.root(sequence.salt)
        block, longest = self.tree.nearest(here, sequence.tokens, most)
        wanted = sequence.tokens[start : min(most, start + size - 1)]
        for other in running:
            other_node = other.node or self.tree.root(other.salt)
            if other is sequence or other.transfer is not None:
                continue
            if other_node is here and other.computed > start:
                count = common(other.tokens[start : other.computed], wanted)
                if count > longest:
                    block, longest = other.table[here.depth], count
        if longest:
            (copy,) = self.pool.allocate(1)
            step.copies.append(BlockCopy(CopyDirection.WITHIN, block, copy))
            sequence.table.append(copy)
            sequence.computed += longest
            self.settle(sequence)

    def cached(self, sequence: Sequence) -> int:
        """How many leading tokens of a waiting sequence are cached, in whole blocks."""
        node = self._match(sequence)
        return 0 if node is None else node.depth * self.pool.block_size

    def following(self, sequence: Sequence) -> tuple[Hashable, ...] | None:
        """A key for the first block of a waiting sequence that is not in the tree: its parent node,
        its tokens and the class of the sequence. None if that block would not be full, or may not
        be taken from the cache."""
        node, size = self._match(sequence), self.pool.block_size
        if node is None or (node.depth + 1) * size > sequence.cacheable:
            return None
        start = node.depth * size
        return (node, tuple(sequence.tokens[start : start + size]), sequence.rank)

    def next_block(self, sequence: Sequence) -> tuple[Hashable, ...] | None:
        """The key, as in `following`, of the block that a running sequence is computing; None if it
        will not be full."""
        if self.tree is None or sequence.pending <= 0:
            return None
        node, size = sequence.node or self.tree.root(sequence.salt), self.pool.block_size
        start = node.depth * size
        if start + size > len(sequence.tokens):
            return None
        return (node, tuple(sequence.tokens[start : start + size]), sequence.rank)

    def check(self, live: Iterable[Sequence]) -> None:
        """Assert the invariants of both pools, the tree and the tables."""
        sequences, size = list(live), self.pool.block_size
        tree = () if self.tree is None else self.tree.blocks()
        copied = [transfer.blocks for transfer in self.transfers]
        self.pool.check([*copied, *(self.held(sequence) for sequence in sequences)], tree)
        if self.tree is not None:
            self.tree.check()
        homes = [transfer.homes for transfer in self.transfers]
        self.host.check([*homes, *(filter(None, sequence.host) for sequence in sequences)])
        for sequence in sequences:
            assert not sequence.host or not sequence.table, "blocks in both pools"
            assert not sequence.host or sequence.saved <= len(sequence.host) * size
            assert sequence.computed <= min(len(sequence.table) * size, len(sequence.tokens))
            assert sequence.outside_window <= self.attention_window.blocks_outside(
                sequence.computed + 1
            )
            assert all(self.held(sequence))
            assert not any(sequence.table[: sequence.outside_window])
            depth = 0 if sequence.node is None else sequence.node.depth
            for block in sequence.table[max(depth, sequence.computed // size) :]:
                copies = sum(block in blocks for blocks in copied)
                assert self.pool.references(block) == 1 + copies, "a block to be written is shared"

    def _take(self, blocks: int) -> list[int]:
        if self.tree is not None and blocks > self.pool.free:
            self.tree.evict(blocks - self.pool.free)
        return self.pool.allocate(blocks)

    def _forget(self, sequence: Sequence) -> None:
        """Release the blocks of `sequence` in the host's pool."""
        self.host.release(block for block in sequence.host if block)
        sequence.host = []
        sequence.saved = 0

    def _match(self, sequence: Sequence) -> Node | None:
        if self.tree is None:
            return None
        return self.tree.match(sequence.salt, sequence.tokens, sequence.cacheable)

    def _remember(self, sequence: Sequence) -> None:
        """Insert the full blocks of `sequence` into the tree. Where the tree already has a block
        for these tokens, the table takes that one and releases its own, since both hold equal
        bits."""
        tree, size = self.tree, self.pool.block_size
        if tree is None:
            return
        depth = 0 if sequence.node is None else sequence.node.depth
        while (depth + 1) * size <= sequence.computed:
            here = sequence.node or tree.root(sequence.salt)
            key = tuple(sequence.tokens[depth * size : (depth + 1) * size])
            own = sequence.table[depth]
            node = sequence.node = tree.insert(here, key, own)
            if own and node.block != own:
                self.pool.share([node.block])
                self.pool.release([own])
                sequence.table[depth] = node.block
            depth += 1
