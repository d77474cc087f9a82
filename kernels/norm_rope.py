"""Root-mean-square norms with what stands beside them in a decoder, each in one launch: the sum of
the residual before the norm of a layer; the rotary embedding after the norms of queries and keys.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from maskwright.kernels import reference
from maskwright.kernels.device import jit, runs_kernels, tl

LANES: Final = 1024
"""Numbers of a row for each four warps of `add_norm`: eight a thread, one access of 128 bits to
numbers of two bytes."""

MOST_WARPS: Final = 16

PAIRS: Final = 512
"""Pairs of numbers that a program of `norm_rope` rotates: with two warps, eight a thread."""


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
):
    """Write the sum of one row of `hidden` and `addition` to `total`, unless `addition` is None,
    and its norm to `normed`; both are `[rows, WIDTH]` and contiguous."""
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


@jit
def weights_of(query, key, known, is_query):
    """Return the weights at `query` for heads of queries and those at `key` for others."""
    query = tl.load(query, mask=known, other=0).to(tl.float32)
    return tl.where(is_query, query, tl.load(key, mask=known, other=0).to(tl.float32))


@jit
def norm_rope_kernel(
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
    QUERIES: tl.constexpr,
    HEADS: tl.constexpr,
    HALF: tl.constexpr,
    HALF_2: tl.constexpr,
    GROUP: tl.constexpr,
):
    """Norm and rotate `GROUP` heads (axis 1 of the grid) of one row. The first `QUERIES` of `HEADS`
    heads are queries, the others keys. A head is `2 * HALF` numbers; its halves rotate together.
    `cos`, `sin`: of all positions, with the first half of `sin` negated."""
    row = tl.program_id(0)
    head = tl.program_id(1) * GROUP + tl.arange(0, GROUP)[:, None]
    lane = tl.arange(0, HALF_2)[None, :]
    known = lane < HALF
    inside = (head < HEADS) & known
    place = heads + row.to(tl.int64) * stride + head * head_stride + lane
    first = tl.load(place, mask=inside, other=0).to(tl.float32)
    second = tl.load(place + HALF, mask=inside, other=0).to(tl.float32)
    kind = out.dtype.element_ty
    if query_norm is not None:
        square = tl.sum(first * first, 1) + tl.sum(second * second, 1)
        factor = tl.rsqrt(square / (2 * HALF) + eps)[:, None]
        first = (first * factor).to(kind).to(tl.float32)
        first *= weights_of(query_norm + lane, key_norm + lane, known, head < QUERIES)
        second = (second * factor).to(kind).to(tl.float32)
        second *= weights_of(
            query_norm + HALF + lane, key_norm + HALF + lane, known, head < QUERIES
        )
        first, second = first.to(kind).to(tl.float32), second.to(kind).to(tl.float32)
    angle = tl.load(positions + row).to(tl.int64) * (2 * HALF) + lane
    near, far = cos + angle, sin + angle
    one = first * tl.load(near, mask=known, other=0) + second * tl.load(far, mask=known, other=0)
    two = second * tl.load(near + HALF, mask=known, other=0)
    two += first * tl.load(far + HALF, mask=known, other=0)
    place = out + (row.to(tl.int64) * HEADS + head) * (2 * HALF) + lane
    tl.store(place, one.to(kind), mask=inside)
    tl.store(place + HALF, two.to(kind), mask=inside)


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


def norm_rope(
    heads: Tensor,
    queries: int,
    tables: tuple[Tensor, Tensor],
    positions: Tensor,
    norms: tuple[Tensor, Tensor] | None = None,
    eps: float = 0.0,
) -> Tensor:
    """Return the heads `[rows, heads, head_dim]` of queries (the first `queries`) and keys, rotated
    by half-split rope to `positions` `[rows]`, int32 or int64, in contiguous memory. `tables`:
    cosines and sines as `rope_table` gives them, `[positions, 1, head_dim]`. `norms`: the weights
    `[head_dim]` of norms of queries and of keys that come first."""
    cos, sin = tables
    if not runs_kernels(heads) or not len(heads):
        if norms is not None:
            parts = heads[:, :queries], heads[:, queries:]
            heads = torch.cat(
                [
                    reference.rms_norm(part, weight, eps)
                    for part, weight in zip(parts, norms, strict=True)
                ],
                dim=1,
            )
        return reference.rope(heads, cos[positions], sin[positions])
    rows, count, width = heads.shape
    out = torch.empty(heads.shape, dtype=heads.dtype, device=heads.device)
    half_2 = 1 << (width // 2 - 1).bit_length()
    group = max(1, PAIRS // half_2)
    norm_rope_kernel[rows, -(-count // group)](
        *(heads, *heads.stride()[:2]),
        *((None, None) if norms is None else norms),
        *(eps, cos, sin, positions, out),
        QUERIES=queries,
        HEADS=count,
        HALF=width // 2,
        HALF_2=half_2,
        GROUP=group,
        num_warps=2,
        enable_fp_fusion=False,
    )
    return out
