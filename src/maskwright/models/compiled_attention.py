"""Paged attention for small models on one CPU thread, compiled.

The torch twin in `kernels/reference.py` gathers keys and values into tiles before it multiplies;
for a model of a few million parameters that copying is half of a step. Here every query walks its
own blocks where they lie: scores, their maximum, weights, the weighted sum, in order of position.

A query's sums have the same bounds and the same code whatever is computed beside it and however its
prompt was cut, so its bits do not depend on the schedule; that holds among queries of this path.

Codes are decoded into a scratch copy of one sequence's blocks at a time, which its queries then
walk in the pool's stead: the same instructions, so attention over codes has the bits of attention
over the numbers they stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from maskwright.kernels.kv_pool import KvPool, store_kv
from maskwright.kernels.reference import Span

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """What the queries of one step read: row i is at `positions[i]` of the sequence whose blocks
    begin at `starts[i]` in `tables`. All int64; real rows only."""

    positions: Ints
    starts: Ints
    tables: Ints


def plan_compiled(spans: Sequence[Span], block_size: int) -> CompiledPlan:
    """The plan of `spans`, which follow each other row by row."""
    positions: list[int] = []
    starts: list[int] = []
    tables: list[int] = []
    for span in spans:
        positions += range(span.start, span.start + span.count)
        starts += [len(tables)] * span.count
        tables += span.table[: (span.start + span.count - 1) // block_size + 1]
    return CompiledPlan(
        np.array(positions, np.int64), np.array(starts, np.int64), np.array(tables, np.int64)
    )


def store_and_attend(
    rotated: Tensor,
    qkv: Tensor,
    pool: KvPool,
    layer: int,
    plan: CompiledPlan,
    *,
    scale: float,
    window: int | None,
) -> Tensor:
    """Write the rows' keys and values to the pool, then causal attention.

    `rotated` float32 `[rows, heads + kv_heads, head_dim]`: queries and keys with rope applied;
    `qkv` `[rows, heads + 2 * kv_heads, head_dim]`, of which the values are read; both contiguous.
    Gives `[rows, heads, head_dim]`, zeros in rows that are padding.
    """
    size, kv_heads = pool.data.shape[3:5]
    heads = rotated.shape[1] - kv_heads
    out = torch.zeros(len(rotated), heads, rotated.shape[2])
    numbers, codes, scales, levels = _NO_NUMBERS, _NO_CODES, _NO_SCALES, _NO_LEVELS
    if pool.scales is None:
        numbers = pool.data.numpy()
        places = plan.positions, plan.starts, plan.tables
        _store(rotated.numpy(), qkv.numpy(), numbers, layer, *places)
    else:
        real = len(plan.positions)
        blocks = torch.from_numpy(plan.tables[plan.starts + plan.positions // size])
        offsets = torch.from_numpy(plan.positions % size)
        keys, values = rotated[:real, heads:], qkv[:real, heads + kv_heads :]
        store_kv(pool, layer, blocks, offsets, keys, values)
        codes, scales = pool.data.view(torch.uint8).numpy(), pool.scales.numpy()
        levels = _levels(pool.data.dtype)
    _attend(
        rotated.numpy(),
        numbers,
        codes,
        scales,
        levels,
        layer,
        plan.positions,
        plan.starts,
        plan.tables,
        np.float32(scale),
        window or 0,
        out.numpy(),
    )
    return out


_NO_NUMBERS = np.empty((0, 1, 2, 1, 1, 1), np.float32)
_NO_CODES = np.empty((0, 1, 2, 1, 1, 1), np.uint8)
_NO_SCALES = np.empty((0, 1, 2, 1, 1), np.float32)
_NO_LEVELS = np.empty(0, np.float32)


@cache
def _levels(dtype: torch.dtype) -> Floats:
    """What each of the 256 codes of `dtype` stands for, before its scale."""
    return torch.arange(256, dtype=torch.uint8).view(dtype).float().numpy()


@njit(cache=True, nogil=True)
def _store(
    rotated: Floats,
    qkv: Floats,
    pool: Floats,
    layer: int,
    positions: Ints,
    starts: Ints,
    tables: Ints,
) -> None:
    size, kv_heads, width = pool.shape[3], pool.shape[4], pool.shape[5]
    heads = rotated.shape[1] - kv_heads
    for row in range(len(positions)):
        position = positions[row]
        block = tables[starts[row] + position // size]
        keys, values = (
            pool[block, layer, 0, position % size],
            pool[block, layer, 1, position % size],
        )
        for head in range(kv_heads):
            for d in range(width):
                keys[head, d] = rotated[row, heads + head, d]
                values[head, d] = qkv[row, heads + kv_heads + head, d]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _attend(
    rotated: Floats,
    numbers: Floats,
    codes: Codes,
    scales: Floats,
    levels: Floats,
    layer: int,
    positions: Ints,
    starts: Ints,
    tables: Ints,
    scale: np.float32,
    window: int,
    out: Floats,
) -> None:
    coded = len(codes) > 0
    size, kv_heads, width = codes.shape[3:] if coded else numbers.shape[3:]
    heads = out.shape[1]
    group = heads // kv_heads
    most = 0
    for row in range(len(positions)):
        most = max(most, positions[row] + 1)
    weights = np.empty(most, np.float32)
    scratch = np.empty(
        ((most - 1) // size + 1 if coded else 0, 1, 2, size, kv_heads, width), np.float32
    )
    walked = np.arange(len(scratch))
    for row in range(len(positions)):
        end = positions[row] + 1
        first = max(0, end - window) if window else 0
        pool, at_layer, table = numbers, layer, tables[starts[row] :]
        if coded:
            if row == 0 or starts[row] != starts[row - 1]:
                last = row
                while last + 1 < len(starts) and starts[last + 1] == starts[row]:
                    last += 1
                for number in range(first // size, positions[last] // size + 1):
                    _decode(codes, scales, levels, table[number], layer, scratch[number, 0])
            pool, at_layer, table = scratch, 0, walked
        for head in range(heads):
            served = head // group
            query, mixed = rotated[row, head], out[row, head]
            for number in range(first // size, (end - 1) // size + 1):
                keys, base = pool[table[number], at_layer, 0], number * size
                for at in range(max(first, base), min(end, base + size)):
                    score = np.float32(0.0)
                    for d in range(width):
                        score += query[d] * keys[at - base, served, d]
                    weights[at] = score * scale
            peak = np.float32(-np.inf)
            for at in range(first, end):
                peak = max(peak, weights[at])
            mass = np.float32(0.0)
            for at in range(first, end):
                weights[at] = np.exp(weights[at] - peak)
                mass += weights[at]
            for number in range(first // size, (end - 1) // size + 1):
                values, base = pool[table[number], at_layer, 1], number * size
                for at in range(max(first, base), min(end, base + size)):
                    for d in range(width):
                        mixed[d] += weights[at] * values[at - base, served, d]
            for d in range(width):
                mixed[d] /= mass


@njit(cache=True, nogil=True)
def _decode(
    codes: Codes, scales: Floats, levels: Floats, block: int, layer: int, out: Floats
) -> None:
    """The numbers of one block in one layer, `[2, block_size, kv_heads, head_dim]`."""
    for part in range(out.shape[0]):
        for at in range(out.shape[1]):
            for head in range(out.shape[2]):
                scale = scales[block, layer, part, at, head]
                for d in range(out.shape[3]):
                    out[part, at, head, d] = levels[codes[block, layer, part, at, head, d]] * scale
