"""Products with weights in fp8 on a GPU, beside torch's products of bfloat16."""

from __future__ import annotations

from functools import partial
from typing import Final

import torch
import torch.nn.functional as F

from benchmarks.gpu.timing import Bench
from maskwright.kernels.fp8.product import encode_rows, multiply
from maskwright.models.device import FP8_CAPABILITY

CASES: Final = (
    *((1, 4096, 6144), (64, 4096, 6144), (64, 4096, 28_672), (64, 14_336, 4096)),
    (2048, 4096, 28_672),
)
"""Rows, inputs and outputs: products of a model of eight billion parameters."""


def multiplies_fp8(bench: Bench) -> bool:
    """Whether the device has products of fp8. The CPU has the twin's."""
    return bench.tiny or torch.cuda.get_device_capability(bench.device) >= FP8_CAPABILITY


def measure_fp8(bench: Bench) -> None:
    """Time products from activations on, and the codes of the activations alone. The share of
    reading's bandwidth counts one read of the weights."""
    if not multiplies_fp8(bench):
        return
    for rows, inputs, outputs in bench.sizes(CASES, ((3, 32, 16),)):
        x, weight = bench.numbers(rows, inputs), bench.numbers(outputs, inputs)
        codes, scales = encode_rows(weight)
        ours = bench.by_graph(partial(multiply, x, codes, scales))
        theirs = bench.by_graph(partial(F.linear, x, weight))
        bench.add(
            "product in fp8",
            rows=rows,
            inputs=inputs,
            outputs=outputs,
            us=ours,
            **{"read_bandwidth_%": bench.share(codes.nbytes, ours)},
            codes_us=bench.by_graph(partial(encode_rows, x)),
            torch_us=theirs,
            times_faster=theirs / ours,
        )
