"""Root-mean-square norms with what stands beside them in a decoder, each in one launch: the sum of
the residual before the norm of a layer; and after the norms of queries and keys the rotary
embedding, and the writing of keys and values to their slots in the pool.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from functools import partial
from typing import Final

import torch
from torch import Tensor

from maskwright.kernels import reference
from maskwright.kernels.device import await_earlier, jit, runs_kernels, tl
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.store_kv import check_type, encode, of_layer, scale_of, store_kv

LANES: Final = 1024
"""Numbers of a row for each four warps of `add_norm`: eight a thread, one access of 128 bits to
numbers of two bytes."""

MOST_WARPS: Final = 16

PAIRS: Final = 512
"""Pairs of numbers that a program of `norm_rope_store` rotates: with two warps, eight a thread."""


@jit
def add_norm_kernel(
    hidden,
    hidden_stride,
    addition,
    addition_stride,
    weight,
    eps,
    total,
    normed,
    WIDTH: tl.constexpr,
    WIDTH_2: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Write the sum of one row of `hidden` and `addition` to `total`, unless `addition` is None,
    and its norm to `normed`; both are `[rows, WIDTH]` and contiguous."""
    await_earlier(OVERLAPS)
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, WIDTH_2)
    inside = lane < WIDTH
    numbers = tl.load(hidden + row * hidden_stride + lane, mask=inside, other=0).to(tl.float32)
    kind = normed.dtype.element_ty
    if addition is not None:
        place = addition + row * addition_stride + lane
        numbers += tl.load(place, mask=inside, other=0).to(tl.float32)
        # The sum that the next layers read: rounded.
        numbers = numbers.to(kind).to(tl.float32)
        tl.store(total + row * WIDTH + lane, numbers.to(kind), mask=inside)
    numbers *= tl.rsqrt(tl.sum(numbers * numbers, 0) / WIDTH + eps)
    numbers = numbers.to(kind).to(tl.float32)
    numbers *= tl.load(weight + lane, mask=inside, other=0).to(tl.float32)
    tl.store(normed + row * WIDTH + lane, numbers.to(kind), mask=inside)


