"""Loads a checkpoint as a model of the transformers library, after guard, self-check and, on a
device, a test of its attention with the shapes of the model.

The self-check compares the whole model with the library's forward, in float32 and on the CPU. The
test computes the attention of each kind of layer by the device's kernels, in the type that the
model is served in, and compares it with attention in plain torch in float32. It finds kernels that
can't be launched for a model on a device, and kernels that compute something else there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, cast

import torch
from torch import Tensor
from transformers import AutoConfig, PreTrainedConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING
from transformers.utils.logging import (
    disable_progress_bar,
    enable_progress_bar,
    is_progress_bar_enabled,
)

from maskwright.errors import InputError, first_line
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_plan import plan_on_device
from maskwright.kernels.reference import Span, pad_rows, plan_attention
from maskwright.models.config import ARCHITECTURES, read_json, unsupported
from maskwright.models.decoder import Plan, lay_out
from maskwright.models.runs import Run
from maskwright.models.transformers_backend.attention import Attention, PagedLayers
from maskwright.models.transformers_backend.decoder import TransformersDecoder
from maskwright.models.transformers_backend.guard import check_supported
from maskwright.models.transformers_backend.self_check import check_architecture
from maskwright.models.weights import weight_files

TOLERANCE: Final = 0.02
"""Largest difference that passes, relative to the largest result. Numbers of sixteen bits differ by
0.004 and less, wrong results by 0.1 and more."""

BLOCK_SIZE: Final = 16
BLOCKS: Final = 80
"""Blocks of a pool, and how many positions each has."""

LONG: Final = 1100
"""Positions of a sequence that is read in two splits (see `kernels/paged_attention.py`)."""

WINDOW: Final = 24
"""A window that hides something from these sequences."""


def check_attention(name: str, layers: PagedLayers, device: torch.device) -> None:
    """Compare the attention of `layers`, from the model `name`, on `device` with plain torch.
    Raises `InputError` if it can't be computed there, or differs."""
    for call in _kinds(layers.calls):
        try:
            error = attention_error(layers, call, device)
        except Exception as failure:  # of the compiler, of the driver, or of a launch
            raise unsupported(
                f"{name} is not supported on {device}: its attention can't be computed there: "
                f"{type(failure).__name__}: {failure}. Serve it with --device cpu."
            ) from failure
        if not error <= TOLERANCE:
            raise unsupported(
                f"{name} is not supported on {device}: its attention differs by {error:.1e} of the "
                "largest number from what it is on the CPU. Serve it with --device cpu."
            )


def _kinds(calls: Sequence[Attention]) -> Iterator[Attention]:
    """Yield one call of each kind."""
    seen: set[object] = set()
    for call in calls:
        sizes = (call.query.shape[1:], call.keys.shape[1:], call.values.shape[2])
        kind = (sizes, call.scale, call.window, call.softcap, call.sinks is None)
        if kind not in seen:
            seen.add(kind)
            yield call


@torch.inference_mode()
def attention_error(layers: PagedLayers, call: Attention, device: torch.device) -> float:
    """Return the largest difference between the attention of one of `layers` by the kernels of
    `device` and by plain torch, divided by the largest number. One batch is a decode, another one
    a few tokens and a piece of a prompt; all numbers are random."""

    def on_device(spans: Sequence[Span], _: int) -> Plan:
        return plan_on_device(spans)

    worst, cpu = 0.0, torch.device("cpu")
    for runs in ([_run(LONG, 1, 1)], [_run(20, 7, 70), _run(5, 19, 73)]):
        attended = partial(_attended, layers, runs, *_random(layers, call, runs))
        theirs = attended(device, layers.dtype, on_device)
        plain = attended(cpu, torch.float32, plan_attention)
        worst = max(worst, float((theirs - plain).abs().max() / plain.abs().max()))
    return worst


def _run(start: int, count: int, block: int) -> Run:
    """Return a run of `count` tokens in consecutive blocks from number `block` on."""
    return Run([0] * count, start, range(block, block + 1 + (start + count) // BLOCK_SIZE), 1)


def _random(layers: PagedLayers, call: Attention, runs: Sequence[Run]) -> tuple[Attention, Tensor]:
    """Return `call` with random numbers on the CPU for the rows of `runs`, and the numbers in the
    blocks of its layer, both in the type of the layers."""
    numbers = torch.Generator().manual_seed(0)
    rows = pad_rows(sum(len(run.tokens) for run in runs))

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=numbers).to(layers.dtype)

    given = replace(
        call,
        query=drawn(rows, *call.query.shape[1:]),
        keys=drawn(rows, *call.keys.shape[1:]),
        values=drawn(rows, *call.values.shape[1:]),
        window=None if call.window is None else min(call.window, WINDOW),
    )
    return given, drawn(BLOCKS, 1, 2, BLOCK_SIZE, layers.heads, layers.width)


def _attended(
    layers: PagedLayers,
    runs: Sequence[Run],
    call: Attention,
    blocks: Tensor,
    device: torch.device,
    dtype: torch.dtype,
    plan: Callable[[Sequence[Span], int], Plan],
) -> Tensor:
    """Return the attention of the real rows of `runs`, float32 on the CPU, computed on `device` in
    `dtype` in one layer, from the numbers of `call` and of `blocks`
    `[blocks, 1, 2, block size, KV heads, head_dim]`."""
    batch = lay_out(runs, BLOCK_SIZE, plan).to(device)
    given = replace(
        call,
        query=call.query.to(device, dtype),
        keys=call.keys.to(device, dtype),
        values=call.values.to(device, dtype),
        sinks=None if call.sinks is None else call.sinks.to(device, dtype),
    )
    # Every layer has the numbers of the one, which is written to.
    pool = KvPool(blocks.to(device, dtype, copy=True).expand(-1, len(layers), -1, -1, -1, -1))
    return layers.attend(batch, pool, given)[: len(batch.blocks)].float().cpu()


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
    model, faults = cast(tuple[PreTrainedModel, dict[str, Any]], loaded)
    for what in ("missing_keys", "mismatched_keys", "error_msgs"):
        keys = sorted(map(str, faults.get(what) or ()))
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
