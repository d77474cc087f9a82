"""What a forward of two tokens shows of a model: its calls of attention, and its linear modules."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from transformers import PreTrainedModel

from maskwright.models.transformers_backend.attention import Attention, run
from maskwright.models.transformers_backend.guard import unsupported

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
        told = " and ".join(sorted(str(each).removeprefix("torch.") for each in types))
        raise unsupported(
            f"{name} is not supported in this type: its attention mixes {told}; choose float32."
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
