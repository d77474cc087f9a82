"""Which models of the transformers library can read a paged pool, and which are refused.

The refused models would run without an error and give wrong answers, as
`tests/models/transformers_backend/test_guard.py` shows for each of them.

The rows of all requests in a step form one batch. So a model must leave attention to the registered
function, take the position of every token from `position_ids`, and keep no state between steps.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, cast

from transformers import PreTrainedConfig, PreTrainedModel

from maskwright.models.config import unsupported

LAYER_TYPES = frozenset({"full_attention", "sliding_attention"})
WHOLE_BATCH_ROPE = frozenset({"dynamic", "longrope"})
"""Kinds of rope whose frequencies depend on the largest position in the whole batch, so that one
long request would change the logits of all others."""


def check_supported(kind: type[PreTrainedModel], config: PreTrainedConfig) -> None:
    """Raise `InputError` that names the model and the first reason why it can't be served."""
    reason = next(_reasons(kind, config), None)
    if reason is not None:
        raise unsupported(
            f"{kind.__name__} is not supported: {reason}. The library's own generate computes it "
            "under a grammar, see docs/integrations.md."
        )


def _reasons(kind: type[PreTrainedModel], config: PreTrainedConfig) -> Iterator[str]:
    if getattr(config, "is_encoder_decoder", False):
        yield "it has an encoder"
    if getattr(config, "quantization_config", None) is not None:
        yield "quantization_config: its weights are quantised"
    # The flags with which the library marks models that use its attention interface.
    if getattr(kind, "_is_stateful", False):
        yield "it keeps a state besides keys and values"
    if not getattr(kind, "_supports_attention_backend", False):
        yield "its attention can't be replaced (no attention backend)"
    for name in ("position_ids", "logits_to_keep"):
        if name not in inspect.signature(kind.forward).parameters:
            yield f"its forward takes no {name}"
    for layer in sorted(set(getattr(config, "layer_types", None) or ()) - LAYER_TYPES):
        yield f"layer type {layer!r}"
    for rope in sorted(_rope_types(config) & WHOLE_BATCH_ROPE):
        yield f"rope type {rope!r}, whose frequencies depend on the whole batch"
    if not isinstance(getattr(config, "max_position_embeddings", None), int):
        yield "config.json does not say how many positions it has"


def _rope_types(config: PreTrainedConfig) -> set[str]:
    """Return the kinds of rope of all layers. `rope_parameters` is one mapping for all layers, or
    one for each layer type."""
    parameters = cast(Mapping[str, Any], getattr(config, "rope_parameters", None) or {})
    groups = [parameters, *(part for part in parameters.values() if isinstance(part, Mapping))]
    return {str(group["rope_type"]) for group in groups if "rope_type" in group}
