"""Writes keys and values of new tokens to their slots in the pool.

Where the pool holds numbers, the kernel moves their bits, so that it serves every type. Where it
holds codes (int8, fp8), it makes them, bit for bit as `kv_pool.encode` does: the largest magnitude
of a head gets the largest code, quotients are rounded correctly, and codes to the nearest, ties to
even.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from maskwright.kernels import kv_pool
from maskwright.kernels.apply_mask import AS_INTEGERS
from maskwright.kernels.device import await_earlier, jit, runs_kernels, tl
from maskwright.kernels.kv_pool import KvPool

WARPS: Final = 4
"""A token of eight heads of 128 numbers of two bytes is one access of 128 bits a thread."""


@jit
def encode_head(numbers, FP8: tl.constexpr):
    """Return codes of `numbers` float32 `[width]` or `[heads, width]`, as bytes, and the scale of
    each head. `FP8`: codes are fp8 (e4m3), else int8."""
    scale = scale_of(tl.max(tl.abs(numbers), len(numbers.shape) - 1), FP8)
    return encode(numbers, scale, FP8), scale


@jit
def scale_of(magnitude, FP8: tl.constexpr):
    """Return the scale of heads whose largest number has this `magnitude`."""
    largest: tl.constexpr = 448.0 if FP8 else 127.0
    return tl.div_rn(magnitude, tl.full([], largest, tl.float32))


@jit
def encode(numbers, scale, FP8: tl.constexpr):
    """Return codes of `numbers` as `encode_head` does, or of a part, by the scale of each head."""
    axis: tl.constexpr = len(numbers.shape) - 1
    largest: tl.constexpr = 448.0 if FP8 else 127.0
    # The least normal number: a head of zeros has the scale 0.
    divisor = tl.expand_dims(tl.maximum(scale, 1.1754943508222875e-38), axis)
    quotient = tl.div_rn(numbers, tl.broadcast_to(divisor, numbers.shape))
    quotient = tl.minimum(tl.maximum(quotient, -largest), largest)
    if FP8:
        bits = quotient.to(tl.int32, bitcast=True)
        magnitude = bits & 0x7FFFFFFF
        # Three bits of the mantissa stay; a carry goes on into the exponent, whose origin changes
        # from 127 to 7.
        normal = ((magnitude + 0x7FFFF + ((magnitude >> 20) & 1)) >> 20) - (120 << 3)
        # Below the least normal number of fp8, codes count steps of 2 ** -9.
        small = nearest(tl.abs(quotient) * 512).to(tl.int32)
        code = ((bits >> 24) & 128) | tl.where(tl.abs(quotient) < 0.015625, small, normal)
    else:
        code = nearest(quotient).to(tl.int32)
    return (code & 255).to(tl.uint8)


@jit
def nearest(number):
    """Return `number`, far below 2 ** 22, rounded to a whole number, ties to even: beyond 1.5 *
    2 ** 23, float32 has no other numbers."""
    return (number + 12582912.0) - 12582912.0


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
    scales,
    scale_block_stride,
    scale_part_stride,
    scale_slot_stride,
    scale_head_stride,
    blocks,
    blocks_stride,
    offsets,
    offsets_stride,
    HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    HEADS_2: tl.constexpr,
    WIDTH_2: tl.constexpr,
    FP8: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Write the keys (axis 1 of the grid: 0) or values (1) of one token. `pool` and `scales`: of
    one layer; without `scales`, numbers are copied. `HEADS_2`, `WIDTH_2`: the powers of two from
    `HEADS` and `WIDTH` on. Strides are in elements. `FP8`: see `encode_head`."""
    await_earlier(OVERLAPS)
    token, part = tl.program_id(0), tl.program_id(1)
    head = tl.arange(0, HEADS_2)[:, None]
    lane = tl.arange(0, WIDTH_2)[None, :]
    inside = (head < HEADS) & (lane < WIDTH)
    if part == 0:
        source = keys + token.to(tl.int64) * key_stride + head * key_head_stride
    else:
        source = values + token.to(tl.int64) * value_stride + head * value_head_stride
    block = tl.load(blocks + token * blocks_stride).to(tl.int64)
    offset = tl.load(offsets + token * offsets_stride).to(tl.int64)
    target = pool + block * block_stride + offset * slot_stride + part * part_stride
    numbers = tl.load(source + lane, mask=inside, other=0)
    if scales is not None:
        codes, scale = encode_head(numbers.to(tl.float32), FP8)
        place = block * scale_block_stride + offset * scale_slot_stride + part * scale_part_stride
        each = tl.arange(0, HEADS_2)
        tl.store(scales + place + each * scale_head_stride, scale, mask=each < HEADS)
        tl.store(target + head * head_stride + lane, codes, mask=inside)
    else:
        tl.store(target + head * head_stride + lane, numbers, mask=inside)


def store_kv(
    pool: KvPool, layer: int, blocks: Tensor, offsets: Tensor, keys: Tensor, values: Tensor
) -> None:
    """Write `keys` and `values` `[n, kv_heads, head_dim]`, in the type of the pool unless it holds
    codes, to the slots (`blocks`, `offsets`), integers `[n]`, which differ. Raises `ValueError` for
    other shapes and types."""
    shape = (len(blocks), *pool.data.shape[4:])
    if not keys.shape == values.shape == shape or offsets.shape != blocks.shape:
        raise ValueError(f"keys and values must be {list(shape)} for these slots of the pool")
    for each in (keys, values):
        check_type(pool, each.dtype)
    if not keys.stride(2) == values.stride(2) == 1 or not len(blocks) or not runs_kernels(keys):
        kv_pool.store_kv(pool, layer, blocks, offsets, keys, values)
        return
    if pool.scales is None:
        kind = AS_INTEGERS[keys.element_size()]
        keys, values, pool = keys.view(kind), values.view(kind), KvPool(pool.data.view(kind))
    heads, width = keys.shape[1:]
    store_kernel[len(blocks), 2](
        *(keys, *keys.stride()[:2]),
        *(values, *values.stride()[:2]),
        *of_layer(pool, layer),
        *(blocks, blocks.stride(0), offsets, offsets.stride(0)),
        HEADS=heads,
        WIDTH=width,
        HEADS_2=1 << (heads - 1).bit_length(),
        WIDTH_2=1 << (width - 1).bit_length(),
        FP8=pool.data.dtype == torch.float8_e4m3fn,
        num_warps=WARPS,
        enable_fp_fusion=False,
    )


def of_layer(pool: KvPool, layer: int) -> tuple[Tensor | int | None, ...]:
    """Return one layer of a pool as arguments of kernels that write it: the numbers, or codes as
    bytes, with four strides, and the scales with theirs."""
    data = pool.data[:, layer]
    if pool.scales is None:
        return (data, *data.stride()[:4], None, 0, 0, 0, 0)
    scales = pool.scales[:, layer]
    return (data.view(torch.uint8), *data.stride()[:4], scales, *scales.stride())


def check_type(pool: KvPool, dtype: torch.dtype) -> None:
    """Raise `ValueError` if a pool of numbers has another type."""
    if pool.scales is None and dtype != pool.data.dtype:
        raise ValueError(f"a pool of {pool.data.dtype} can't hold {dtype}")
