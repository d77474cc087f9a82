"""The store of blocks in host memory, and both stores, from the fast one to the slow one."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from typing import Literal, TypeAlias

from maskwright.engine.kv.block_keys import DIGEST_BYTES
from maskwright.engine.tiers.disk_thread import DiskThread
from maskwright.engine.tiers.eviction_order import EvictionOrder, StorePolicy
from maskwright.engine.tiers.fetch import Fetch


class HostStore:
    """Blocks in host memory by their keys, at most `most_bytes` of contents. To be used by one
    thread; the numbers may be read by any."""

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


Tier: TypeAlias = Literal["host", "disk"]


class Stores:
    """The stores of one engine; either may be None. `layout` names everything that the contents of
    a block depend on besides the tokens up to its end and their salt."""

    def __init__(self, layout: str, host: HostStore | None, disk: DiskThread | None) -> None:
        self.host = host
        self.disk = disk
        self.saved = 0
        """Blocks that were given to the store in host memory."""
        self._layout = hashlib.blake2b(layout.encode(), digest_size=DIGEST_BYTES).digest()

    def key(self, digest: bytes) -> bytes:
        """Return the key of a block in the stores from its digest in the tree."""
        return hashlib.blake2b(digest, digest_size=DIGEST_BYTES, key=self._layout).digest()

    @property
    def shared_name(self) -> str | None:
        """The name that engines share if each can fetch what another one has stored: they have one
        store on disk and one layout of blocks. None without a store on disk."""
        if self.disk is None:
            return None
        place = f"{platform.node()} {self.disk.folder.place}"
        return hashlib.blake2b(place.encode(), digest_size=16, key=self._layout).hexdigest()

    def find(self, key: bytes) -> Tier | None:
        """Return the fastest store that has a block."""
        if self.host is not None and key in self.host:
            return "host"
        return "disk" if self.disk is not None and self.disk.holds(key) else None

    def keep(self, key: bytes, contents: bytes) -> None:
        """Store a block that the pool gives up. What the host's memory gives up for it goes to
        disk."""
        given_up = [(key, contents)]
        if self.host is not None:
            self.saved += 1
            given_up = self.host.write(key, contents)
        for other, leaving in given_up:
            self.write_through(other, leaving)

    def write_through(self, key: bytes, contents: bytes) -> None:
        """Store a block on disk."""
        if self.disk is not None and not self.disk.holds(key):
            self.disk.write(key, contents)

    def begin(self, fetch: Fetch, tiers: Mapping[int, Tier]) -> None:
        """Give `fetch` its blocks: those in memory now, and those on disk when they are read.
        `tiers`: where each is."""
        for number, tier in tiers.items():
            if tier == "host" and self.host is not None:
                fetch.deliver(number, self.host.read(fetch.keys[number]))
        on_disk = {number: fetch.keys[number] for number in tiers if tiers[number] == "disk"}
        if on_disk and self.disk is not None:
            self.disk.read(fetch, on_disk)

    def stop(self) -> None:
        """Write what waits for the disk, and end the thread."""
        if self.disk is not None:
            self.disk.stop()

    def counts(self) -> dict[Tier, dict[str, int]]:
        """Return the numbers of each store that there is."""
        found: dict[Tier, dict[str, int]] = {}
        if self.host is not None:
            found["host"] = {
                "bytes": self.host.bytes,
                "saved": self.saved,
                "evicted": self.host.evicted,
            }
        if self.disk is not None:
            counts = self.disk.folder.counts
            found["disk"] = {
                "bytes": self.disk.folder.bytes,
                "saved": counts.written,
                "evicted": counts.evicted,
                "damaged": counts.damaged,
                "missing": counts.missing,
                "failed": counts.failed,
                "dropped": self.disk.dropped,
            }
        return found
