"""The pool of keys and values in blocks, as numbers or as codes of eight bits.

Data has the shape `[num_blocks, layers, 2, block_size, kv_heads, head_dim]`, so that a block is
contiguous through all layers and can be copied as a whole. The third index is 0 for keys and 1 for
values. Block 0 is the trash block: it pads block tables, is never written, and contains zeros. A
block is zeroed when a table takes it (`clear_blocks`), because positions that are not written yet
must contain finite numbers: their weight is 0, but 0 times NaN is NaN.

Codes are int8 or fp8 (e4m3), with a float32 scale for each token and head
(`[num_blocks, layers, 2, block_size, kv_heads]`). A number is its code times its scale. The codes
of a token depend on its own keys and values alone, so their bits do not depend on the schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from maskwright.kernels.device import upload
from maskwright.kernels.host_memory import HostMemory
from maskwright.kernels.kv_bytes import KvDtype

_CODES = {"int8": torch.int8, "fp8": torch.float8_e4m3fn}
_LARGEST = {torch.int8: 127.0, torch.float8_e4m3fn: 448.0}
_SCALE = torch.float32


@dataclass(frozen=True, slots=True)
class KvPool:
    """The pool: `data` and `scales` as above. `scales` is None if `data` contains numbers.
    `memory`: what they are in, in this order, if that takes none before it is written."""

    data: Tensor
    scales: Tensor | None = None
    memory: tuple[HostMemory, ...] = ()

    def of_layer(self, layer: int) -> tuple[Tensor, Tensor | None]:
        """Return data and scales of one layer: `[num_blocks, 2, block_size, kv_heads, ...]`."""
        return self.data[:, layer], None if self.scales is None else self.scales[:, layer]

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
        return self.data.nbytes + (0 if self.scales is None else self.scales.nbytes)


def new_pool(
    shape: Sequence[int],
    dtype: torch.dtype,
    kind: KvDtype = "auto",
    device: torch.device | None = None,
    *,
    pinned: bool = False,
) -> KvPool:
    """Return a zeroed pool with `shape` as above on `device`, by default the CPU, for a model with
    the data type `dtype`. `pinned`: memory of the host from which a GPU copies by itself. A pool in
    other memory of the host takes none of it before its blocks are written."""

    memory: list[HostMemory] = []

    def zeros(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        if pinned or (device is not None and device.type != "cpu"):
            return torch.zeros(*shape, dtype=dtype, device=device, pin_memory=pinned)
        memory.append(HostMemory(prod(shape) * dtype.itemsize))  # `torch.zeros` writes all of it
        return memory[-1].bytes.view(dtype).view(*shape)

    if kind == "auto":
        data = zeros(shape, dtype)
        return KvPool(data, None, tuple(memory))
    # Zeroed as bytes, since all bits 0 are the number 0 in every format.
    data = zeros(shape, torch.uint8).view(_CODES[kind])
    scales = zeros(shape[:-1], _SCALE)
    return KvPool(data, scales, tuple(memory))


def clear_blocks(pool: KvPool, blocks: Sequence[int]) -> None:
    """Zero `blocks` in all layers."""
    if not blocks:
        return
    if pool.data.device.type == "cpu":  # each is one piece of memory
        for memory, part in zip(pool.memory, _parts(pool), strict=False):
            memory.expect((max(blocks) + 1) * part[0].nbytes)
        for part in _parts(pool):
            for block in blocks:
                part[block].zero_()
        return
    [index] = upload([torch.tensor(blocks)], pool.data.device)
    for part in _parts(pool):
        part.index_fill_(0, index, 0)


def copy_block(pool: KvPool, source: int, target: int) -> None:
    """Copy one block in all layers."""
    for part in _parts(pool):
        part[target] = part[source]


def move_blocks(source: KvPool, target: KvPool, pairs: Sequence[tuple[int, int]]) -> None:
    """Copy blocks from one pool to another of equal kind, which may be on another device. Pairs are
    (from, to); blocks that follow each other in both pools are copied as one piece. Between a GPU
    and pinned memory, the host doesn't wait for the copies."""
    for origin, home, count in _pieces(pairs):
        for ours, theirs in zip(_parts(source), _parts(target), strict=True):
            piece = ours[origin : origin + count]
            theirs[home : home + count].copy_(piece, non_blocking=True)


