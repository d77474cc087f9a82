"""Loads a checkpoint as a model of the transformers library, after guard and self-check."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import torch
from transformers import AutoConfig, PreTrainedConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING
from transformers.utils.logging import (
    disable_progress_bar,
    enable_progress_bar,
    is_progress_bar_enabled,
)

from maskwright.errors import InputError, first_line
from maskwright.models.config import ARCHITECTURES, read_json
from maskwright.models.transformers_backend.decoder import TransformersDecoder
from maskwright.models.transformers_backend.device_check import check_attention
from maskwright.models.transformers_backend.guard import check_supported, unsupported
from maskwright.models.transformers_backend.self_check import check_architecture
from maskwright.models.weights import weight_files


def load_transformers(
    directory: Path, dtype: torch.dtype, device: torch.device
) -> TransformersDecoder:
    """Return the decoder, on `device`. Raises `InputError` for what isn't supported. Code that
    comes with a checkpoint is never run."""
    config = _config(directory)
    kind = _model_class(config)
    check_supported(kind, config)
    check_architecture(kind, config)
    weight_files(directory)
    try:
        with _without_progress_bar():
            loaded: Any = kind.from_pretrained(
                directory,
                config=config,
                dtype=dtype,
                attn_implementation="eager",
                use_safetensors=True,
                local_files_only=True,
                output_loading_info=True,
            )
    except Exception as error:  # the library raises many kinds of errors for wrong files
        raise InputError(
            f"The checkpoint could not be loaded: {type(error).__name__}: {first_line(error)}",
            param="model",
        ) from error
    model, told = cast(tuple[PreTrainedModel, dict[str, Any]], loaded)
    for what in ("missing_keys", "mismatched_keys", "error_msgs"):
        keys = sorted(map(str, told.get(what) or ()))
        if keys:
            raise InputError(
                f"The checkpoint does not fill {kind.__name__}: {what.replace('_', ' ')}: "
                f"{keys[0]}, {len(keys)} in all.",
                param="model",
            )
    if device.type == "cpu":
        return TransformersDecoder(model)
    return _on_device(model, device)


@contextmanager
def _without_progress_bar() -> Generator[None]:
    """Keep the library from writing bars to standard error, between the lines of a log."""
    shown = is_progress_bar_enabled()
    disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            enable_progress_bar()


def _on_device(model: PreTrainedModel, device: torch.device) -> TransformersDecoder:
    """Return the decoder of a model that is moved to `device`, after a test of its attention."""
    name = type(model).__name__
    try:
        # Torch declares no argument of this method that it knows.
        decoder = TransformersDecoder(cast(Any, model).to(device))
    except RuntimeError as error:  # too little memory, or an operation that the device hasn't
        raise unsupported(
            f"{name} can't be computed on {device}: {type(error).__name__}: {error}. Serve it with "
            "--device cpu."
        ) from error
    check_attention(name, decoder.layers, device)
    return decoder


def _config(directory: Path) -> PreTrainedConfig:
    _check_known(read_json(directory / "config.json"))
    try:
        return AutoConfig.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # a configuration class may raise anything for a wrong value
        raise unsupported(
            f"The transformers library can't read config.json: {first_line(error)}"
        ) from error


def _check_known(raw: Mapping[str, Any]) -> None:
    """Raise `InputError` for a type of model that the library doesn't know: the library's own
    message advises to install it from its repository, or to run the checkpoint's code."""
    kind = raw.get("model_type")
    if isinstance(kind, str) and kind in CONFIG_MAPPING:
        return
    named = ", ".join(map(str, raw.get("architectures") or ())) or "none named"
    own = " Code that comes with a checkpoint is never run." if raw.get("auto_map") else ""
    raise unsupported(
        f"Architecture {named} (model_type {kind!r}) is not supported: it is none of "
        f"{', '.join(ARCHITECTURES)}, and transformers {version('transformers')}, which is "
        f"installed, doesn't know it.{own}"
    )


def _model_class(config: PreTrainedConfig) -> type[PreTrainedModel]:
    """Return the class for text generation, which must be the one that config.json names."""
    named = ", ".join(config.architectures or ()) or "none"
    try:
        kind = cast(type[PreTrainedModel], MODEL_FOR_CAUSAL_LM_MAPPING[type(config)])
    except KeyError:
        raise unsupported(
            f"Architecture {named} ({config.model_type}) is not supported: it is not a "
            "decoder for text generation."
        ) from None
    if named != kind.__name__:
        raise unsupported(
            f"Architecture {named} is not supported; {config.model_type} is served as "
            f"{kind.__name__}."
        )
    return kind
