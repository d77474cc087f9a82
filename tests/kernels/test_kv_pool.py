"""Blocks of keys and values, as numbers and as codes."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.kernels.host_memory import HostMemory
from maskwright.kernels.kv_bytes import KV_DTYPES, KvDtype, position_bytes
from maskwright.kernels.kv_pool import (
    clear_blocks,
    copy_block,
    decode,
    decoded,
    encode,
    move_blocks,
    new_pool,
    pack_blocks,
    read_blocks,
    store_kv,
    unpack_blocks,
)

SHAPE = (6, 3, 2, 4, 2, 8)  # blocks, layers, keys and values, block size, heads, width

CODES = pytest.mark.parametrize(
    ("dtype", "error"),
    [(torch.int8, 0.5 / 127), (torch.float8_e4m3fn, 16 / 448)],
    ids=["int8", "fp8"],
)


@CODES
@settings(max_examples=50, deadline=None)
@given(numbers=st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=8))
def test_codes_are_close_and_keep_their_largest(
    dtype: torch.dtype, error: float, numbers: list[float]
) -> None:
    """Within half a step of the largest magnitude; that one, and nought, are kept."""
    plain = torch.tensor([numbers])
    codes, scales = encode(plain, dtype)
    assert (codes.dtype, codes.shape, scales.shape) == (dtype, plain.shape, (1,))
    largest = plain.abs().max()
    found = decode(codes, scales, torch.float32)
    assert (found - plain).abs().max() <= error * largest * 1.0001 + 1e-36
    torch.testing.assert_close(found.abs().max(), largest, rtol=1e-6, atol=1e-36)
    assert found[plain == 0].eq(0).all()


@CODES
def test_a_token_s_codes_are_its_own(dtype: torch.dtype, error: float) -> None:
    """They depend on nothing that is stored beside them."""
    torch.manual_seed(0)
    numbers = (
        torch.randn(9, 2, 2, 8) * torch.tensor([1e-3, 1.0, 50.0]).repeat(3)[:, None, None, None]
    )
    whole, scales = encode(numbers, dtype)
    for row in range(9):
        codes, scale = encode(numbers[row : row + 1], dtype)
        assert torch.equal(codes.view(torch.uint8), whole[row : row + 1].view(torch.uint8))
        assert torch.equal(scale, scales[row : row + 1])


@pytest.mark.parametrize("kind", KV_DTYPES)
def test_what_is_stored_is_read_moved_copied_and_cleared(kind: KvDtype) -> None:
    torch.manual_seed(0)
    pool, other = (new_pool(SHAPE, torch.float32, kind) for _ in range(2))
    assert pool.nbytes == 6 * 4 * 3 * position_bytes(2, 8, torch.float32.itemsize, kind)
    blocks, offsets = torch.tensor([2, 2, 5]), torch.tensor([0, 3, 1])
    keys, values = torch.randn(2, 3, 2, 8)
    store_kv(pool, 1, blocks, offsets, keys, values)

    def read(memory, layer, block):
        parts = (read_blocks(memory, layer, part, block, torch.float32) for part in (0, 1))
        return torch.stack(tuple(parts))

    two, five = torch.tensor([2]), torch.tensor([5])
    found = torch.stack((read(pool, 1, two)[:, 0, 0], read(pool, 1, two)[:, 0, 3]))
    torch.testing.assert_close(found[:, 0], keys[:2], rtol=0.07, atol=0.03)
    torch.testing.assert_close(found[:, 1], values[:2], rtol=0.07, atol=0.03)
    assert read(pool, 1, two)[:, 0, 1:3].eq(0).all()
    assert read(pool, 0, two).eq(0).all(), "another layer was written to"
    if kind != "auto":
        numbers = decoded(pool, torch.float32)
        for block in (two, five):
            assert torch.equal(read(pool, 1, block), read(numbers, 1, block))
    copy_block(pool, 2, 4)
    assert torch.equal(read(pool, 1, torch.tensor([4])), read(pool, 1, two))
    move_blocks(pool, other, [(2, 1), (5, 3)])
    assert torch.equal(read(other, 1, torch.tensor([1, 3])), read(pool, 1, torch.tensor([2, 5])))
    assert read(other, 1, torch.tensor([2, 4, 5])).eq(0).all()
    clear_blocks(pool, [2])
    assert read(pool, 1, two).eq(0).all()
    assert read(pool, 1, five).ne(0).any()
    assert read(pool, 1, torch.tensor([4])).ne(0).any()


@pytest.mark.parametrize("kind", KV_DTYPES)
def test_packed_blocks_are_all_their_bytes(kind: KvDtype) -> None:
    """In the order that is asked for, at other places of another pool, and nothing else of it."""
    torch.manual_seed(0)
    source, target = (new_pool(SHAPE, torch.float32, kind) for _ in range(2))
    layers, size, heads, width = SHAPE[1], *SHAPE[3:]
    for layer in range(layers):
        index = torch.arange(6).repeat_interleave(size)
        offsets = torch.arange(size).repeat(6)
        keys, values = torch.randn(2, 6 * size, heads, width)
        store_kv(source, layer, index, offsets, keys, values)
    packed = pack_blocks(source, [5, 2])
    each = layers * size * position_bytes(heads, width, 4, kind)
    assert (packed.dtype, packed.shape) == (torch.uint8, (2, layers, each // layers))
    unpack_blocks(target, [1, 3], packed)
    assert torch.equal(pack_blocks(target, [1, 3]), packed)
    numbers = torch.float32
    for layer in range(layers):
        for part in range(2):
            theirs = read_blocks(source, layer, part, torch.tensor([5, 2]), numbers)
            assert torch.equal(
                read_blocks(target, layer, part, torch.tensor([1, 3]), numbers), theirs
            )
            others = read_blocks(target, layer, part, torch.tensor([0, 2, 4, 5]), numbers)
            assert not others.any()


def test_blocks_that_follow_each_other_move_as_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours in both pools, in this order; each number is that of its block."""
    source, target = (new_pool((9, 1, 2, 4, 1, 2), torch.float32) for _ in range(2))
    source.data.add_(torch.arange(9)[:, None, None, None, None, None])
    pieces = []
    copy = torch.Tensor.copy_

    def noting(self: torch.Tensor, *args: object, **options: object) -> torch.Tensor:
        pieces.append(len(self))
        return copy(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(torch.Tensor, "copy_", noting)
    move_blocks(source, target, [(1, 4), (2, 5), (3, 6), (5, 7), (6, 2), (7, 1)])
    assert pieces == [3, 1, 1, 1]
    assert target.data[:, 0, 0, 0, 0, 0].tolist() == [0, 7, 6, 0, 1, 2, 3, 5, 0]


def resident() -> int:
    """The memory of this process in bytes, as Linux counts it."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
@pytest.mark.parametrize("kind", KV_DTYPES)
def test_a_pool_takes_memory_only_where_it_is_written(
    kind: KvDtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for what is provided ahead; see `test_host_memory.py`."""
    monkeypatch.setattr(HostMemory, "expect", lambda *_: None)
    before = resident()
    pool = new_pool((128, 4, 2, 16, 32, 128), torch.float32, kind)
    assert pool.nbytes > 64 << 20
    assert resident() - before < 4 << 20
    assert pool.data.data_ptr() % 64 == 0
    clear_blocks(pool, [1])
    copy_block(pool, 63, 2)
    assert resident() - before < 32 << 20
    assert not pack_blocks(pool, [0, 1, 2, 63, 127]).any()
