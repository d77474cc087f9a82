"""Memory of a pool on the host: zeroed, and provided ahead of what is written."""

from __future__ import annotations

import ctypes
import mmap
import sys
import time

import pytest
import torch

from maskwright.kernels.host_memory import AHEAD, HostMemory
from maskwright.kernels.kv_pool import clear_blocks, new_pool


def resident(memory: HostMemory) -> int:
    """The bytes that the system has provided."""
    size = memory.bytes.nbytes
    pages = (ctypes.c_ubyte * (size // mmap.PAGESIZE))()
    mincore = ctypes.CDLL(None, use_errno=True).mincore
    mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    assert mincore(memory.bytes.data_ptr(), size, pages) == 0
    return sum(page & 1 for page in pages) * mmap.PAGESIZE


def wait_for(memory: HostMemory, wanted: int) -> None:
    until = time.monotonic() + 30
    while resident(memory) < wanted:
        assert time.monotonic() < until, f"{resident(memory)} bytes of {wanted} were provided"
        time.sleep(0.01)


def provides_pages() -> bool:
    """Whether this system knows the request: Linux refuses advice that it doesn't know."""
    if sys.platform != "linux":
        return False
    with mmap.mmap(-1, mmap.PAGESIZE) as memory:
        try:
            memory.madvise(23)  # MADV_POPULATE_WRITE
        except OSError:
            return False
    return True


@pytest.mark.skipif(not provides_pages(), reason="needs Linux 5.14")
def test_pages_are_provided_ahead_of_what_is_written() -> None:
    memory = HostMemory(6 * AHEAD)
    wait_for(memory, 2 * AHEAD)
    assert resident(memory) < 3 * AHEAD, "memory that nobody is about to write"
    memory.bytes[: 2 * AHEAD] = 7
    memory.expect(AHEAD)
    assert memory.asked == 2 * AHEAD, "there is enough ahead"
    memory.expect(2 * AHEAD)
    wait_for(memory, 4 * AHEAD)
    assert memory.bytes[: 2 * AHEAD].eq(7).all(), "what was written is left alone"
    assert memory.bytes[2 * AHEAD :].eq(0).all()
    memory.expect(6 * AHEAD)
    assert memory.asked == 6 * AHEAD
    wait_for(memory, 6 * AHEAD)


def test_memory_of_any_size_is_zeroed() -> None:
    for size in (0, 1, mmap.PAGESIZE - 1, AHEAD + 5):
        memory = HostMemory(size)
        memory.expect(size)
        assert memory.bytes.shape == (size,)
        assert memory.bytes.eq(0).all()


@pytest.mark.parametrize("kind", ["auto", "int8", "fp8"])
def test_clearing_blocks_asks_for_the_next_ones(kind: str) -> None:
    pool = new_pool((65, 4, 2, 16, 8, 128), torch.float32, kind)  # type: ignore[arg-type]
    data = pool.memory[0]
    before = min(data.bytes.nbytes, 2 * AHEAD)
    assert len(pool.memory) == (1 if kind == "auto" else 2)
    assert data.asked == before
    clear_blocks(pool, [1, 64, 2])
    assert data.asked == data.bytes.nbytes
    assert all(memory.asked == memory.bytes.nbytes for memory in pool.memory)
