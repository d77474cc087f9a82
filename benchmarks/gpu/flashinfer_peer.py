"""FlashInfer's operations, beside ours where it is installed; this module has not run yet.

An operation that FlashInfer refuses, or has under another name, leaves its column out, and the
reason goes to standard error.
"""

# FlashInfer is untyped, and absent on many machines.
# pyright: reportMissingImports=false
from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import torch
from torch import Tensor

from benchmarks.gpu.timing import Bench
from maskwright.kernels.paged_attention import Sequences
from maskwright.kernels.sample_inputs import SampleInputs

_WORKSPACE_BYTES: Final = 128 << 20

Prepare = Callable[[Any], Callable[[], object]]
"""Makes of the package what is timed."""


def flashinfer_us(bench: Bench, prepare: Prepare) -> dict[str, float]:
    """Return the column of FlashInfer's time in microseconds; none where it can't be measured."""
    if bench.tiny or find_spec("flashinfer") is None:
        return {}
    try:
        return {"flashinfer_us": bench.by_graph(prepare(import_module("flashinfer")))}
    except Exception as error:  # another version, or a shape that it hasn't
        print(f"flashinfer: {type(error).__name__}: {error}", file=sys.stderr)
        return {}


def top_p(logits: Tensor, inputs: SampleInputs) -> Prepare:
    """Probabilities, and a draw from the likeliest of them, without masks."""

    def prepare(flashinfer: Any) -> Callable[[], object]:
        numbers, most = logits.float(), inputs.top_p.float()
        sampling = flashinfer.sampling
        return lambda: sampling.top_p_sampling_from_probs(numbers.softmax(-1), most)

    return prepare


def drawn(logits: Tensor, _: SampleInputs) -> Prepare:
    """Probabilities, and a draw from all of them, without masks."""

    def prepare(flashinfer: Any) -> Callable[[], object]:
        numbers, sampling = logits.float(), flashinfer.sampling
        return lambda: sampling.sampling_from_probs(numbers.softmax(-1))

    return prepare


def decode(query: Tensor, blocks: Tensor, sequences: Sequences, length: int) -> Prepare:
    """Attention of one new token of each sequence; `blocks` [blocks, 2, block, heads, width]
    belong to one layer."""

    def prepare(flashinfer: Any) -> Callable[[], object]:
        count, each = sequences.tables.shape
        size, heads, width = blocks.shape[2:]
        device = query.device
        workspace = torch.empty(_WORKSPACE_BYTES, dtype=torch.uint8, device=device)
        wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD")
        wrapper.plan(
            torch.arange(0, (count + 1) * each, each, dtype=torch.int32, device=device),
            sequences.tables.flatten(),
            torch.full((count,), (length - 1) % size + 1, dtype=torch.int32, device=device),
            *(query.shape[1], heads, width, size),
            q_data_type=query.dtype,
            kv_data_type=blocks.dtype,
        )
        return lambda: wrapper.run(query, blocks)

    return prepare
