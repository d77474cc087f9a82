"""Blocks in a folder on disk, which several servers of one machine may share.

The files are the whole state: a server that starts finds what another one, or an earlier one, has
written. A file appears under its name only when it is whole (`os.replace`), and who is reading a
file that is removed reads it to its end. Writers take turns by a lock, which the system releases
when a process dies; readers need none. Errors of the file system are counted and otherwise mean
that a block is not stored.

The lock's file holds the sum of the sizes of all files, so that the bound holds for all servers
together. A writer adds a file's size before the file is there; the sum is therefore never too low,
and a scan puts it right.

The file of a block has a checksum that also covers the key, so a file that is damaged, cut off or
under a wrong name is recognised. Only the counter of uses is outside the checksum, because it
changes in place; damage to it changes the order of eviction and nothing else.
"""

from __future__ import annotations

import fcntl
import hashlib
import heapq
import os
import struct
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from maskwright.engine.tiers.eviction_order import StorePolicy
from maskwright.errors import InputError

MAGIC: Final = b"mwkv\x00\x00\x00\x01"
CHECKSUM_BYTES: Final = 16
HEAD: Final = struct.Struct(f"<8sIQ{CHECKSUM_BYTES}s")
"""Magic number, counter of uses, bytes of the contents, checksum."""

USES: Final = struct.Struct("<I")
USES_AT: Final = 8
"""Where the counter of uses stands."""

LOCK_SECONDS: Final = 1.0
"""Upper bound on the wait for other writers."""

ABANDONED_SECONDS: Final = 60.0
"""Age at which an unfinished file counts as left by a process that died."""

_SUM: Final = struct.Struct("<Q")
_Place = tuple[int, int]
"""The number of uses, 0 under LRU, and the time of the last one in nanoseconds."""


def pack_block(key: bytes, contents: bytes) -> bytes:
    """Return the file of a block. `key`: 32 bytes."""
    return HEAD.pack(MAGIC, 1, len(contents), _checksum(key, contents)) + contents


def unpack_block(key: bytes, data: bytes) -> bytes | None:
    """Return the contents of a block from its file; None if it is not the whole file of `key`."""
    if len(data) < HEAD.size:
        return None
    magic, _, length, checksum = HEAD.unpack_from(data)
    contents = data[HEAD.size :]
    if magic != MAGIC or length != len(contents) or checksum != _checksum(key, contents):
        return None
    return contents


def _checksum(key: bytes, contents: bytes) -> bytes:
    return hashlib.blake2b(contents, digest_size=CHECKSUM_BYTES, key=key).digest()


class DiskCounts(Struct):
    """What one process has seen of the folder. `failed`: operations that the file system refused,
    or for which the lock could not be had; `damaged`: files whose checksum was wrong; `missing`:
    files that had gone before they were read."""

    written: int = 0
    read: int = 0
    evicted: int = 0
    damaged: int = 0
    missing: int = 0
    failed: int = 0


