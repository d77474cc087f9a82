"""Paged attention for small models on one CPU thread, compiled.

The reference in torch (`kernels/reference.py`) copies keys and values into tiles before it
multiplies them. For a model of a few million parameters, copying takes half of a step. Here every
query reads the blocks of its sequence in place and computes the scores, their maximum, the weights
and the weighted sum, each in order of position.

The bounds of a query's sums depend neither on other rows nor on how its prompt was divided into
chunks, so its bits do not depend on the schedule. (They differ from those of the reference.)

Quantised keys and values are decoded into a scratch copy of the blocks of one sequence at a time,
which its queries read instead of the pool. So attention over codes has the bits of attention over
the numbers that the codes represent.
"""

# In compiled code array elements are plain numbers, which numpy's type stubs don't express.
# pyright: reportArgumentType=false, reportCallIssue=false
from __future__ import annotations

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray

from maskwright.compiled import compiled
from maskwright.kernels.kv_pool import KvPool, store_kv
from maskwright.models.compiled.rows import exp, norm
from maskwright.models.compiled.tiles import (
    LANES,
    ROWS,
    Vectors,
    add_row,
    dot_rows,
    in_vectors,
    largest,
    total,
)
from maskwright.models.compiled_plan import CompiledPlan, Ints

Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]


