"""The forward of `models/dense.py` in compiled operations, with a packed copy of its weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.kernels.kv_pool import KvPool
from maskwright.models.adapter import AdapterRows
from maskwright.models.batch import ForwardBatch
from maskwright.models.compiled.attention import rotate, store_and_attend
from maskwright.models.compiled.product import multiply, pack
from maskwright.models.compiled.rows import add_and_norm, silu_multiply
from maskwright.models.compiled_plan import CompiledPlan
from maskwright.models.config import ModelConfig
from maskwright.models.layer import Layer, Linear

Floats = NDArray[np.float32]

NOTHING = np.empty(0, np.float32)
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
        self._head_dim, self._intermediate = config.head_dim, config.intermediate
        self._eps = np.float32(config.norm_eps)
        self._scale = np.float32(config.head_dim**-0.5)
        self._embedding = embedding.numpy()
        self._layers = [_PackedLayer(layer) for layer in layers]
        self._norm = norm.numpy()
        self._head = _PackedLinear(Linear(head, None, ()))
        self._cos, self._sin = cos[:, 0].numpy(), sin[:, 0].numpy()

    @property
    def nbytes(self) -> int:
        """Bytes of the packed weights."""
        linears = [linear for layer in self._layers for linear in layer.linears]
        return sum(linear.packed.nbytes for linear in (*linears, self._head))

    def forward(self, batch: ForwardBatch, pool: KvPool) -> Tensor:
        """Write the keys and values of all rows to `pool`, and return the logits of the rows in
        `select`: float32 `[s, vocab]`."""
        update = self._embedding[batch.tokens.numpy()]
        hidden = np.zeros_like(update)
        for number, layer in enumerate(self._layers):
            normed = self._add_and_norm(hidden, update, layer.input_norm)
            qkv = layer.qkv(normed, batch.adapters)
            mixed = self._attend(layer, number, qkv, batch.attention, pool)
            update = layer.output(mixed, batch.adapters)
            normed = self._add_and_norm(hidden, update, layer.mlp_norm)
            inner = self._silu_multiply(layer.gate_up(normed, batch.adapters))
            update = layer.down(inner, batch.adapters)
        select = batch.select.numpy()
        normed = self._add_and_norm(hidden[select], update[select], self._norm)
        return torch.from_numpy(self._head(normed))

    def _attend(
        self, layer: _PackedLayer, number: int, qkv: Floats, plan: object, pool: KvPool
    ) -> Floats:
        assert isinstance(plan, CompiledPlan)
        qkv = qkv.reshape(len(qkv), -1, self._head_dim)
        query_norm, key_norm = layer.query_norm, layer.key_norm
        rotate(
            *(qkv, plan.positions, self._kv_heads),
            *(query_norm, key_norm, self._eps, self._cos, self._sin),
        )
        mixed = np.zeros((len(qkv), self._heads, self._head_dim), np.float32)
        store_and_attend(qkv, pool, number, plan, self._scale, layer.window, mixed)
        return mixed.reshape(len(qkv), -1)

    def _add_and_norm(self, hidden: Floats, update: Floats, weight: Floats) -> Floats:
        normed = np.empty_like(hidden)
        add_and_norm(hidden, update, weight, self._eps, normed)
        return normed

    def _silu_multiply(self, gate_up: Floats) -> Floats:
        inner = np.empty((len(gate_up), self._intermediate), np.float32)
        silu_multiply(gate_up, inner)
        return inner


class _PackedLinear:
    """A `Linear` with packed weights, for numpy arrays."""

    def __init__(self, plain: Linear) -> None:
        self._plain = plain
        self._outputs = len(plain.weight)
        self.packed = pack(plain.weight.numpy())
        self._bias = NOTHING if plain.bias is None else plain.bias.numpy()

    def __call__(self, x: Floats, adapters: Sequence[AdapterRows] = ()) -> Floats:
        out = np.empty((len(x), self._outputs), np.float32)
        multiply(x, self.packed, self._bias, out)
        if adapters:
            self._plain.adapt(torch.from_numpy(out), torch.from_numpy(x), adapters)
        return out


class _PackedLayer:
    """A `Layer` with packed weights. Absent norms of queries and keys are empty arrays."""

    def __init__(self, plain: Layer) -> None:
        self.input_norm = plain.input_norm.numpy()
        self.qkv = _PackedLinear(plain.qkv)
        self.query_norm = NOTHING if plain.query_norm is None else plain.query_norm.numpy()
        self.key_norm = NOTHING if plain.key_norm is None else plain.key_norm.numpy()
        self.output = _PackedLinear(plain.output)
        self.mlp_norm = plain.mlp_norm.numpy()
        self.gate_up = _PackedLinear(plain.gate_up)
        self.down = _PackedLinear(plain.down)
        self.window = plain.window

    @property
    def linears(self) -> tuple[_PackedLinear, ...]:
        """The four products of the layer."""
        return self.qkv, self.output, self.gate_up, self.down
