"""The thread that reads and writes the folder, so that no step waits for a disk.

Reads come before writes, because requests wait for them. Blocks to be written wait in a queue of
bounded size; if the disk is too slow for it, further blocks are dropped and counted.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from maskwright.engine.schedule.step_time import moving_mean
from maskwright.engine.tiers.disk_folder import DiskFolder
from maskwright.engine.tiers.fetch import Fetch

QUEUE_BYTES: Final = 64 << 20
"""Upper bound on the contents that wait to be written."""

STOP_SECONDS: Final = 5.0
"""Upper bound on the time that `stop` gives to what waits to be written."""

MEMORY: Final = 0.2
"""Weight of the last block in the moving average of the time of a read."""


class DiskThread:
    """`notify` is called from the thread when blocks have been read."""

    def __init__(self, folder: DiskFolder, notify: Callable[[], None]) -> None:
        self.folder = folder
        self.dropped = 0
        """Blocks that were not written because the queue was full."""
        self.read_seconds: float | None = None
        """Moving average of the seconds of reading a block; None before the first."""
        self._notify = notify
        self._wake = threading.Condition()
        self._reads: deque[tuple[Fetch, int, bytes]] = deque()
        self._writes: deque[tuple[bytes, bytes]] = deque()
        self._waiting: dict[bytes, bytes] = {}
        self._waiting_bytes = 0
        self._busy = self._stopping = False
        self._thread = threading.Thread(target=self._run, name="maskwright-kv-disk", daemon=True)
        self._thread.start()

    @property
    def full(self) -> bool:
        """Whether the queue of blocks to be written takes no more."""
        return self._waiting_bytes >= QUEUE_BYTES

    def holds(self, key: bytes) -> bool:
        """Whether a block is in the folder or waits to be written."""
        return key in self._waiting or self.folder.holds(key)

    def write(self, key: bytes, contents: bytes) -> None:
        """Have a block written."""
        with self._wake:
            if key in self._waiting:
                return
            if self.full or self._stopping:
                self.dropped += 1
                return
            self._waiting[key] = contents
            self._writes.append((key, contents))
            self._waiting_bytes += len(contents)
            self._wake.notify_all()

    def read(self, fetch: Fetch, keys: Mapping[int, bytes]) -> None:
        """Have blocks read and given to `fetch`, in the order of their numbers."""
        with self._wake:
            self._reads += ((fetch, number, key) for number, key in sorted(keys.items()))
            self._wake.notify_all()

    def flush(self, seconds: float = STOP_SECONDS) -> None:
        """Wait until all that was given has been written, `seconds` at most."""
        with self._wake:
            self._wake.wait_for(lambda: not (self._reads or self._writes or self._busy), seconds)

    def stop(self) -> None:
        """Write what waits, end the thread and close the folder."""
        self.flush()
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        self._thread.join()
        self.folder.close()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._busy = False
                self._wake.notify_all()
                self._wake.wait_for(lambda: self._reads or self._writes or self._stopping)
                if self._stopping:
                    return
                self._busy = True
                read = self._reads.popleft() if self._reads else None
                write = None if read is not None else self._writes.popleft()
            if read is not None:
                self._read(*read)
            elif write is not None:
                self._write(*write)

    def _read(self, fetch: Fetch, number: int, key: bytes) -> None:
        begin = time.perf_counter()
        contents = self._waiting.get(key) or self.folder.read(key)
        seconds = time.perf_counter() - begin
        self.read_seconds = moving_mean(self.read_seconds, seconds, MEMORY)
        if fetch.deliver(number, contents):
            self._notify()

    def _write(self, key: bytes, contents: bytes) -> None:
        self.folder.write(key, contents)
        with self._wake:
            del self._waiting[key]
            self._waiting_bytes -= len(contents)
