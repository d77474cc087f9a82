"""Memory of the host that takes none before it is written, and that the system provides in time.

The first write to a page waits until the system has found and zeroed it: for a large page up to
5 ms where the system is a virtual machine whose own host has to find the memory first. A step that
writes there would keep all its readers waiting, so threads ask for the pages ahead of the writes.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
from contextlib import suppress
from typing import Final

import torch
from torch import Tensor

AHEAD: Final = 8 << 20
"""Bytes beyond the last one that was written which the system is asked for, and that are asked for
together."""

_HUGE_PAGES: int | None = getattr(mmap, "MADV_HUGEPAGE", None)
"""Asks the system for large pages; None where it has no such advice. A step reads blocks all over
the pool, and a processor remembers the places of a limited number of pages."""
_POPULATE: Final = 23
"""Linux's `MADV_POPULATE_WRITE`: provide pages as if they were written, and leave what they
contain. Linux has it since 5.14."""
_PIECE: Final = 2 << 20
"""Bytes that are asked for in one call: what a large page has on most processors."""


class HostMemory:
    """Zeroed memory of `nbytes` bytes, which the system provides page by page."""

    def __init__(self, nbytes: int) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._memory = mmap.mmap(-1, max(1, nbytes), flags=flags)
        if _HUGE_PAGES is not None:
            with suppress(OSError):  # a system that was built without them
                self._memory.madvise(_HUGE_PAGES)
        self.bytes: Final[Tensor] = torch.frombuffer(self._memory, dtype=torch.uint8)[:nbytes]
        self.asked = 0
        """Bytes from the first one on that the system was asked for ahead of writes."""
        self.expect(0)

    def expect(self, end: int) -> None:
        """Say that writes are up to byte `end` or about to be, mostly in the order of the bytes.
        Where fewer than `AHEAD` bytes after it have been asked for, a thread asks for more."""
        size = self.bytes.nbytes
        if self.asked < size and self.asked < end + AHEAD and sys.platform == "linux":
            begin, self.asked = self.asked, min(size, end + 2 * AHEAD)
            asked = (self.bytes, begin, self.asked)
            threading.Thread(target=_provide, args=asked, daemon=True).start()


def _provide(memory: Tensor, begin: int, end: int) -> None:
    """Have the system provide the pages of some bytes. Where it can't, the writes do."""
    madvise = ctypes.CDLL(None).madvise  # the method of `mmap` would keep the interpreter's lock
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for at in range(begin - begin % _PIECE, end, _PIECE):
        size = min(_PIECE, end - at)
        if madvise(memory.data_ptr() + at, size, _POPULATE):
            return