@partial(jit, do_not_specialize=["stored"])
def norm_rope_store_kernel(
    heads,
    stride,
    head_stride,
    query_norm,
    key_norm,
    eps,
    cos,
    sin,
    positions,
    out,
    pool,
    block_stride,
    part_stride,
    slot_stride,
    pool_head_stride,
    scales,
    scale_block_stride,
    scale_part_stride,
    scale_slot_stride,
    scale_head_stride,
    blocks,
    offsets,
    stored,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    HALF: tl.constexpr,
    HALF_2: tl.constexpr,
    GROUP: tl.constexpr,
    FP8: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Take up to `GROUP` heads of one row, all of them queries, keys or values, which follow each
    other on axis 1 of the grid. Queries and keys are normed and rotated. Queries go to `out`
    `[rows, QUERIES, 2 * HALF]`, keys and values of the first `stored` rows to their slots in
    `pool`. A head is `2 * HALF` numbers; its halves rotate together. `cos`, `sin`: of all
    positions, with the first half of `sin` negated. The pool's arguments: see `store_kernel`."""
    await_earlier(OVERLAPS)
    row = tl.program_id(0).to(tl.int64)
    OF_QUERIES: tl.constexpr = (QUERIES + GROUP - 1) // GROUP
    OF_KEYS: tl.constexpr = (KEYS + GROUP - 1) // GROUP
    turn = tl.program_id(1)
    is_query = turn < OF_QUERIES
    part = (turn - OF_QUERIES) // OF_KEYS
    number = tl.where(is_query, turn, (turn - OF_QUERIES) % OF_KEYS)
    head = number * GROUP + tl.arange(0, GROUP)[:, None]
    lane = tl.arange(0, HALF_2)[None, :]
    inside = (head < tl.where(is_query, QUERIES, KEYS)) & (lane < HALF)
    before = tl.where(is_query, 0, QUERIES + part * KEYS)
    place = heads + row * stride + (before + head) * head_stride + lane
    first = tl.load(place, mask=inside, other=0)
    second = tl.load(place + HALF, mask=inside, other=0)
    if turn < OF_QUERIES + OF_KEYS:
        if query_norm is not None:
            weight = query_norm if is_query else key_norm
            first, second = normed_halves(first, second, weight, eps, HALF)
        angle = tl.load(positions + row).to(tl.int64) * (2 * HALF)
        first, second = rotated_halves(first, second, cos + angle, sin + angle, HALF)
    if is_query:
        target = out + (row * QUERIES + head) * (2 * HALF) + lane
        tl.store(target, first, mask=inside)
        tl.store(target + HALF, second, mask=inside)
    elif row < stored:
        block, offset = tl.load(blocks + row).to(tl.int64), tl.load(offsets + row).to(tl.int64)
        target = pool + block * block_stride + offset * slot_stride + part * part_stride
        target += head * pool_head_stride + lane
        if scales is not None:
            one, two = first.to(tl.float32), second.to(tl.float32)
            scale = scale_of(tl.maximum(tl.max(tl.abs(one), 1), tl.max(tl.abs(two), 1)), FP8)
            at = block * scale_block_stride + offset * scale_slot_stride + part * scale_part_stride
            each = number * GROUP + tl.arange(0, GROUP)
            tl.store(scales + at + each * scale_head_stride, scale, mask=each < KEYS)
            tl.store(target, encode(one, scale, FP8), mask=inside)
            tl.store(target + HALF, encode(two, scale, FP8), mask=inside)
        else:
            tl.store(target, first, mask=inside)
            tl.store(target + HALF, second, mask=inside)


@jit
def normed_halves(first, second, weight, eps, HALF: tl.constexpr):
    """Return the norms of heads, given by halves `[heads, lanes]`, scaled by `weight`."""
    kind = first.dtype
    one, two = first.to(tl.float32), second.to(tl.float32)
    square = tl.sum(one * one, 1) + tl.sum(two * two, 1)
    factor = tl.rsqrt(square / (2 * HALF) + eps)[:, None]
    near, far = of_halves(weight, one.shape, HALF)
    one = (one * factor).to(kind).to(tl.float32) * near
    two = (two * factor).to(kind).to(tl.float32) * far
    return one.to(kind), two.to(kind)


@jit
def rotated_halves(first, second, cos, sin, HALF: tl.constexpr):
    """Return heads, given by halves `[heads, lanes]`, rotated by the angles of one position."""
    kind = first.dtype
    one, two = first.to(tl.float32), second.to(tl.float32)
    near_cos, far_cos = of_halves(cos, one.shape, HALF)
    near_sin, far_sin = of_halves(sin, one.shape, HALF)
    first = one * near_cos + two * near_sin
    second = two * far_cos + one * far_sin
    return first.to(kind), second.to(kind)


@jit
def of_halves(numbers, SHAPE: tl.constexpr, HALF: tl.constexpr):
    """Return the first and the second `HALF` numbers in float32, once for each head, as halves of
    `SHAPE`."""
    lane = tl.broadcast_to(tl.arange(0, SHAPE[1])[None, :], SHAPE)
    near = tl.load(numbers + lane, mask=lane < HALF, other=0).to(tl.float32)
    far = tl.load(numbers + HALF + lane, mask=lane < HALF, other=0).to(tl.float32)
    return near, far


def add_norm(
    hidden: Tensor, addition: Tensor | None, weight: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    """Return `hidden + addition`, or `hidden` itself without an `addition`, and the norm of that
    sum scaled by `weight` `[width]`. `hidden`, `addition`, both results: `[rows, width]`, of one
    type, like `weight`."""
    if not runs_kernels(hidden) or not len(hidden):
        total = hidden if addition is None else hidden + addition
        return total, reference.rms_norm(total, weight, eps)
    rows, width = hidden.shape
    normed = torch.empty(rows, width, dtype=hidden.dtype, device=hidden.device)
    total = hidden if addition is None else torch.empty_like(normed)
    width_2 = 1 << (width - 1).bit_length()
    add_norm_kernel[(rows,)](
        *(hidden, hidden.stride(0)),
        *((None, 0) if addition is None else (addition, addition.stride(0))),
        *(weight, eps, total, normed),
        WIDTH=width,
        WIDTH_2=width_2,
        num_warps=min(MOST_WARPS, max(1, 4 * width_2 // LANES)),
        enable_fp_fusion=False,
    )
    return total, normed


def norm_rope_store(
    heads: Tensor,
    tables: tuple[Tensor, Tensor],
    positions: Tensor,
    pool: KvPool,
    layer: int,
    slots: tuple[Tensor, Tensor],
    norms: tuple[Tensor, Tensor] | None = None,
    eps: float = 0.0,
) -> Tensor:
    """Return the rotated queries of `heads` `[rows, queries + 2 * kv_heads, head_dim]`, in
    contiguous memory `[rows, queries, head_dim]`, and write the rotated keys and the values that
    follow them to `pool`. Rope is half-split, to `positions` `[rows]`, int32 or int64. `tables`:
    cosines and sines as `rope_table` gives them, `[positions, 1, head_dim]`. `slots`: blocks and
    offsets of the first `n` rows, integers `[n]`, which differ; of other rows nothing is written.
    `norms`: the weights `[head_dim]` of norms of queries and of keys that come first. Raises
    `ValueError` if the pool has other shapes or another type."""
    rows, count, width = heads.shape
    kv_heads = pool.data.shape[4]
    queries = count - 2 * kv_heads
    if queries < 0 or width != pool.data.shape[5]:
        raise ValueError(
            f"heads of {width} numbers must be queries and twice the {kv_heads} heads of"
            f" {pool.data.shape[5]} numbers in the pool"
        )
    if not runs_kernels(heads) or not rows:
        return _by_twins(heads, tables, positions, pool, layer, slots, norms, eps)
    check_type(pool, heads.dtype)
    out = torch.empty(rows, queries, width, dtype=heads.dtype, device=heads.device)
    half_2 = 1 << (width // 2 - 1).bit_length()
    group = max(1, PAIRS // half_2)
    norm_rope_store_kernel[rows, -(-queries // group) + 2 * -(-kv_heads // group)](
        *(heads, *heads.stride()[:2]),
        *((None, None) if norms is None else norms),
        *(eps, *tables, positions, out),
        *of_layer(pool, layer),
        *(each.contiguous() for each in slots),
        len(slots[0]),
        QUERIES=queries,
        KEYS=kv_heads,
        HALF=width // 2,
        HALF_2=half_2,
        GROUP=group,
        FP8=pool.data.dtype == torch.float8_e4m3fn,
        num_warps=2,
        enable_fp_fusion=False,
    )
    return out


def _by_twins(
    heads: Tensor,
    tables: tuple[Tensor, Tensor],
    positions: Tensor,
    pool: KvPool,
    layer: int,
    slots: tuple[Tensor, Tensor],
    norms: tuple[Tensor, Tensor] | None,
    eps: float,
) -> Tensor:
    """Return what `norm_rope_store` does."""
    kv_heads = pool.data.shape[4]
    queries, real = heads.shape[1] - 2 * kv_heads, len(slots[0])
    rotating = heads[:, :-kv_heads]
    if norms is not None:
        parts = rotating[:, :queries], rotating[:, queries:]
        normed = (reference.rms_norm(*each, eps) for each in zip(parts, norms, strict=True))
        rotating = torch.cat(tuple(normed), dim=1)
    cos, sin = (table[positions] for table in tables)
    rotated = reference.rope(rotating, cos, sin)
    store_kv(pool, layer, *slots, rotated[:real, queries:], heads[:real, -kv_heads:])
    return rotated[:, :queries]
