"""The updates of low-rank adapters on a GPU, beside torch's of one adapter after another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.gpu.timing import Bench
from maskwright.kernels.device import runs_kernels
from maskwright.kernels.low_rank import (
    GroupedRows,
    add_grouped,
    add_low_rank,
    group_rows,
    matrix_table,
    pad_rank,
)
from maskwright.kernels.reference import pad_rows

ENDS: Final = (4096, 5120, 6144)
"""Where the outputs of queries, keys and values end in a model of eight billion parameters."""

INPUTS: Final = 4096


class AdaptedRows:
    """Rows that `adapters` adapters share, row by row, each with matrices for all modules of one
    product, whose outputs end at `ends`."""

    def __init__(
        self, bench: Bench, *, rows: int, adapters: int, rank: int, inputs: int, ends: Sequence[int]
    ) -> None:
        self.ends = ends
        self.x = bench.numbers(rows, inputs)
        sizes = [end - begin for begin, end in zip((0, *ends), ends, strict=False)]
        self.matrices = [
            [
                pad_rank(bench.numbers(rank, inputs) / inputs**0.5, bench.numbers(size, rank))
                for size in sizes
            ]
            for _ in range(adapters)
        ]
        self.rows = [list(range(number, rows, adapters)) for number in range(adapters)]
        self.groups: GroupedRows | None = None
        if runs_kernels(self.x):
            # Kept, since the groups have their addresses only.
            self.tables = [matrix_table(each, bench.device) for each in self.matrices]
            groups = list(zip(self.rows, self.tables, strict=True))
            self.groups = group_rows(groups, bench.device)
        self._padded = [
            torch.tensor(mine + mine[:1] * (pad_rows(len(mine)) - len(mine))).to(bench.device)
            for mine in self.rows
        ]

    @property
    def nbytes(self) -> int:
        """Bytes of all matrices."""
        return sum(one.nbytes for each in self.matrices for pair in each for one in pair)

    def by_kernels(self, out: Tensor) -> None:
        """Add the updates to `out` by kernels, or by torch where none run."""
        if self.groups is None:
            self.by_torch(out)
        else:
            add_grouped(out, self.x, self.groups, 0, self.ends)

    def by_torch(self, out: Tensor) -> None:
        """Add the updates to `out` one adapter and module after another."""
        for mine, padded, each in zip(self.rows, self._padded, self.matrices, strict=True):
            for begin, end, pair in zip((0, *self.ends), self.ends, each, strict=False):
                add_low_rank(out[:, begin:end], self.x, padded, len(mine), *pair)


def measure_low_rank(bench: Bench) -> None:
    """Time the updates of queries, keys and values. The share of reading's bandwidth counts one
    read of the matrices; `product_us` is the time of the product that they are added to."""
    cases = [(64, 1, 16), (64, 8, 16), (64, 64, 16), (64, 8, 64), (2048, 2, 16)]
    (inputs,) = bench.sizes((INPUTS,), (40,))
    (ends,) = bench.sizes((ENDS,), ((32, 48, 64),))
    weight = bench.numbers(ends[-1], inputs)
    for rows, adapters, rank in bench.sizes(cases, [(6, 2, 4)]):
        subject = AdaptedRows(
            bench, rows=rows, adapters=adapters, rank=rank, inputs=inputs, ends=ends
        )
        out = bench.numbers(rows, ends[-1])
        ours = bench.by_graph(partial(subject.by_kernels, out))
        theirs = bench.by_graph(partial(subject.by_torch, out))
        bench.add(
            "low-rank updates",
            rows=rows,
            adapters=adapters,
            rank=rank,
            us=ours,
            **{"read_bandwidth_%": bench.share(subject.nbytes, ours)},
            torch_us=theirs,
            times_faster=theirs / ours,
            product_us=bench.by_graph(partial(F.linear, subject.x, weight)),
        )
