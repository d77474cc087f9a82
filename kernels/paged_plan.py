"""What the queries of one step read, for the attention kernels of a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_attention import (
    MOST_DECODES,
    Scores,
    Sequences,
    paged_decode,
    paged_prefill,
)
from maskwright.kernels.reference import Span


@dataclass(frozen=True, slots=True)
class DevicePlan:
    """The sequences of a step with few queries and with many; None if there is none."""

    decode: Sequences | None
    prefill: Sequences | None

    def attend(self, query: Tensor, pool: KvPool, layer: int, scores: Scores) -> Tensor:
        """Return the attention of all rows of `query` `[rows, heads, head_dim]`, in its shape. Rows
        of no sequence are undefined."""
        out = torch.empty(query.shape, dtype=query.dtype, device=query.device)
        if self.decode is not None:
            paged_decode(query, pool, layer, self.decode, scores, out)
        if self.prefill is not None:
            paged_prefill(query, pool, layer, self.prefill, scores, out)
        return out


def plan_on_device(spans: Sequence[Span], device: torch.device) -> DevicePlan:
    """Return the plan for `spans`, on `device`."""
    few = [span for span in spans if span.count <= MOST_DECODES]
    many = [span for span in spans if span.count > MOST_DECODES]
    return DevicePlan(_sequences(few, device), _sequences(many, device))


def _sequences(spans: Sequence[Span], device: torch.device) -> Sequences | None:
    if not spans:
        return None
    longest = max(len(span.table) for span in spans)
    rows = [
        (span.first, span.start, span.count, *span.table, *[0] * (longest - len(span.table)))
        for span in spans
    ]
    # One copy to the device for all columns.
    packed = torch.tensor(rows, dtype=torch.int32).to(device)
    first, start, count = packed[:, :3].t().contiguous().unbind()
    return Sequences(
        first,
        start,
        count,
        packed[:, 3:],
        most=max(span.count for span in spans),
        longest=max(span.start + span.count for span in spans),
    )
