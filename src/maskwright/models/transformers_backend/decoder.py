"""A model of the transformers library that reads its keys and values from a paged pool.

The library's own code computes everything except attention. For attention it calls a function that
is registered here, with the layer's window, softcap and sinks. So one class runs every architecture
that passes the guard and the self-check. The dense decoder is faster for those that it supports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import AttentionInterface, PreTrainedModel
from transformers.pytorch_utils import Conv1D

from maskwright.kernels.kv_bytes import KvDtype, position_bytes
from maskwright.kernels.kv_pool import KvPool, new_pool, store_kv
from maskwright.kernels.low_rank import add_low_rank
from maskwright.kernels.reference import AttentionPlan, Span, paged_attention, plan_attention
from maskwright.models.adapter import AdapterRows, Shapes
from maskwright.models.batch import ForwardBatch, Plan
from maskwright.models.decoder import SMALL
from maskwright.models.library_operations import (
    AttentionShape,
    LibraryOperations,
    Product,
    one_of_each_shape,
)
from maskwright.models.transformers_backend.guard import unsupported
from maskwright.sizing.memory import block_bytes

INTERFACE = "maskwright_paged"
"""The name under which the attention function is registered. No mask function is registered under
it, so the library computes no mask; the attention plan takes its place."""


PROBE_ROWS = 2
"""Tokens of the forward that shows how a model calls its modules."""


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


_ATTEND: ContextVar[Callable[[Attention], Tensor]] = ContextVar("attend")
_ADAPTERS: ContextVar[tuple[AdapterRows, ...]] = ContextVar("adapters", default=())


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


class TransformersDecoder:
    """A model of the library. Its pool has the most heads and the largest head dimension of any
    layer; smaller layers are padded with zeros."""

    def __init__(self, model: PreTrainedModel) -> None:
        model.set_attn_implementation(INTERFACE)
        self.model = model.eval()
        calls, self.vocab_size = _probe(model)
        self.max_positions = int(getattr(model.config, "max_position_embeddings"))  # noqa: B009
        self.dtype = calls[0].query.dtype
        windows = [call.window for call in calls if call.window is not None]
        self.window = max(windows) if len(windows) == len(calls) else None
        self._layers = {call.layer: number for number, call in enumerate(calls)}
        if len(self._layers) < len(calls):
            raise unsupported(
                f"{type(model).__name__} is not supported: a layer calls its attention twice."
            )
        self.adapter_shapes: Shapes = {
            name: (module.out_features, module.in_features)
            for name, module in _products_of_all_rows(model)
        }
        for name in self.adapter_shapes:
            model.get_submodule(name).register_forward_hook(partial(_adapt, name))
        self._kv_heads = max(call.keys.shape[1] for call in calls)
        self._width = max(max(call.keys.shape[2], call.values.shape[2]) for call in calls)
        self._groups = {call.query.shape[1] // call.keys.shape[1] for call in calls}

    @property
    def small(self) -> bool:
        """Whether the model is decoded fastest by one thread."""
        return self.weight_bytes < SMALL

    @property
    def recordable(self) -> bool:
        """Whether a forward of rows on the device reads nothing back to the host."""
        return False

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights, shared ones counted once."""
        return sum(weight.nbytes for weight in self.model.parameters())

    @property
    def row_bytes(self) -> int:
        """Upper bound in bytes on the activations of one row. It counts several copies of the
        widest layers, because the library computes in many small steps."""
        widths = [max(w.shape) for w in self.model.parameters() if w.shape[0] != self.vocab_size]
        return 16 * max(widths) * self.dtype.itemsize

    @property
    def library_operations(self) -> LibraryOperations:
        """The linear modules, and attention as `_attend` pads it. A model with weights of more than
        two dimensions is taken to have experts."""
        modules = self.model.modules()
        products = [product for module in modules if (product := _product(module)) is not None]
        return LibraryOperations(
            one_of_each_shape(products),
            tuple(
                AttentionShape(self._kv_heads, group, self._width, self.dtype)
                for group in sorted(self._groups)
            ),
            routed=any(
                ".experts." in name or weight.dim() > 2
                for name, weight in self.model.named_parameters()
            ),
        )

    @property
    def device(self) -> torch.device:
        """Where weights, activations, keys and values are: on the CPU."""
        return torch.device("cpu")

    def new_pool(
        self,
        blocks: int,
        block_size: int,
        kind: KvDtype = "auto",
        device: torch.device | None = None,
    ) -> KvPool:
        """Return a zeroed key/value pool of `blocks` blocks; block 0 is the trash block. It is on
        `device`, by default the model's."""
        shape = (blocks, len(self._layers), 2, block_size, self._kv_heads, self._width)
        return new_pool(shape, self.dtype, kind, device)

    def block_bytes(self, block_size: int, kind: KvDtype = "auto") -> int:
        """Return the bytes of one block, for all layers together."""
        position = position_bytes(self._kv_heads, self._width, self.dtype.itemsize, kind)
        return block_bytes(len(self._layers), block_size, position)

    def plan(self, spans: Sequence[Span], block_size: int) -> Plan:
        """Return the attention plan of a step: what each row reads."""
        return plan_attention(spans, block_size)

    @torch.inference_mode()
    def forward(self, batch: ForwardBatch, pool: KvPool, out: Tensor | None = None) -> Tensor:
        """Write the keys and values of all rows to `pool`, and return the logits of the rows in
        `select`: float32 `[s, vocab]`, in `out` if it is given."""
        attend = partial(self._attend, batch, pool)
        before = _ADAPTERS.set(batch.adapters)
        try:
            logits = _run(self.model, attend, batch.tokens, batch.positions, batch.select)
            return logits if out is None else out.copy_(logits)
        finally:
            _ADAPTERS.reset(before)

    def _attend(self, batch: ForwardBatch, pool: KvPool, call: Attention) -> Tensor:
        assert isinstance(batch.attention, AttentionPlan)
        layer, real = self._layers[call.layer], len(batch.blocks)
        keys, values = self._padded(call.keys[:real]), self._padded(call.values[:real])
        store_kv(pool, layer, batch.blocks, batch.offsets, keys, values)
        rows, heads, width = call.query.shape
        kv_heads = call.keys.shape[1]
        group = heads // kv_heads
        more = self._kv_heads - kv_heads
        # [rows, kv_heads, group, width], with zeros for key heads that this layer doesn't have
        query = call.query.reshape(rows, kv_heads, group, width)
        query = F.pad(query, (0, self._width - width, 0, 0, 0, more))
        sinks = call.sinks
        if sinks is not None:
            sinks = F.pad(sinks.view(kv_heads, group), (0, 0, 0, more)).flatten()
        mixed = paged_attention(
            query.flatten(1, 2),
            pool,
            layer,
            batch.attention,
            scale=call.scale,
            window=call.window,
            softcap=call.softcap,
            sinks=sinks,
        )
        mixed = mixed.view(rows, self._kv_heads, group, self._width)
        return mixed[:, :kv_heads, :, : call.values.shape[2]].flatten(1, 2)

    def _padded(self, numbers: Tensor) -> Tensor:
        """Pad keys or values `[n, heads, width]` to the heads and width of the pool."""
        _, heads, width = numbers.shape
        return F.pad(numbers, (0, self._width - width, 0, self._kv_heads - heads))