class DiskFolder:
    """`most_bytes`: upper bound on the sizes of all files. To be used by one thread, except
    `holds`. Raises InputError if the folder can't be written to."""

    def __init__(self, folder: Path, most_bytes: int, policy: StorePolicy = "lru") -> None:
        self.most_bytes = most_bytes
        self.counts = DiskCounts()
        self.bytes = 0
        """The sum of the sizes of all files, when this process last wrote or read it."""
        self.evicted_at = 0
        """Time of the last use of the most recently used block that this process has evicted, in
        nanoseconds since 1970; 0 before the first one."""
        self._folder = folder
        self._counts_uses = policy == "lfu"
        self._heap: list[tuple[_Place, str]] = []
        """Names of files by the place that they had when last seen."""
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InputError(
                f"{folder} can't hold blocks: {error.strerror}.", param="kv_disk"
            ) from None
        state = os.fstat(self._lock)
        self.place = f"{state.st_dev}:{state.st_ino}"
        """What distinguishes this folder from all others of this machine."""
        with self._locked() as locked:
            if locked:
                self._scan()

    @property
    def kept_seconds(self) -> float | None:
        """For how long blocks stay at present: none that was used less than so many seconds ago
        has been evicted by this process. None while none has been, and where another order than
        that of the last uses decides."""
        if not self.evicted_at or self._counts_uses:
            return None
        return max(0.0, time.time() - self.evicted_at / 1e9)

    def close(self) -> None:
        """Close the folder; nothing may be asked of it afterwards."""
        os.close(self._lock)

    def holds(self, key: bytes) -> bool:
        """Whether there is a file for `key`, which may be damaged. May be asked by any thread."""
        return self._path(key.hex()).exists()

    def read(self, key: bytes) -> bytes | None:
        """Return the contents of a block, which counts as a use; None if there is no file, or one
        that is damaged, which is removed."""
        path = self._path(key.hex())
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            self.counts.missing += 1
            return None
        except OSError:
            self.counts.failed += 1
            return None
        contents = unpack_block(key, data)
        if contents is None:
            self.counts.damaged += 1
            with self._locked() as locked:
                if locked:
                    self._remove(path)
            return None
        self.counts.read += 1
        with suppress(OSError):
            self._note_use(path, data)
        return contents

    def write(self, key: bytes, contents: bytes) -> bool:
        """Store a block unless it is there; whether it is there now."""
        name = key.hex()
        path, data = self._path(name), pack_block(key, contents)
        if path.exists():
            return True
        if len(data) > self.most_bytes:
            return False
        with self._locked() as locked:
            if not locked or not self._make_room(len(data)):
                self.counts.failed += 1
                return False
            if path.exists():  # another server has written it meanwhile
                return True
            self._add_to_sum(len(data))
            unfinished = path.with_suffix(f".{os.getpid()}")
            try:
                path.parent.mkdir(exist_ok=True, mode=0o700)
                unfinished.write_bytes(data)
                unfinished.replace(path)
                heapq.heappush(self._heap, (self._place(path), name))
            except OSError:
                self.counts.failed += 1
                self._add_to_sum(-len(data))
                with suppress(OSError):
                    unfinished.unlink()
                return False
        self.counts.written += 1
        return True

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.kv"

    def _note_use(self, path: Path, data: bytes) -> None:
        if self._counts_uses:
            [uses] = USES.unpack_from(data, USES_AT)
            with path.open("r+b") as file:
                file.seek(USES_AT)
                file.write(USES.pack(min(uses + 1, (1 << 32) - 1)))
        now = time.time_ns()
        os.utime(path, ns=(now, now))

    # With the lock ------------------------------------------------------------------------------

    @contextmanager
    def _locked(self) -> Generator[bool]:
        """Hold the lock during the block; False if it could not be had in time."""
        end = time.monotonic() + LOCK_SECONDS
        locked = False
        while not locked:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                locked = True
            except OSError:
                if time.monotonic() >= end:
                    break
                time.sleep(0.001)
        try:
            yield locked
        finally:
            if locked:
                fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _make_room(self, size: int) -> bool:
        """Remove files until `size` more bytes fit. Files that were used since they were last seen
        go back into the heap, so the order is that of uses by all servers."""
        stored = os.pread(self._lock, _SUM.size, 0)
        if len(stored) < _SUM.size:
            self._scan()
        else:
            [self.bytes] = _SUM.unpack(stored)
        scanned = False
        while self.bytes + size > self.most_bytes:
            if not self._heap:
                if scanned:
                    return False
                self._scan()
                scanned = True
                continue
            place, name = heapq.heappop(self._heap)
            path = self._path(name)
            try:
                now = self._place(path)
            except OSError:
                continue  # another server has removed it
            if now > place:
                heapq.heappush(self._heap, (now, name))
            elif self._remove(path):
                self.counts.evicted += 1
                self.evicted_at = max(self.evicted_at, place[1])
        return True

    def _remove(self, path: Path) -> bool:
        try:
            size = path.stat().st_size
            path.unlink()
        except OSError:
            return False
        self._add_to_sum(-size)
        return True

    def _add_to_sum(self, size: int) -> None:
        stored = os.pread(self._lock, _SUM.size, 0)
        before = _SUM.unpack(stored)[0] if len(stored) == _SUM.size else self.bytes
        self.bytes = max(0, before + size)
        os.pwrite(self._lock, _SUM.pack(self.bytes), 0)

    def _place(self, path: Path) -> _Place:
        """What the order of eviction goes by. Raises OSError if the file has gone."""
        if not self._counts_uses:
            return 0, path.stat().st_mtime_ns
        with path.open("rb") as file:
            head = file.read(HEAD.size)
        uses = USES.unpack_from(head, USES_AT)[0] if len(head) == HEAD.size else 0
        return uses, path.stat().st_mtime_ns

    def _scan(self) -> None:
        """Read which files there are, remove what dead writers have left, and note the sum."""
        self._heap, whole = [], 0
        abandoned = time.time() - ABANDONED_SECONDS
        for path in self._folder.glob("??/*"):
            with suppress(OSError):
                state = path.stat()
                if path.suffix != ".kv" and state.st_mtime < abandoned:
                    path.unlink()
                    continue
                whole += state.st_size
                if path.suffix == ".kv":
                    self._heap.append((self._place(path), path.stem))
        heapq.heapify(self._heap)
        self.bytes = whole
        os.pwrite(self._lock, _SUM.pack(whole), 0)
