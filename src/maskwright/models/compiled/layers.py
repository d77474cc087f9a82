"""All layers of a decoder in one compiled call, in which the interpreter's lock is free.

A call for each operation would give the lock back after each of them, and wait for it where another
thread, such as that of an event loop, has taken it in the meantime.
"""

# In compiled code array elements are plain numbers, which numpy's type stubs don't express.
# pyright: reportArgumentType=false, reportCallIssue=false
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwright.compiled import compiled
from maskwright.models.compiled.attention import attend, rotate, store
from maskwright.models.compiled.product import multiply
from maskwright.models.compiled.rows import add_and_norm, silu_multiply
from maskwright.models.compiled.tiles import Vectors
from maskwright.models.compiled_plan import Ints

Floats = NDArray[np.float32]

QKV, ROTATE, ATTEND, OUTPUT, GATE_UP, DOWN = range(6)
STAGES: Final = 6
"""The stages of a layer, in their order: norm and the product for queries, keys and values; rope;
storing and attention; the product of its output; norm and the product for gate and up; activation
and the last product."""


class LayerWeights(NamedTuple):
    """The weights of all layers, one layer after another in each array. Products are packed. What
    the model doesn't have (biases, norms of queries and keys) is `[layers, 0]`."""

    input_norm: Floats
    qkv: Floats
    qkv_bias: Floats
    query_norm: Floats
    key_norm: Floats
    output: Floats
    output_bias: Floats
    mlp_norm: Floats
    gate_up: Floats
    gate_up_bias: Floats
    down: Floats
    down_bias: Floats
    window: Ints
    """Positions that a query of the layer sees, 0 for all."""


class LayerRows(NamedTuple):
    """What is computed for the rows of one step, `[rows, …]`; padding rows included, of which only
    `mixed` has to be finite at the beginning. `qkv` and `mixed` are views of `qkv_heads` and
    `mixed_heads`, `[rows, heads, head_dim]`."""

    hidden: Floats
    update: Floats
    normed: Floats
    qkv: Floats
    qkv_heads: Floats
    mixed: Floats
    mixed_heads: Floats
    gate_up: Floats
    inner: Floats


class LayerConstants(NamedTuple):
    """`eps` of the norms, `scale` of the scores, `cos` and `sin` of rope as `rotate` takes them."""

    eps: np.float32
    scale: np.float32
    cos: Floats
    sin: Floats


@compiled(nogil=True)
def run_stages(
    first: int,
    end: int,
    weights: LayerWeights,
    rows: LayerRows,
    constants: LayerConstants,
    pool: Floats,
    positions: Ints,
    starts: Ints,
    tables: Ints,
    vectors: Vectors,
) -> None:
    """Run the stages from `first` to `end`, counted from the first layer on. `pool` is that of
    `KvPool` in float32; `positions`, `starts` and `tables` are those of a `CompiledPlan`."""
    kv_heads = (rows.qkv_heads.shape[1] - rows.mixed_heads.shape[1]) // 2
    for number in range(first, end):
        layer, stage = number // STAGES, number % STAGES
        if stage == QKV:
            add_and_norm(
                rows.hidden, rows.update, weights.input_norm[layer], constants.eps, rows.normed
            )
            multiply(rows.normed, weights.qkv[layer], weights.qkv_bias[layer], rows.qkv)
        elif stage == ROTATE:
            rotate(
                rows.qkv_heads, positions, kv_heads,
                weights.query_norm[layer], weights.key_norm[layer], constants.eps,
                constants.cos, constants.sin,
            )  # fmt: skip
        elif stage == ATTEND:
            store(rows.qkv_heads, pool, layer, positions, starts, tables)
            attend(
                rows.qkv_heads, pool, layer, positions, starts, tables,
                constants.scale, weights.window[layer], vectors, rows.mixed_heads,
            )  # fmt: skip
        elif stage == OUTPUT:
            multiply(rows.mixed, weights.output[layer], weights.output_bias[layer], rows.update)
        elif stage == GATE_UP:
            add_and_norm(
                rows.hidden, rows.update, weights.mlp_norm[layer], constants.eps, rows.normed
            )
            multiply(rows.normed, weights.gate_up[layer], weights.gate_up_bias[layer], rows.gate_up)
        else:
            silu_multiply(rows.gate_up, rows.inner)
            multiply(rows.inner, weights.down[layer], weights.down_bias[layer], rows.update)
