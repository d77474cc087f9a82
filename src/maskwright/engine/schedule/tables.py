"""The blocks of sequences: taken, found in the prefix tree, put there, and given back.

Who gets blocks and who gives them up is for the scheduler to say; here is what that does to tables.
A sequence that gives its blocks up may keep a copy of them in the host's pool, and has them copied
back when it goes on.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

from maskwright.engine.kv.attention_window import Reach
from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.kv.prefix import Node, PrefixTree, common
from maskwright.engine.schedule.plan import Move, Step, Way
from maskwright.engine.schedule.sequence import Sequence


class Tables:
    """The tables of all live sequences over one pool; `host` the pool that blocks are swapped to.
    `tree` None without a prefix cache."""

    def __init__(
        self, pool: BlockPool, host: BlockPool, reach: Reach, *, prefix_cache: bool
    ) -> None:
        self.pool = pool
        self.host = host
        self.reach = reach
        self.tree = PrefixTree(pool, reach) if prefix_cache else None

    def held(self, sequence: Sequence) -> list[int]:
        """The blocks that `sequence` holds now."""
        return sequence.table[sequence.behind :]

    def missing(self, sequence: Sequence, count: int) -> int:
        """Blocks to be had before `count` more tokens can be computed."""
        return self.pool.needed(sequence.computed + count) - len(sequence.table)

    def to_come(self, sequence: Sequence) -> int:
        """Blocks that `sequence` will need beside those it holds, to compute the tokens it has and
        one more."""
        return self.reach.most(len(sequence.tokens) + 1) - len(self.held(sequence))

    def loss(self, sequence: Sequence) -> float:
        """Tokens of `sequence` to compute again for each block that comes free when it gives its
        own up; infinite where none does. Blocks that others hold as well stay, and stand at the
        beginning."""
        own = self.pool.held_once(self.held(sequence))
        if not own:
            return math.inf
        kept = len(self.held(sequence)) - own
        return (sequence.computed - kept * self.pool.block_size) / own

    def to_come_back(self, sequence: Sequence) -> int:
        """Blocks that `swap_in` will take at most."""
        return sum(map(bool, sequence.host[len(sequence.table) :]))

    def grow(self, sequence: Sequence, blocks: int, step: Step) -> None:
        """So many blocks more for `sequence`; the caller has checked that they are available."""
        taken = self._take(blocks)
        step.fresh += taken
        sequence.table += taken

    def begin(self, sequence: Sequence) -> None:
        """Give `sequence`, which has no table, the blocks that the tree has of it."""
        node = self._match(sequence)
        if node is None or self.tree is None:
            return
        sequence.table = self.tree.path(node)
        sequence.behind = self.reach.behind(node.depth * self.pool.block_size)
        sequence.node = node if node.depth else None
        self.pool.share(self.held(sequence))

    def release(self, sequence: Sequence) -> None:
        """Give back all that `sequence` holds."""
        self.let_go(sequence)
        self._forget(sequence)

    def let_go(self, sequence: Sequence) -> None:
        """Give back the blocks of `sequence`; what of them is in the tree stays there, and what of
        them is in the host's pool as well."""
        self.pool.release(self.held(sequence))
        if self.tree is not None and sequence.node is not None:
            self.tree.leave(sequence.node)
        sequence.table = []
        sequence.behind = 0
        sequence.node = None
        sequence.computed = 0

    def swap_out(self, sequence: Sequence, step: Step) -> None:
        """Copy what `sequence` has computed to the host's pool; the caller has checked that there
        is room. Its blocks are still its own."""
        blocks = sequence.table[sequence.behind : self.pool.needed(sequence.computed)]
        homes = self.host.allocate(len(blocks))
        step.moves += (Move(Way.OUT, *pair) for pair in zip(blocks, homes, strict=True))
        sequence.host = [0] * sequence.behind + homes
        sequence.saved = sequence.computed

    def swap_in(self, sequence: Sequence, step: Step) -> None:
        """Copy back what the tree doesn't have. The last token is always computed again: what
        follows from it was not kept."""
        computed = min(sequence.saved, len(sequence.tokens) - 1)
        start = len(sequence.table)
        if computed > start * self.pool.block_size:
            origins = sequence.host[start : self.pool.needed(computed)]
            homes = iter(self._take(sum(map(bool, origins))))
            for origin in origins:
                sequence.table.append(next(homes) if origin else 0)
                if origin:
                    step.moves.append(Move(Way.IN, origin, sequence.table[-1]))
            sequence.computed = computed
        self._forget(sequence)
        self.settle(sequence)

    def settle(self, sequence: Sequence) -> None:
        """Tokens of `sequence` have been computed: its full blocks go into the tree, and those
        behind its reach are given up."""
        self._remember(sequence)
        behind = self.reach.behind(sequence.computed)
        while behind < len(sequence.table) and not sequence.table[behind]:
            behind += 1  # was behind before its last token had to be computed again
        if behind <= sequence.behind:
            return
        given_up = sequence.table[sequence.behind : behind]
        self.pool.release(block for block in given_up if block)
        sequence.table[sequence.behind : behind] = [0] * len(given_up)
        if self.tree is not None and sequence.node is not None:
            self.tree.leave_behind(sequence.node, sequence.behind, behind)
        sequence.behind = behind

    def copy_beginning(self, sequence: Sequence, running: Iterable[Sequence], step: Step) -> None:
        """Where another block begins with the tokens that come next, start from a copy of it: a
        full one in the tree, or the last one of a sequence that runs."""
        most, size = len(sequence.tokens) - 1, self.pool.block_size
        start = sequence.computed
        if self.tree is None or start >= most or not self.pool.free:
            return
        here = sequence.node or self.tree.root(sequence.salt)
        block, longest = self.tree.nearest(here, sequence.tokens, most)
        wanted = sequence.tokens[start : min(most, start + size - 1)]
        for other in running:
            other_node = other.node or self.tree.root(other.salt)
            if other_node is here and other is not sequence and other.computed > start:
                count = common(other.tokens[start : other.computed], wanted)
                if count > longest:
                    block, longest = other.table[here.depth], count
        if longest:
            (copy,) = self.pool.allocate(1)
            step.moves.append(Move(Way.WITHIN, block, copy))
            sequence.table.append(copy)
            sequence.computed += longest
            self.settle(sequence)

    def cached(self, sequence: Sequence) -> int:
        """Leading tokens of a waiting sequence that the tree has."""
        node = self._match(sequence)
        return 0 if node is None else node.depth * self.pool.block_size

    def following(self, sequence: Sequence) -> tuple[Hashable, ...] | None:
        """Node and tokens of the first block of a waiting sequence that is not in the tree, with
        its class; None if it would not be a full one."""
        node, size = self._match(sequence), self.pool.block_size
        if node is None or (node.depth + 1) * size >= len(sequence.tokens):
            return None
        start = node.depth * size
        return (node, tuple(sequence.tokens[start : start + size]), sequence.rank)

    def next_block(self, sequence: Sequence) -> tuple[Hashable, ...] | None:
        """As `following`, of the block that a running sequence is computing."""
        if self.tree is None or sequence.pending <= 0:
            return None
        node, size = sequence.node or self.tree.root(sequence.salt), self.pool.block_size
        start = node.depth * size
        if start + size > len(sequence.tokens):
            return None
        return (node, tuple(sequence.tokens[start : start + size]), sequence.rank)

    def check(self, live: Iterable[Sequence]) -> None:
        """Assert the invariants of pool, tree and tables."""
        sequences, size = list(live), self.pool.block_size
        tree = () if self.tree is None else self.tree.blocks()
        self.pool.check((self.held(sequence) for sequence in sequences), tree)
        if self.tree is not None:
            self.tree.check()
        self.host.check(filter(None, sequence.host) for sequence in sequences)
        for sequence in sequences:
            assert not sequence.host or not sequence.table, "blocks in both pools"
            assert not sequence.host or sequence.saved <= len(sequence.host) * size
            assert sequence.computed <= min(len(sequence.table) * size, len(sequence.tokens))
            assert sequence.behind <= self.reach.behind(sequence.computed + 1)
            assert all(self.held(sequence))
            assert not any(sequence.table[: sequence.behind])
            depth = 0 if sequence.node is None else sequence.node.depth
            for block in sequence.table[max(depth, sequence.computed // size) :]:
                assert self.pool.references(block) == 1, "a block still to be written is shared"

    def _take(self, blocks: int) -> list[int]:
        if self.tree is not None and blocks > self.pool.free:
            self.tree.evict(blocks - self.pool.free)
        return self.pool.allocate(blocks)

    def _forget(self, sequence: Sequence) -> None:
        """Give back what `sequence` has in the host's pool."""
        self.host.release(block for block in sequence.host if block)
        sequence.host = []
        sequence.saved = 0

    def _match(self, sequence: Sequence) -> Node | None:
        if self.tree is None:
            return None
        return self.tree.match(sequence.salt, sequence.tokens, len(sequence.tokens) - 1)

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
            if own and node.block != own:
                self.pool.share([node.block])
                self.pool.release([own])
                sequence.table[depth] = node.block
            depth += 1
