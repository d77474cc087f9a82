"""The low-rank update of a product for the rows of one adapter, in plain torch."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def add_low_rank(
    out: Tensor, x: Tensor, rows: Tensor, count: int, down: Tensor, up: Tensor
) -> None:
    """Add `x[r] @ down.T @ up.T` to `out[r]`, in place, for the first `count` of `rows`.

    `out`: `[n, outputs]`; `x`: `[n, inputs]`; `rows`: int64, padded to a multiple of
    `ROW_MULTIPLE`, so that the bits of a row don't depend on their number; `down`:
    `[rank, inputs]`; `up`: `[outputs, rank]`.
    """
    added = F.linear(F.linear(x.index_select(0, rows), down), up)
    out.index_add_(0, rows[:count], added[:count])
