"""The copies between two pools that are in flight, and the blocks that they hold.

A copy has a reference of its own to every block that it reads or writes, in both pools. So no block
becomes free, and none is evicted, before the copies of it have ended, whatever happens to its
sequence meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.kv.prefix import PrefixTree
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.transfer import BlockTransfer


class Transfers:
    """The copies in flight between `pool`, whose cached blocks `tree` knows, and `host`."""

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
