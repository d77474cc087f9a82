"""Paged attention for small models on one CPU thread, compiled.

The torch twin in `kernels/reference.py` gathers keys and values into tiles before it multiplies;
for a model of a few million parameters that copying is half of a step. Here every query walks its
own blocks where they lie: scores, their maximum, weights, the weighted sum, in order of position.

A query's sums have the same bounds and the same code whatever is computed beside it and however its
prompt was cut, so its bits do not depend on the schedule; that holds among queries of this path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from maskwright.kernels.reference import Span

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


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
    pool: Tensor,
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
    heads = rotated.shape[1] - pool.shape[4]
    out = torch.zeros(len(rotated), heads, rotated.shape[2])
    _store_and_attend(
        rotated.numpy(),
        qkv.numpy(),
        pool.numpy(),
        layer,
        plan.positions,
        plan.starts,
        plan.tables,
        np.float32(scale),
        window or 0,
        out.numpy(),
    )
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _store_and_attend(
    rotated: Floats,
    qkv: Floats,
    pool: Floats,
    layer: int,
    positions: Ints,
    starts: Ints,
    tables: Ints,
    scale: np.float32,
    window: int,
    out: Floats,
) -> None:
    size, kv_heads, width = pool.shape[3], pool.shape[4], pool.shape[5]
    heads = out.shape[1]
    group = heads // kv_heads
    most = 0
    for row in range(len(positions)):
        position = positions[row]
        most = max(most, position + 1)
        block = tables[starts[row] + position // size]
        keys, values = (
            pool[block, layer, 0, position % size],
            pool[block, layer, 1, position % size],
        )
        for head in range(kv_heads):
            for d in range(width):
                keys[head, d] = rotated[row, heads + head, d]
                values[head, d] = qkv[row, heads + kv_heads + head, d]
    weights = np.empty(most, np.float32)
    for row in range(len(positions)):
        end = positions[row] + 1
        first = max(0, end - window) if window else 0
        table = tables[starts[row] :]
        for head in range(heads):
            served = head // group
            query, mixed = rotated[row, head], out[row, head]
            for number in range(first // size, (end - 1) // size + 1):
                keys, base = pool[table[number], layer, 0], number * size
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
                values, base = pool[table[number], layer, 1], number * size
                for at in range(max(first, base), min(end, base + size)):
                    for d in range(width):
                        mixed[d] += weights[at] * values[at - base, served, d]
            for d in range(width):
                mixed[d] /= mass
