"""The store of blocks in host memory."""

from __future__ import annotations

from maskwright.engine.tiers.eviction_order import EvictionOrder, StorePolicy


class HostStore:
    """Blocks by their keys, at most `most_bytes` of contents. To be used by one thread; the numbers
    may be read by any."""

    def __init__(self, most_bytes: int, policy: StorePolicy = "lru") -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self.evicted = 0
        self._blocks: dict[bytes, bytes] = {}
        self._order = EvictionOrder(policy)

    def __len__(self) -> int:
        return len(self._blocks)

    def __contains__(self, key: bytes) -> bool:
        return key in self._blocks

    def read(self, key: bytes) -> bytes | None:
        """Return the contents of a block, which counts as a use; None if it is not here."""
        contents = self._blocks.get(key)
        if contents is not None:
            self._order.use(key)
        return contents

    def write(self, key: bytes, contents: bytes) -> list[tuple[bytes, bytes]]:
        """Take a block in, and return the blocks that had to leave for it; the block itself if it
        is larger than the store."""
        if len(contents) > self.most_bytes:
            return [(key, contents)]
        gone: list[tuple[bytes, bytes]] = []
        self.discard(key)
        while self.bytes + len(contents) > self.most_bytes:
            victim = self._order.pop()
            gone.append((victim, self._take_out(victim)))
            self.evicted += 1
        self._blocks[key] = contents
        self.bytes += len(contents)
        self._order.use(key)
        return gone

    def discard(self, key: bytes) -> None:
        """Remove a block if it is here."""
        if key in self._blocks:
            self._order.discard(key)
            self._take_out(key)

    def _take_out(self, key: bytes) -> bytes:
        contents = self._blocks.pop(key)
        self.bytes -= len(contents)
        return contents