def _adapt(name: str, _: torch.nn.Module, given: tuple[Tensor, ...], out: Tensor) -> None:
    """Hook after the product of one module: add the updates of the adapters."""
    for group in _ADAPTERS.get():
        part = group.adapter.modules.get(name)
        if part is not None:
            x, rows = given[0].flatten(0, -2), out.flatten(0, -2)
            add_low_rank(rows, x, group.rows, group.count, part.down, part.up)


def _product(module: torch.nn.Module) -> Product | None:
    """Return the product of a linear module; None for a module of another kind."""
    match module:
        case torch.nn.Linear():
            return Product(module.weight, module.bias)
        case Conv1D():  # its weight is `[inputs, outputs]`
            return Product(module.weight.t(), module.bias)
        case _:
            return None


def _products_of_all_rows(model: PreTrainedModel) -> Iterator[tuple[str, torch.nn.Linear]]:
    """Yield the linear modules that compute every row exactly once, by name. These are neither the
    head, which computes selected rows, nor experts, nor modules that the forward doesn't call."""
    head = model.get_output_embeddings()
    products = {
        module: name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and module is not head and ".experts." not in name
    }
    seen: list[torch.nn.Module] = []

    def look(module: torch.nn.Module, given: tuple[Tensor, ...], _: Tensor) -> None:
        if given and given[0].shape[:-1].numel() == PROBE_ROWS:
            seen.append(module)

    hooks = [module.register_forward_hook(look) for module in products]
    _probe(model)
    for hook in hooks:
        hook.remove()
    for module, name in products.items():
        if seen.count(module) == 1:
            yield name, module


def _probe(model: PreTrainedModel) -> tuple[list[Attention], int]:
    """Return the call of each layer in a forward of two tokens, and the number of logits in a
    row."""
    calls: list[Attention] = []

    def record(call: Attention) -> Tensor:
        calls.append(call)
        heads, width = call.query.shape[1], call.values.shape[2]
        return call.query.new_zeros(len(call.query), heads, width)

    with torch.inference_mode():
        two = torch.arange(PROBE_ROWS)
        logits = _run(model, record, torch.zeros_like(two), two, two)
    if not calls:
        raise unsupported(f"{type(model).__name__} is not supported: it has no attention to page.")
    return calls, logits.shape[-1]


def _run(
    model: PreTrainedModel,
    attend: Callable[[Attention], Tensor],
    tokens: Tensor,
    positions: Tensor,
    select: Tensor,
) -> Tensor:
    """Return the logits, float32 `[s, vocab]`, computed with `attend` as the attention function."""
    before = _ATTEND.set(attend)
    try:
        output = model(
            input_ids=tokens[None],
            position_ids=positions[None],
            use_cache=False,
            logits_to_keep=select,
        )
    finally:
        _ATTEND.reset(before)
    return output.logits[0].float()
