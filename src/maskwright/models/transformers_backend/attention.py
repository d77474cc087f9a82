"""How the library's models call attention, and where this call leads: a registered function.

The library's own code computes everything else, and hands the function the window, softcap and
sinks of the layer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, PreTrainedModel

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
