"""Low-rank additions to a product, for the rows of one adapter: the plain-torch twin."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def add_low_rank(
    out: Tensor, x: Tensor, rows: Tensor, count: int, down: Tensor, up: Tensor
) -> None:
    """`out[r] += x[r] @ down.T @ up.T`, in place, for the first `count` of `rows`.

    `out` `[n, outputs]`, `x` `[n, inputs]`, `rows` int64, padded to a multiple of `ROW_MULTIPLE`
    so that a row's bits don't depend on how many there are; `down` `[rank, inputs]`, `up`
    `[outputs, rank]`.
    """
    added = F.linear(F.linear(x.index_select(0, rows), down), up)
    out.index_add_(0, rows[:count], added[:count])