def store_and_attend_codes(
    qkv: Floats,
    pool: KvPool,
    layer: int,
    plan: CompiledPlan,
    scale: np.float32,
    window: int,
    out: Floats,
) -> None:
    """Write the keys and values of all rows to a pool of codes and compute causal attention.

    `qkv`: float32 `[rows, heads + 2 * kv_heads, head_dim]`, after rope. `window`: positions that a
    query sees, 0 for all. The result is written to `out`, `[rows, heads, head_dim]`, whose padding
    rows are not changed.
    """
    assert pool.scales is not None
    positions, starts, tables = plan.positions, plan.starts, plan.tables
    size, kv_heads = pool.data.shape[3:5]
    blocks = torch.from_numpy(tables[starts + positions // size])
    keys, values = torch.from_numpy(qkv[: len(positions), -2 * kv_heads :]).chunk(2, dim=1)
    store_kv(pool, layer, blocks, torch.from_numpy(positions % size), keys, values)
    _attend_codes(
        *(qkv, pool.data.view(torch.uint8).numpy(), pool.scales.numpy()),
        *(_levels(pool.data.dtype), layer, positions, starts, tables),
        *(scale, window, in_vectors(out.shape[2]), out),
    )


@cache
def _levels(dtype: torch.dtype) -> Floats:
    """Return the number that each of the 256 codes of `dtype` represents, before scaling."""
    return torch.arange(256, dtype=torch.uint8).view(dtype).float().numpy()


@compiled(nogil=True)
def rotate(
    qkv: Floats,
    positions: Ints,
    kv_heads: int,
    query_norm: Floats,
    key_norm: Floats,
    eps: np.float32,
    cos: Floats,
    sin: Floats,
) -> None:
    """Apply the norm (if there are weights) and half-split rope to the queries and keys of `qkv`,
    in place. `cos`, `sin`: `[positions, head_dim]`, the first half of `sin` negated."""
    rotated = qkv.shape[1] - kv_heads
    half = qkv.shape[2] // 2
    for row in range(len(positions)):
        here_cos, here_sin = cos[positions[row]], sin[positions[row]]
        for head in range(rotated):
            mine = qkv[row, head]
            if len(query_norm):
                norm(mine, query_norm if head < rotated - kv_heads else key_norm, eps, mine)
            for d in range(half):
                low, high = mine[d], mine[half + d]
                mine[d] = low * here_cos[d] + high * here_sin[d]
                mine[half + d] = high * here_cos[half + d] + low * here_sin[half + d]


@compiled(nogil=True)
def store(
    qkv: Floats, pool: Floats, layer: int, positions: Ints, starts: Ints, tables: Ints
) -> None:
    """Write the keys and values of `qkv` to the pool, `[blocks, layers, 2, block_size, kv_heads,
    head_dim]`."""
    size, kv_heads = pool.shape[3], pool.shape[4]
    heads = qkv.shape[1] - 2 * kv_heads
    for row in range(len(positions)):
        block = tables[starts[row] + positions[row] // size]
        for part in range(2):
            place = pool[block, layer, part, positions[row] % size]
            first = heads + part * kv_heads
            for head in range(kv_heads):
                for d in range(pool.shape[5]):
                    place[head, d] = qkv[row, first + head, d]


@compiled(nogil=True)
def attend(
    qkv: Floats,
    pool: Floats,
    layer: int,
    positions: Ints,
    starts: Ints,
    tables: Ints,
    scale: np.float32,
    window: int,
    vectors: Vectors,
    out: Floats,
) -> None:
    """Compute the attention of all rows. `out`: `[rows, heads, head_dim]`."""
    if len(positions):
        scores = np.empty((out.shape[1], _room(positions, pool.shape[3])), np.float32)
        for row in range(len(positions)):
            _attend_row(
                qkv[row], pool, layer, positions[row], tables[starts[row] :],
                scale, window, scores, vectors, out[row],
            )  # fmt: skip


@compiled(nogil=True)
def _attend_codes(
    qkv: Floats,
    codes: Codes,
    scales: Floats,
    levels: Floats,
    layer: int,
    positions: Ints,
    starts: Ints,
    tables: Ints,
    scale: np.float32,
    window: int,
    vectors: Vectors,
    out: Floats,
) -> None:
    if len(positions):
        size, kv_heads, width = codes.shape[3:]
        room = _room(positions, size)
        scores = np.empty((out.shape[1], room), np.float32)
        scratch = np.empty((room // size, 1, 2, size, kv_heads, width), np.float32)
        walked = np.arange(len(scratch))
        for row in range(len(positions)):
            if row == 0 or starts[row] != starts[row - 1]:
                last = row
                while last + 1 < len(starts) and starts[last + 1] == starts[row]:
                    last += 1
                seen = max(0, positions[row] + 1 - window) if window else 0
                for number in range(seen // size, positions[last] // size + 1):
                    block = tables[starts[row] + number]
                    _decode(codes, scales, levels, block, layer, scratch[number, 0])
            _attend_row(
                qkv[row], scratch, 0, positions[row], walked,
                scale, window, scores, vectors, out[row],
            )  # fmt: skip


@compiled(nogil=True)
def _room(positions: Ints, size: int) -> int:
    """Return the most scores that a query at one of `positions` needs, rounded up to whole blocks
    and vectors."""
    last = 0
    for position in positions:
        last = max(last, position)
    return (last // size + 1) * size + LANES


@compiled(nogil=True, error_model="numpy")
def _attend_row(
    qkv: Floats,
    pool: Floats,
    layer: int,
    position: int,
    table: Ints,
    scale: np.float32,
    window: int,
    scores: Floats,
    vectors: Vectors,
    out: Floats,
) -> None:
    """Compute the attention of one query. `qkv`: `[heads + 2 * kv_heads, head_dim]`; `out`:
    `[heads, head_dim]`; `scores`: `[heads, room]`, scratch memory; `vectors`:
    `in_vectors(head_dim)`."""
    layers, _, size, kv_heads, width = pool.shape[1:]
    heads, room = len(out), scores.shape[1]
    group, stride = heads // kv_heads, kv_heads * width
    end = position + 1
    first = max(0, end - window) if window else 0
    begin = first // size
    masses = np.empty(heads, np.float32)
    for number in range(begin, position // size + 1):
        keys = (table[number] * layers + layer) * 2 * size * stride
        for at in range(0, min(size, end - number * size), ROWS):
            for head in range(heads):
                key = keys + at * stride + head // group * width
                score = head * room + (number - begin) * size + at
                dot_rows(qkv, head * width, pool, key, stride, scores, score, vectors)
    for head in range(heads):
        masses[head] = _soften(scores[head], first - begin * size, end - begin * size, scale)
    out[:] = 0.0
    for number in range(begin, position // size + 1):
        low = max(first - number * size, 0)
        count = min(size, end - number * size) - low
        values = ((table[number] * layers + layer) * 2 + 1) * size * stride + low * stride
        for head in range(heads):
            value = values + head // group * width
            weight = head * room + (number - begin) * size + low
            add_row(scores, weight, pool, value, stride, count, out, head * width, vectors)
    for head in range(heads):
        for d in range(width):
            out[head, d] /= masses[head]


@compiled(nogil=True)
def _soften(scores: Floats, first: int, end: int, scale: np.float32) -> np.float32:
    """Replace the scores from `first` to `end` by `exp(scale * (score - highest))`, and the others
    in the first and last vector by 0. Returns the sum."""
    whole = -(-end // LANES) * LANES
    scores[:first] = -np.inf
    scores[end:whole] = -np.inf
    highest = largest(scores, 0, whole)
    for at in range(whole):
        scores[at] = exp((scores[at] - highest) * scale)
    return total(scores, 0, whole)


@compiled(nogil=True)
def _decode(
    codes: Codes, scales: Floats, levels: Floats, block: int, layer: int, out: Floats
) -> None:
    """Decode the keys and values of one block in one layer to `out`, `[2, block_size, kv_heads,
    head_dim]`."""
    for part in range(out.shape[0]):
        for at in range(out.shape[1]):
            for head in range(out.shape[2]):
                scale = scales[block, layer, part, at, head]
                for d in range(out.shape[3]):
                    out[part, at, head, d] = levels[codes[block, layer, part, at, head, d]] * scale
