"""Products of few rows on a GPU, beside torch's."""

from __future__ import annotations

from functools import partial
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.gpu.timing import Bench
from maskwright.kernels.few_rows import linear, linear_silu_mul
from maskwright.kernels.reference import silu_mul

CASES: Final = (
    *((4096, 6144, False), (4096, 4096, False), (4096, 28_672, True), (14_336, 4096, False)),
    *((1024, 4096, False), (2048, 1024, False), (1024, 6144, True), (3072, 1024, False)),
    (4096, 128_256, False),
)
"""Inputs, outputs, and whether the activation follows: of models of 8 and of 0.6 billion
parameters, and a head."""


def measure_few_rows(bench: Bench) -> None:
    """Time products of four and of eight rows. The share of reading's bandwidth counts one read of
    the weights."""
    for inputs, outputs, gated in bench.sizes(CASES, ((32, 16, False), (32, 16, True))):
        weight = bench.numbers(outputs, inputs, dtype=torch.bfloat16)
        for rows in bench.sizes((4, 8), (3,)):
            x = bench.numbers(rows, inputs, dtype=torch.bfloat16)
            ours = bench.by_graph(partial(linear_silu_mul if gated else linear, x, weight))
            theirs = bench.by_graph(partial(_by_torch, x, weight, gated=gated))
            bench.add(
                "product of few rows",
                rows=rows,
                inputs=inputs,
                outputs=outputs,
                activated="yes" if gated else "no",
                us=ours,
                **{"read_bandwidth_%": bench.share(weight.nbytes, ours)},
                torch_us=theirs,
                times_faster=theirs / ours,
            )


def _by_torch(x: Tensor, weight: Tensor, *, gated: bool) -> Tensor:
    found = F.linear(x, weight)
    return silu_mul(found) if gated else found
