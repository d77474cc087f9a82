"""Writes keys and values of new tokens to their slots in the pool.

Where the pool holds numbers, the kernel moves their bits, so that it serves every type. Pools of
codes (int8, fp8) are written by the twin in `kv_pool.py`.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from typing import Final

from torch import Tensor

from maskwright.kernels import kv_pool
from maskwright.kernels.apply_mask import AS_INTEGERS
from maskwright.kernels.device import jit, runs_kernels, tl
from maskwright.kernels.kv_pool import KvPool

WARPS: Final = 4
"""A token of eight heads of 128 numbers of two bytes is one access of 128 bits a thread."""


@jit
def store_kernel(
    keys,
    key_stride,
    key_head_stride,
    values,
    value_stride,
    value_head_stride,
    pool,
    block_stride,
    part_stride,
    slot_stride,
    head_stride,
    blocks,
    blocks_stride,
    offsets,
    offsets_stride,
    HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    HEADS_2: tl.constexpr,
    WIDTH_2: tl.constexpr,
):
    """Write the keys (axis 1 of the grid: 0) or values (1) of one token. `pool`: of one layer.
    `HEADS_2`, `WIDTH_2`: the powers of two from `HEADS` and `WIDTH` on. Strides are in elements."""
    token, part = tl.program_id(0), tl.program_id(1)
    head = tl.arange(0, HEADS_2)[:, None]
    lane = tl.arange(0, WIDTH_2)[None, :]
    inside = (head < HEADS) & (lane < WIDTH)
    if part == 0:
        source = keys + token.to(tl.int64) * key_stride + head * key_head_stride
    else:
        source = values + token.to(tl.int64) * value_stride + head * value_head_stride
    block = tl.load(blocks + token * blocks_stride)
    slot = block * block_stride + tl.load(offsets + token * offsets_stride) * slot_stride
    target = pool + slot + part * part_stride + head * head_stride
    tl.store(target + lane, tl.load(source + lane, mask=inside), mask=inside)


def store_kv(
    pool: KvPool, layer: int, blocks: Tensor, offsets: Tensor, keys: Tensor, values: Tensor
) -> None:
    """Write `keys` and `values` `[n, kv_heads, head_dim]`, in the type of the pool unless it holds
    codes, to the slots (`blocks`, `offsets`), int64 `[n]`, which differ. Raises `ValueError` for
    other shapes and types."""
    shape = (len(blocks), *pool.data.shape[4:])
    if not keys.shape == values.shape == shape or offsets.shape != blocks.shape:
        raise ValueError(f"keys and values must be {list(shape)} for these slots of the pool")
    if pool.scales is None and not keys.dtype == values.dtype == pool.data.dtype:
        raise ValueError(f"a pool of {pool.data.dtype} can't hold {keys.dtype}")
    strided = keys.stride(2) == values.stride(2) == 1
    if pool.scales is not None or not strided or not len(blocks) or not runs_kernels(keys):
        kv_pool.store_kv(pool, layer, blocks, offsets, keys, values)
        return
    kind = AS_INTEGERS[keys.element_size()]
    of_layer = pool.data.view(kind)[:, layer]
    heads, width = keys.shape[1:]
    store_kernel[len(blocks), 2](
        *(keys.view(kind), *keys.stride()[:2]),
        *(values.view(kind), *values.stride()[:2]),
        *(of_layer, *of_layer.stride()[:4]),
        *(blocks, blocks.stride(0), offsets, offsets.stride(0)),
        HEADS=heads,
        WIDTH=width,
        HEADS_2=1 << (heads - 1).bit_length(),
        WIDTH_2=1 << (width - 1).bit_length(),
        num_warps=WARPS,
        enable_fp_fusion=False,
    )
