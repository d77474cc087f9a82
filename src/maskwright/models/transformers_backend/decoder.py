"""A model of the transformers library that reads its keys and values from a paged pool.

The library's own code computes everything except attention. For attention it calls a function that
is registered in `attention`. So one class runs every architecture that passes the guard and the
self-check, on a CPU and on a device, where attention is computed by the kernels of the dense
decoder. The dense decoder is faster for the architectures that it supports. A forward of two tokens
shows which calls of attention and which linear modules a model has. On a device the library's code
reads nothing back to the host, for the models that are tested; what reads can't be recorded, which
the recorder finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from functools import partial

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from maskwright.kernels.device import as_logits
from maskwright.kernels.kv_pool import KvPool
from maskwright.models.batch_invariance import LibraryOperations, Product, one_of_each_shape
from maskwright.models.config import unsupported
from maskwright.models.decoder import Decoder, ForwardBatch
from maskwright.models.layer import Updates, add_updates
from maskwright.models.transformers_backend.attention import INTERFACE, Attention, PagedLayers, run

PROBE_ROWS = 2
"""Tokens of the forward."""


def probe(model: PreTrainedModel) -> tuple[list[Attention], int]:
    """Return the call of each layer, and the number of logits in a row. Raises `InputError` for a
    model that doesn't call attention once for each layer, with numbers of one type."""
    calls: list[Attention] = []

    def record(call: Attention) -> Tensor:
        calls.append(call)
        heads, width = call.query.shape[1], call.values.shape[2]
        return call.query.new_zeros(len(call.query), heads, width)

    with torch.inference_mode():
        two = torch.arange(PROBE_ROWS, device=model.device)
        logits = run(model, record, torch.zeros_like(two), two, two)
    name = type(model).__name__
    if not calls:
        raise unsupported(f"{name} is not supported: it has no attention to page.")
    if len({call.layer for call in calls}) < len(calls):
        raise unsupported(f"{name} is not supported: a layer calls its attention twice.")
    types = {each.dtype for call in calls for each in (call.query, call.keys, call.values)}
    if len(types) > 1:
        names = " and ".join(sorted(str(each).removeprefix("torch.") for each in types))
        raise unsupported(
            f"{name} is not supported in this type: its attention mixes {names}; choose float32."
        )
    return calls, logits.shape[-1]


def products_of_all_rows(model: PreTrainedModel) -> Iterator[tuple[str, torch.nn.Linear]]:
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
    probe(model)
    for hook in hooks:
        hook.remove()
    for module, name in products.items():
        if seen.count(module) == 1:
            yield name, module


_ADAPTERS: ContextVar[Updates] = ContextVar("adapters", default=())


class TransformersDecoder(Decoder):
    """A model of the library, which stays on its device; see `Decoder`."""

    def __init__(self, model: PreTrainedModel) -> None:
        model.set_attn_implementation(INTERFACE)
        self.model = model.eval()
        self.device: torch.device = model.device
        calls, self.vocab_size = probe(model)
        self.layers = PagedLayers(calls)
        self.max_positions = int(getattr(model.config, "max_position_embeddings"))  # noqa: B009
        self.dtype = self.layers.dtype
        self.window = self.layers.window
        self.kv_shape = len(self.layers), self.layers.heads, self.layers.width
        self.adapter_shapes = {
            name: (module.out_features, module.in_features)
            for name, module in products_of_all_rows(model)
        }
        for name in self.adapter_shapes:
            model.get_submodule(name).register_forward_hook(partial(_adapt, name))

    @property
    def _routed(self) -> bool:
        """Whether the model has experts: a weight of more than two dimensions is taken as a sign
        of them."""
        return any(
            ".experts." in name or weight.dim() > 2
            for name, weight in self.model.named_parameters()
        )

    @property
    def plain_bytes(self) -> int:
        return sum(weight.nbytes for weight in self.model.parameters())

    @property
    def row_bytes(self) -> int:
        """Upper bound in bytes on the activations of one row. It counts several copies of the
        widest layers, because the library computes in many small steps."""
        widths = [max(w.shape) for w in self.model.parameters() if w.shape[0] != self.vocab_size]
        return 16 * max(widths) * self.dtype.itemsize

    @property
    def library_operations(self) -> LibraryOperations:
        """The linear modules, and attention with the heads and width of the pool."""
        modules = self.model.modules()
        products = [product for module in modules if (product := _product(module)) is not None]
        return LibraryOperations(
            one_of_each_shape(products), self.layers.shapes, routed=self._routed
        )

    @torch.inference_mode()
    def forward(self, batch: ForwardBatch, pool: KvPool, out: Tensor | None = None) -> Tensor:
        adapters = self.updates(batch)
        batch = batch.to(self.device)
        attend = partial(self.layers.attend, batch, pool)
        before = _ADAPTERS.set(adapters)
        try:
            logits = run(self.model, attend, batch.tokens, batch.positions, batch.select)
        finally:
            _ADAPTERS.reset(before)
        return as_logits(logits) if out is None else out.copy_(logits)


def _adapt(name: str, _: torch.nn.Module, given: tuple[Tensor, ...], out: Tensor) -> None:
    """Hook after the product of one module: add the updates of the adapters."""
    adapters = _ADAPTERS.get()
    if not adapters:
        return
    rows = out.flatten(0, -2)
    add_updates(rows, given[0].flatten(0, -2), [(name, rows.shape[1])], adapters)


def _product(module: torch.nn.Module) -> Product | None:
    """Return the product of a linear module; None for a module of another kind."""
    match module:
        case torch.nn.Linear():
            return Product(module.weight, module.bias)
        case Conv1D():  # its weight is `[inputs, outputs]`
            return Product(module.weight.t(), module.bias)
        case _:
            return None