def _pieces(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """The pairs as pieces that are contiguous in both pools: where each begins, and its length."""
    pieces: list[tuple[int, int, int]] = []
    for origin, home in pairs:
        if pieces and pieces[-1][0] + pieces[-1][2] == origin:
            begin, target, count = pieces[-1]
            if target + count == home:
                pieces[-1] = begin, target, count + 1
                continue
        pieces.append((origin, home, 1))
    return pieces


def pack_blocks(pool: KvPool, blocks: Sequence[int]) -> Tensor:
    """Return the contents of `blocks`, at least one, as bytes on the CPU: uint8
    `[n, layers, bytes]`, where the numbers or codes of a layer are followed by its scales."""
    index = torch.tensor(blocks, device=pool.data.device)
    rows = [part.index_select(0, index).cpu() for part in _parts(pool)]
    count, layers = len(blocks), pool.data.shape[1]
    return torch.cat([row.view(torch.uint8).reshape(count, layers, -1) for row in rows], dim=2)


def unpack_blocks(pool: KvPool, blocks: Sequence[int], contents: Tensor) -> None:
    """Write `contents`, which `pack_blocks` has returned for a pool of equal kind, to `blocks`."""
    index, begin = torch.tensor(blocks, device=pool.data.device), 0
    for part in _parts(pool):
        end = begin + part[0, 0].nbytes
        piece = contents[:, :, begin:end]
        if end < contents.shape[2] or begin:  # a part of the bytes, which a view can't regroup
            piece = piece.clone(memory_format=torch.contiguous_format)
        part[index] = piece.view(part.dtype).view(-1, *part.shape[1:]).to(part.device)
        begin = end


def store_kv(
    pool: KvPool, layer: int, blocks: Tensor, offsets: Tensor, keys: Tensor, values: Tensor
) -> None:
    """Write `keys` and `values` `[n, kv_heads, head_dim]` to the slots (`blocks`, `offsets`), int64
    `[n]`."""
    numbers = torch.stack((keys, values), dim=1)
    if pool.scales is None:
        pool.data[:, layer].transpose(1, 2)[blocks, offsets] = numbers
        return
    codes, scales = encode(numbers, pool.data.dtype)
    _bytes(pool.data)[:, layer].transpose(1, 2)[blocks, offsets] = _bytes(codes)
    pool.scales[:, layer].transpose(1, 2)[blocks, offsets] = scales


def read_blocks(pool: KvPool, layer: int, part: int, blocks: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the keys (`part` 0) or values (1) of `blocks`, int64 `[n]`, as numbers of `dtype`:
    `[n, block_size, kv_heads, head_dim]`."""
    if pool.scales is None:
        return pool.data[:, layer, part].index_select(0, blocks)
    codes = _bytes(pool.data)[:, layer, part].index_select(0, blocks).view(pool.data.dtype)
    return decode(codes, pool.scales[:, layer, part].index_select(0, blocks), dtype)


def encode(numbers: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return codes of `dtype`, shaped like `numbers`, and a float32 scale for each vector along the
    last dimension, whose largest magnitude gets the largest code."""
    numbers = numbers.float()
    scales = numbers.abs().amax(dim=-1) / _LARGEST[dtype]
    codes = numbers / scales.clamp(min=torch.finfo(_SCALE).tiny)[..., None]
    if dtype == torch.int8:
        codes = codes.round_()
    return codes.clamp_(-_LARGEST[dtype], _LARGEST[dtype]).to(dtype), scales


def decode(codes: Tensor, scales: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the numbers that `codes` represent."""
    return (codes.float() * scales[..., None]).to(dtype)


def decoded(pool: KvPool, dtype: torch.dtype) -> KvPool:
    """Return a pool of the numbers that a pool of codes represents, which attention must read."""
    assert pool.scales is not None, "these are numbers already"
    return KvPool(decode(pool.data, pool.scales, dtype))


def _parts(pool: KvPool) -> tuple[Tensor, ...]:
    """Return the tensors of a pool, each with blocks as its first dimension, in data types that can
    be indexed and filled."""
    return (_bytes(pool.data),) if pool.scales is None else (_bytes(pool.data), pool.scales)


def _bytes(codes: Tensor) -> Tensor:
    """Return fp8 as plain bytes, because torch can't index or fill it on a CPU; other types
    unchanged."""
    return codes.view(torch.uint8) if codes.dtype == torch.float8_e4m3fn else codes
