"""The pool of key/value blocks: which are free, and how many tables hold each of the others.

Only numbers live here; the memory is a tensor owned by the runner. Block 0 is the trash block: it
pads tables and is never handed out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

TRASH = 0


class BlockPool:
    """`total` usable blocks, numbered 1 to `total`, of `block_size` positions each."""

    def __init__(self, total: int, block_size: int) -> None:
        self.total = total
        self.block_size = block_size
        self._free = deque(range(1, total + 1))
        self._references = [0] * (total + 1)

    @property
    def free(self) -> int:
        """Blocks that nobody holds."""
        return len(self._free)

    @property
    def used(self) -> int:
        """Blocks that at least one table holds."""
        return self.total - len(self._free)

    def needed(self, positions: int) -> int:
        """Blocks that `positions` positions fill."""
        return -(-positions // self.block_size)

    def allocate(self, count: int) -> list[int]:
        """`count` free blocks with one reference each; the caller has checked that they exist."""
        assert count <= len(self._free), "allocation beyond the pool"
        blocks = [self._free.popleft() for _ in range(count)]
        for block in blocks:
            self._references[block] = 1
        return blocks

    def share(self, blocks: Iterable[int]) -> None:
        """One more table holds `blocks`."""
        for block in blocks:
            assert self._references[block] > 0, "sharing a free block"
            self._references[block] += 1

    def release(self, blocks: Iterable[int]) -> None:
        """One table fewer holds `blocks`; a block nobody holds is free."""
        for block in blocks:
            assert self._references[block] > 0, "double free"
            self._references[block] -= 1
            if self._references[block] == 0:
                self._free.append(block)

    def check(self, tables: Iterable[Iterable[int]]) -> None:
        """Assert the invariants, given every live table: each block's count is the number of
        tables that hold it, and a block is free exactly when that is zero."""
        held = [0] * (self.total + 1)
        for table in tables:
            for block in table:
                held[block] += 1
        assert held[TRASH] == 0, "a table holds the trash block"
        assert held == self._references, "reference counts differ from the tables"
        free = set(self._free)
        assert len(free) == len(self._free), "a block is free twice"
        assert free == {block for block in range(1, self.total + 1) if not held[block]}
