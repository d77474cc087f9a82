"""The forward of `models/dense.py` in compiled operations, with a packed copy of its weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.kernels.kv_pool import KvPool, store_kv
from maskwright.models.compiled.layers import (
    ATTEND,
    DOWN,
    GATE_UP,
    OUTPUT,
    QKV,
    STAGES,
    LayerRows,
    LayerWeights,
    add_and_norm,
    attend_codes,
    multiply,
    pack,
    run_stages,
)
from maskwright.models.config import ModelConfig
from maskwright.models.decoder import ForwardBatch
from maskwright.models.layer import Layer, Linear, add_updates
from maskwright.models.runs import CompiledPlan

Floats = NDArray[np.float32]

NOTHING: Final = np.empty(0, np.float32)
"""Represents an absent bias or norm."""


class CompiledDense:
    """Embedding, layers, norm and head. Its steps have a `CompiledPlan`."""

    def __init__(
        self,
        config: ModelConfig,
        embedding: Tensor,
        layers: Sequence[Layer],
        norm: Tensor,
        head: Tensor,
        cos: Tensor,
        sin: Tensor,
    ) -> None:
        """`cos`, `sin`: `[positions, 1, head_dim]`, the first half of `sin` negated."""
        self._heads, self._kv_heads = config.heads, config.kv_heads
        self._head_dim = config.head_dim
        self._intermediate = config.intermediate
        self._embedding = embedding.numpy()
        self._layers = layers
        self._scale, self._eps = config.head_dim**-0.5, config.norm_eps
        self._windows = [layer.window or 0 for layer in layers]
        self._weights = self._packed(cos, sin)
        self._norm = norm.numpy()
        self._head, self._vocab = pack([head.numpy()])[0], len(head)

    @property
    def nbytes(self) -> int:
        """Bytes of the packed weights."""
        return self._weights.nbytes + self._head.nbytes

    def forward(self, batch: ForwardBatch, pool: KvPool) -> Tensor:
        """Write the keys and values of all rows to `pool`, and return the logits of the rows in
        `select`: float32 `[s, vocab]`."""
        plan = batch.attention
        assert isinstance(plan, CompiledPlan)
        rows = self._rows(self._embedding[batch.tokens.numpy()])
        stages = STAGES * len(self._layers)
        if pool.scales is None and not batch.adapters:
            self._run(0, stages, rows, plan, pool.data.numpy())
        else:
            for number in range(stages):
                self._run_stage(number, rows, batch, plan, pool)
        select = batch.select.numpy()
        hidden, normed = rows.hidden[select], np.empty_like(rows.hidden[select])
        add_and_norm(hidden, rows.update[select], self._norm, self._eps, normed)
        logits = np.empty((len(select), self._vocab), np.float32)
        multiply(normed, self._head, NOTHING, logits)
        return torch.from_numpy(logits)

    def _run(
        self, first: int, end: int, rows: LayerRows, plan: CompiledPlan, pool: Floats | None
    ) -> None:
        run_stages(
            *(first, end, self._weights, rows, pool), *(plan.positions, plan.starts, plan.tables)
        )

    def _run_stage(
        self, number: int, rows: LayerRows, batch: ForwardBatch, plan: CompiledPlan, pool: KvPool
    ) -> None:
        """Run one stage, and what adapters add to it."""
        layer, stage = divmod(number, STAGES)
        if stage == ATTEND and pool.scales is not None:
            self._attend_codes(layer, rows, plan, pool)
            return
        numbers = pool.data.numpy() if pool.scales is None else None
        self._run(number, number + 1, rows, plan, numbers)
        plain = self._layers[layer]
        products = {
            QKV: (plain.qkv, rows.qkv, rows.normed),
            OUTPUT: (plain.output, rows.update, rows.mixed),
            GATE_UP: (plain.gate_up, rows.gate_up, rows.normed),
            DOWN: (plain.down, rows.update, rows.inner),
        }
        if stage in products:
            linear, out, x = products[stage]
            add_updates(torch.from_numpy(out), torch.from_numpy(x), linear.parts, batch.adapters)

    def _rows(self, update: Floats) -> LayerRows:
        """Room for the rows of one step, whose embeddings are given."""
        count, heads, size = len(update), self._heads, self._head_dim
        qkv = np.empty((count, heads + 2 * self._kv_heads, size), np.float32)
        mixed = np.zeros((count, heads, size), np.float32)
        return LayerRows(
            hidden=np.zeros_like(update),
            update=update,
            normed=np.empty_like(update),
            qkv=qkv.reshape(count, -1),
            qkv_heads=qkv,
            mixed=mixed.reshape(count, -1),
            mixed_heads=mixed,
            gate_up=np.empty((count, 2 * self._intermediate), np.float32),
            inner=np.empty((count, self._intermediate), np.float32),
        )

    def _attend_codes(self, layer: int, rows: LayerRows, plan: CompiledPlan, pool: KvPool) -> None:
        """Write the keys and values of all rows to a pool of codes and compute attention, which
        reads a copy of the numbers that the codes of one sequence at a time represent. So it has
        the bits of attention over these numbers."""
        assert pool.scales is not None
        positions, starts, tables = plan.positions, plan.starts, plan.tables
        size, kv_heads = pool.data.shape[3:5]
        blocks = torch.from_numpy(tables[starts + positions // size])
        written = rows.qkv_heads[: len(positions), -2 * kv_heads :]
        keys, values = torch.from_numpy(written).chunk(2, dim=1)
        store_kv(pool, layer, blocks, torch.from_numpy(positions % size), keys, values)
        attend_codes(
            *(rows.qkv_heads, pool.data.view(torch.uint8).numpy(), pool.scales.numpy()),
            *(_levels(pool.data.dtype), layer, positions, starts, tables),
            *(self._scale, self._windows[layer], rows.mixed_heads),
        )

    def _packed(self, cos: Tensor, sin: Tensor) -> LayerWeights:
        """Pack the weights of all layers, whose products have equal sizes."""
        layers = self._layers

        def stacked(tensors: Iterable[Tensor | None]) -> Floats:
            return np.stack([NOTHING if one is None else one.numpy() for one in tensors])

        def products(linears: Iterable[Linear]) -> Floats:
            return pack([linear.weight.numpy() for linear in linears])

        return LayerWeights(
            input_norm=stacked(layer.input_norm for layer in layers),
            qkv=products(layer.qkv for layer in layers),
            qkv_bias=stacked(layer.qkv.bias for layer in layers),
            query_norm=stacked(layer.query_norm for layer in layers),
            key_norm=stacked(layer.key_norm for layer in layers),
            output=products(layer.output for layer in layers),
            output_bias=stacked(layer.output.bias for layer in layers),
            mlp_norm=stacked(layer.mlp_norm for layer in layers),
            gate_up=products(layer.gate_up for layer in layers),
            gate_up_bias=stacked(layer.gate_up.bias for layer in layers),
            down=products(layer.down for layer in layers),
            down_bias=stacked(layer.down.bias for layer in layers),
            window=np.array(self._windows, np.int64),
            cos=np.ascontiguousarray(cos[:, 0].numpy()),
            sin=np.ascontiguousarray(sin[:, 0].numpy()),
            eps=self._eps,
            scale=self._scale,
        )


@cache
def _levels(dtype: torch.dtype) -> Floats:
    """Return the number that each of the 256 codes of `dtype` represents, before scaling."""
    return torch.arange(256, dtype=torch.uint8).view(dtype).float().numpy()
