"""How the models of the library call attention, and where this leads: a registered function, and
attention of layers of different shapes over one pool of keys and values.

The own code of the library computes everything else, and hands the function the window, softcap and
sinks of the layer. The pool has the most heads and the largest head dimension of any layer; smaller
layers are padded with zeros, which change no sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import AttentionInterface, PreTrainedModel

from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_attention import Scores
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.kernels.reference import AttentionPlan, paged_attention
from maskwright.kernels.store_kv import store_kv
from maskwright.models.batch_invariance import AttentionShape
from maskwright.models.decoder import ForwardBatch

INTERFACE = "maskwright_paged"
"""The name under which the attention function is registered. No mask function is registered under
it, so the library computes no mask; the attention plan takes its place."""


@dataclass(frozen=True, slots=True)
class Attention:
    """The arguments with which one layer calls attention. `query`: `[rows, heads, head_dim]`;
    `keys`, `values`: `[rows, kv_heads, …]`, after rope and norms; `sinks`: `[heads]`."""

    layer: int
    query: Tensor
    keys: Tensor
    values: Tensor
    scale: float
    window: int | None
    softcap: float | None
    sinks: Tensor | None


Attend = Callable[[Attention], Tensor]
"""Computes attention: `[rows, heads, …]`, with the last dimension of the values."""

_ATTEND: ContextVar[Attend] = ContextVar("attend")


def _interface(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    *,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """The registered function, with the signature of the library's attention interface. It takes
    `[1, heads, rows, head_dim]` and returns `[1, rows, heads, …]`."""
    call = Attention(
        layer=int(getattr(module, "layer_idx", -1)),
        query=query[0].transpose(0, 1),
        keys=key[0].transpose(0, 1),
        values=value[0].transpose(0, 1),
        scale=query.shape[-1] ** -0.5 if scaling is None else scaling,
        window=sliding_window,
        softcap=softcap,
        sinks=s_aux,
    )
    return _ATTEND.get()(call)[None], None


AttentionInterface.register(INTERFACE, _interface)


def run(
    model: PreTrainedModel, attend: Attend, tokens: Tensor, positions: Tensor, select: Tensor
) -> Tensor:
    """Return the logits `[s, vocab]` of the rows `select`, computed with `attend` as the attention
    function. `tokens`, `positions` `[rows]` and `select` `[s]` are integers on the model's
    device."""
    before = _ATTEND.set(attend)
    try:
        output = model(
            input_ids=tokens[None].long(),
            position_ids=positions[None].long(),
            use_cache=False,
            logits_to_keep=select.long(),
        )
    finally:
        _ATTEND.reset(before)
    return output.logits[0]


class PagedLayers:
    """The layers that make `calls`, one each. `heads`, `width`: key/value heads and head dimension
    in the pool."""

    def __init__(self, calls: Sequence[Attention]) -> None:
        self.calls = tuple(calls)
        self.dtype = calls[0].query.dtype
        self.heads = max(call.keys.shape[1] for call in calls)
        self.width = max(max(call.keys.shape[2], call.values.shape[2]) for call in calls)
        windows = [call.window for call in calls if call.window is not None]
        self.window = max(windows) if len(windows) == len(calls) else None
        """The widest window of all layers, in positions; None if some layer has none."""
        self._numbers = {call.layer: number for number, call in enumerate(calls)}
        self._groups = {call.query.shape[1] // call.keys.shape[1] for call in calls}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def shapes(self) -> tuple[AttentionShape, ...]:
        """The sizes of attention in the pool, each once."""
        return tuple(
            AttentionShape(self.heads, group, self.width, self.dtype)
            for group in sorted(self._groups)
        )

    def attend(self, batch: ForwardBatch, pool: KvPool, call: Attention) -> Tensor:
        """Write the keys and values of one layer to the pool, and return its attention: `[rows,
        heads, …]`, with the last dimension of the values."""
        layer, real = self._numbers[call.layer], len(batch.blocks)
        keys, values = self._padded(call.keys[:real]), self._padded(call.values[:real])
        store_kv(pool, layer, batch.blocks, batch.offsets, keys, values)
        rows, heads, width = call.query.shape
        kv_heads = call.keys.shape[1]
        group = heads // kv_heads
        more = self.heads - kv_heads
        # [rows, kv_heads, group, width], with zeros for key heads that this layer doesn't have
        query = call.query.reshape(rows, kv_heads, group, width)
        query = _pad(query, (0, self.width - width, 0, 0, 0, more)).flatten(1, 2)
        sinks = call.sinks
        if sinks is not None:
            sinks = _pad(sinks.view(kv_heads, group), (0, 0, 0, more)).flatten()
        plan = batch.attention
        if isinstance(plan, DevicePlan):
            sinks = None if sinks is None else sinks.to(torch.float32)
            scores = Scores(call.scale, call.window, call.softcap, sinks)
            mixed = plan.attend(query, pool, layer, scores)
        else:
            assert isinstance(plan, AttentionPlan)
            mixed = paged_attention(
                *(query, pool, layer, plan),
                scale=call.scale,
                window=call.window,
                softcap=call.softcap,
                sinks=sinks,
            )
        mixed = mixed.view(rows, self.heads, group, self.width)
        return mixed[:, :kv_heads, :, : call.values.shape[2]].flatten(1, 2)

    def _padded(self, numbers: Tensor) -> Tensor:
        """Pad keys or values `[n, heads, width]` to the heads and width of the pool."""
        _, heads, width = numbers.shape
        return _pad(numbers, (0, self.width - width, 0, self.heads - heads))


def _pad(numbers: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Pad with zeros as `torch.nn.functional.pad` does, but don't copy where nothing is added."""
    return F.pad(numbers, sizes) if any(sizes) else numbers
