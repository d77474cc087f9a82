"""Both stores, from the fast one to the slow one, and what they have counted."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from typing import Literal, TypeAlias

from maskwright.engine.kv.block_keys import DIGEST_BYTES
from maskwright.engine.tiers.disk_thread import DiskThread
from maskwright.engine.tiers.fetch import Fetch
from maskwright.engine.tiers.host_store import HostStore

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
        """What engines tell of which each can fetch what another one has stored: their store on
        disk and the layout of their blocks are one. None without a store on disk."""
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
        told: dict[Tier, dict[str, int]] = {}
        if self.host is not None:
            told["host"] = {
                "bytes": self.host.bytes,
                "saved": self.saved,
                "evicted": self.host.evicted,
            }
        if self.disk is not None:
            counts = self.disk.folder.counts
            told["disk"] = {
                "bytes": self.disk.folder.bytes,
                "saved": counts.written,
                "evicted": counts.evicted,
                "damaged": counts.damaged,
                "missing": counts.missing,
                "failed": counts.failed,
                "dropped": self.disk.dropped,
            }
        return told
