"""The pool of key/value blocks: which are free, and the reference count of each of the others.

References are held by the block tables of sequences and by the prefix tree. Blocks are mere numbers
here; their memory is a tensor owned by the runner. Block 0 is the trash block: it pads tables and
is never allocated. How many of them a sequence has to hold depends on the window of attention.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np

from maskwright.immutable import Immutable


class AttentionWindow(Immutable):
    """How far back a model attends, which decides how many blocks a sequence has to hold.
    `positions`: the widest attention window of the layers in positions, None for full attention.
    `chunk`: the most tokens computed in one step.

    Where every layer has sliding-window attention, keys and values that have left the widest window
    are never read again, and their blocks can be released while the sequence grows. Where one layer
    has full attention, no block can be released before the sequence ends.

    At least one whole block is kept, because the last full block is what the prefix tree needs to
    continue from. One more position is kept, so that both also hold when the last token of a
    sequence is computed again.
    """

    block_size: int
    chunk: int
    positions: int | None = None

    def blocks_outside(self, computed: int) -> int:
        """How many leading blocks are outside the window once `computed` tokens have been computed,
        and so are never read again."""
        if self.positions is None:
            return 0
        return max(0, computed - self._kept(self.positions)) // self.block_size

    def most_blocks(self, tokens: int) -> int:
        """Upper bound on the blocks that a sequence holds at one time until it has `tokens`
        tokens."""
        whole = -(-tokens // self.block_size)
        if self.positions is None:
            return whole
        spanned = self._kept(self.positions) + self.chunk
        return min(whole, -(-spanned // self.block_size) + 1)

    def _kept(self, window: int) -> int:
        return max(window, self.block_size) + 1


TRASH = 0


class BlockPool:
    """`total` usable blocks, numbered 1 to `total`, of `block_size` positions each."""

    def __init__(self, total: int, block_size: int) -> None:
        self.total = total
        self.block_size = block_size
        self.cached = 0
        """Blocks that only the prefix tree holds: they can be hit, and they can be evicted."""
        self._free = deque(range(1, total + 1))
        self._references = [0] * (total + 1)
        self._in_tree = [False] * (total + 1)

    @property
    def free(self) -> int:
        """Blocks without a reference."""
        return len(self._free)

    @property
    def used(self) -> int:
        """Blocks that at least one table holds."""
        return self.total - len(self._free) - self.cached

    @property
    def available(self) -> int:
        """Blocks that can be allocated without preempting a sequence: free or cached."""
        return len(self._free) + self.cached

    def needed(self, positions: int) -> int:
        """Blocks needed for `positions` positions."""
        return -(-positions // self.block_size)

    def references(self, block: int) -> int:
        """The reference count of `block`, that of the tree included."""
        return self._references[block]

    def in_tree(self, block: int) -> bool:
        """Whether the tree holds a reference to `block`."""
        return self._in_tree[block]

    def only_cached(self, block: int) -> bool:
        """Whether the tree holds the only reference to `block`."""
        return self._in_tree[block] and self._references[block] == 1

    def held_once(self, table: Iterable[int]) -> int:
        """How many blocks of `table` no other table holds."""
        return sum(self._references[block] - self._in_tree[block] == 1 for block in table)

    def allocate(self, count: int) -> list[int]:
        """Take `count` free blocks, each with one reference. The caller has checked that there are
        enough."""
        assert count <= len(self._free), "allocation beyond the pool"
        blocks = [self._free.popleft() for _ in range(count)]
        for block in blocks:
            self._references[block] = 1
        return blocks

    def share(self, blocks: Iterable[int]) -> None:
        """Add the reference of one more table to `blocks`."""
        for block in blocks:
            assert self._references[block] > 0, "sharing a free block"
            self.cached -= self.only_cached(block)
            self._references[block] += 1

    def release(self, blocks: Iterable[int]) -> None:
        """Drop the reference of one table to `blocks`; a block without references becomes free."""
        for block in blocks:
            assert self._references[block] > 0, "double free"
            self._references[block] -= 1
            if self._references[block] == 0:
                assert not self._in_tree[block], "the tree lost a block to a table"
                self._free.append(block)
            self.cached += self.only_cached(block)

    def adopt(self, block: int) -> None:
        """Add the tree's reference to `block`, which a table holds."""
        assert self._references[block] > 0, "caching a free block"
        assert not self._in_tree[block], "caching a block twice"
        self._references[block] += 1
        self._in_tree[block] = True

    def disown(self, block: int) -> None:
        """Drop the tree's reference to `block`, the only one there is."""
        assert self.only_cached(block), "evicting a block in use"
        self.cached -= 1
        self._in_tree[block] = False
        self._references[block] = 0
        self._free.append(block)

    def states(self) -> str:
        """The state of each block, from any thread: `.` free, `c` cached, `u` in one table, `s` in
        several."""
        cached = np.array(self._in_tree[1:], np.int32)
        held = np.array(self._references[1:], np.int32) - cached
        letters = np.where(held > 0, np.where(held > 1, ord("s"), ord("u")), ord("."))
        letters[(held < 1) & (cached > 0)] = ord("c")
        return letters.astype(np.uint8).tobytes().decode()

    def check(self, tables: Iterable[Iterable[int]], tree: Iterable[int] = ()) -> None:
        """Assert the invariants, given every live table and the tree's blocks: the reference count
        of each block is the number of its holders, a block is free exactly if the count is zero,
        and free, cached and used blocks add up to all blocks."""
        held = [0] * (self.total + 1)
        for table in tables:
            for block in table:
                held[block] += 1
        used = sum(count > 0 for count in held)
        in_tree = [False] * (self.total + 1)
        for block in tree:
            assert not in_tree[block], "the tree holds a block twice"
            in_tree[block] = True
            held[block] += 1
        assert held[TRASH] == 0, "the trash block is held"
        assert in_tree == self._in_tree, "the tree's blocks are not those marked"
        assert held == self._references, "reference counts differ from the holders"
        free = set(self._free)
        assert len(free) == len(self._free), "a block is free twice"
        assert free == {block for block in range(1, self.total + 1) if not held[block]}
        assert (self.used, self.cached + self.used + self.free) == (used, self.total)
