"""What the queries of one step read, for the attention kernels of a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

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

TABLE_MULTIPLE: Final = 16
"""Tables of blocks have a multiple of so many columns. Triton compiles a kernel anew for a stride
that is no multiple of 16 and for one of 1, which steps in serving would wait for."""


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

    @property
    def columns(self) -> list[Tensor]:
        """All tensors of the plan."""
        return [
            column
            for sequences in (self.decode, self.prefill)
            if sequences is not None
            for column in (sequences.first, sequences.start, sequences.count, sequences.tables)
        ]

    def with_columns(self, columns: Sequence[Tensor]) -> DevicePlan:
        """Return the plan with other tensors in the place of `columns`, in this order."""
        left = iter(columns)
        decode, prefill = (
            sequences
            and replace(
                sequences, first=next(left), start=next(left), count=next(left), tables=next(left)
            )
            for sequences in (self.decode, self.prefill)
        )
        return DevicePlan(decode, prefill)


def plan_on_device(spans: Sequence[Span]) -> DevicePlan:
    """Return the plan for `spans`, whose tensors are still on the host."""
    few = [span for span in spans if span.count <= MOST_DECODES]
    many = [span for span in spans if span.count > MOST_DECODES]
    return DevicePlan(_sequences(few), _sequences(many))


def _sequences(spans: Sequence[Span]) -> Sequences | None:
    if not spans:
        return None
    longest = max(len(span.table) for span in spans)
    columns = -(-longest // TABLE_MULTIPLE) * TABLE_MULTIPLE
    tables = [[*span.table, *[0] * (columns - len(span.table))] for span in spans]
    first, start, count = torch.tensor(
        [(span.first, span.start, span.count) for span in spans], dtype=torch.int32
    ).t()
    return Sequences(
        first.contiguous(),
        start.contiguous(),
        count.contiguous(),
        torch.tensor(tables, dtype=torch.int32),
        most=max(span.count for span in spans),
        longest=max(span.start + span.count for span in spans),
        least=min(span.count for span in spans),
    )
