"""The memory of keys and values, in blocks, as the model computes with or as eight-bit codes.

Data: `[num_blocks, layers, 2, block_size, kv_heads, head_dim]`, block-major, so that a block is one
contiguous piece through all layers: copied, moved or handed over whole. Index 2 is 0 for keys, 1
for values. Block 0 is the trash block: block tables are padded with it, nothing writes to it, and
it holds zeros. A block is zeroed when a table takes it (`clear_blocks`), so that positions not
written yet hold finite numbers: their weight is 0, but 0 times NaN is NaN.

Codes: int8, or fp8 (e4m3), with a float32 scale for each token and head beside them
(`[num_blocks, layers, 2, block_size, kv_heads]`); a number is code times scale. A token's codes
depend on its own keys and values alone, so they are the same bits under any schedule, and attention
reads what it would read from a pool of the numbers that the codes stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

KvDtype = Literal["auto", "int8", "fp8"]
"""How keys and values are kept: in the data type that the model computes in, or as codes."""

KV_DTYPES: tuple[KvDtype, ...] = get_args(KvDtype)

_CODES = {"int8": torch.int8, "fp8": torch.float8_e4m3fn}
_LARGEST = {torch.int8: 127.0, torch.float8_e4m3fn: 448.0}
_SCALE = torch.float32


@dataclass(frozen=True, slots=True)
class KvPool:
    """`data` as above; `scales` None where it holds the numbers themselves."""

    data: Tensor
    scales: Tensor | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
        return self.data.nbytes + (0 if self.scales is None else self.scales.nbytes)


def new_pool(shape: Sequence[int], dtype: torch.dtype, kind: KvDtype = "auto") -> KvPool:
    """A zeroed pool of `shape` as above, for a model that computes in `dtype`."""
    if kind == "auto":
        return KvPool(torch.zeros(*shape, dtype=dtype))
    # Zeroed as bytes: all bits 0 is the number 0 in every format.
    codes = torch.zeros(*shape, dtype=torch.uint8).view(_CODES[kind])
    return KvPool(codes, torch.zeros(*shape[:-1], dtype=_SCALE))


def position_bytes(heads: int, head_dim: int, dtype: torch.dtype, kind: KvDtype = "auto") -> int:
    """Bytes of one position's keys and values in one layer."""
    if kind == "auto":
        return 2 * heads * head_dim * dtype.itemsize
    return 2 * heads * (head_dim + _SCALE.itemsize)


def clear_blocks(pool: KvPool, blocks: Sequence[int]) -> None:
    """Zero whole `blocks`, through all layers."""
    if blocks:
        index = torch.tensor(blocks)
        for part in _parts(pool):
            part.index_fill_(0, index, 0)


def copy_block(pool: KvPool, source: int, target: int) -> None:
    """Copy one whole block, through all layers."""
    for part in _parts(pool):
        part[target] = part[source]


def move_blocks(source: KvPool, target: KvPool, pairs: Sequence[tuple[int, int]]) -> None:
    """Copy whole blocks from one pool to another of the same kind; pairs are (from, to)."""
    if pairs:
        origins, homes = torch.tensor(pairs).unbind(1)
        for ours, theirs in zip(_parts(source), _parts(target), strict=True):
            theirs[homes] = ours[origins]


def store_kv(
    pool: KvPool, layer: int, blocks: Tensor, offsets: Tensor, keys: Tensor, values: Tensor
) -> None:
    """Write `keys`, `values` `[n, kv_heads, head_dim]` to (`blocks`, `offsets`), int64 `[n]`."""
    numbers = torch.stack((keys, values), dim=1)
    if pool.scales is None:
        pool.data[:, layer].transpose(1, 2)[blocks, offsets] = numbers
        return
    codes, scales = encode(numbers, pool.data.dtype)
    _bytes(pool.data)[:, layer].transpose(1, 2)[blocks, offsets] = _bytes(codes)
    pool.scales[:, layer].transpose(1, 2)[blocks, offsets] = scales


def read_blocks(pool: KvPool, layer: int, part: int, blocks: Tensor, dtype: torch.dtype) -> Tensor:
    """Keys (`part` 0) or values (1) of `blocks` int64 `[n]` as numbers of `dtype`:
    `[n, block_size, kv_heads, head_dim]`."""
    if pool.scales is None:
        return pool.data[:, layer, part].index_select(0, blocks)
    codes = _bytes(pool.data)[:, layer, part].index_select(0, blocks).view(pool.data.dtype)
    return decode(codes, pool.scales[:, layer, part].index_select(0, blocks), dtype)


def encode(numbers: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Codes of `dtype`, shaped like `numbers`, and the float32 scale of each last dimension: its
    largest magnitude gets the largest code."""
    numbers = numbers.float()
    scales = numbers.abs().amax(dim=-1) / _LARGEST[dtype]
    codes = numbers / scales.clamp(min=torch.finfo(_SCALE).tiny)[..., None]
    if dtype == torch.int8:
        codes = codes.round_()
    return codes.clamp_(-_LARGEST[dtype], _LARGEST[dtype]).to(dtype), scales


def decode(codes: Tensor, scales: Tensor, dtype: torch.dtype) -> Tensor:
    """The numbers that `codes` stand for."""
    return (codes.float() * scales[..., None]).to(dtype)


def decoded(pool: KvPool, dtype: torch.dtype) -> KvPool:
    """A pool of the numbers that a pool of codes stands for: what attention must read."""
    assert pool.scales is not None, "these are numbers already"
    return KvPool(decode(pool.data, pool.scales, dtype))


def _parts(pool: KvPool) -> tuple[Tensor, ...]:
    """The tensors of a pool, blocks first, in data types that can be indexed and filled."""
    return (_bytes(pool.data),) if pool.scales is None else (_bytes(pool.data), pool.scales)


def _bytes(codes: Tensor) -> Tensor:
    """Fp8 as plain bytes: torch can't index or fill it on a CPU. Everything else as it is."""
    return codes.view(torch.uint8) if codes.dtype == torch.float8_e4m3fn else codes
