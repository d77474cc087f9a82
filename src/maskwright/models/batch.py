"""The rows of one step as tensors, which are the input of every decoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from maskwright.kernels.device import upload
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.kernels.reference import AttentionPlan, Span, pad_rows
from maskwright.models.adapter import Adapter, AdapterRows
from maskwright.models.runs import CompiledPlan, Run, step_rows

Plan = AttentionPlan | CompiledPlan | DevicePlan


@dataclass(frozen=True, slots=True)
class ForwardBatch:
    """The rows of one step: `r` rows, a multiple of `ROW_MULTIPLE`; the first `n` are real, the
    others padding.

    - `tokens`, `positions`: int64 [r].
    - `blocks`, `offsets`: int64 [n], the pool slot of each row's key and value.
    - `attention`: what each row reads, as the decoder's method `plan` returns it.
    - `select`: int64 [s], the rows whose logits are computed; s is a multiple of `ROW_MULTIPLE`
      too.
    - `adapters`: the rows of each adapter; no row has two adapters.
    """

    tokens: Tensor
    positions: Tensor
    blocks: Tensor
    offsets: Tensor
    attention: Plan
    select: Tensor
    adapters: tuple[AdapterRows, ...] = ()

    def to(self, device: torch.device) -> ForwardBatch:
        """Return the batch on a device, with int32 in place of int64; `adapters` stay on the host,
        for `group_adapters`. One copy has all numbers, `attention`'s too."""
        if self.tokens.device == device:
            return self
        columns = (self.tokens, self.positions, self.blocks, self.offsets, self.select)
        plan = self.attention
        planned = plan.columns if isinstance(plan, DevicePlan) else []
        moved = upload([*(each.to(torch.int32) for each in columns), *planned], device)
        tokens, positions, blocks, offsets, select, *planned = moved
        if isinstance(plan, DevicePlan):
            plan = plan.with_columns(planned)
        return ForwardBatch(tokens, positions, blocks, offsets, plan, select, self.adapters)


def lay_out(
    runs: Sequence[Run], block_size: int, plan: Callable[[Sequence[Span], int], Plan]
) -> ForwardBatch:
    """Return the batch with its rows in the order of `runs`. Logits are selected for the last
    `rows` rows of each run, in this order. Padding rows compute token 0 at position 0, write
    nothing and are never read; the padding of `select` repeats row 0."""
    step = step_rows(runs, block_size)
    return ForwardBatch(
        tokens=torch.from_numpy(step.tokens),
        positions=torch.from_numpy(step.positions),
        blocks=torch.from_numpy(step.blocks),
        offsets=torch.from_numpy(step.offsets),
        attention=plan(step.spans, block_size),
        select=torch.from_numpy(step.select),
        adapters=_adapter_rows(runs, step.spans),
    )


def _adapter_rows(runs: Sequence[Run], spans: Sequence[Span]) -> tuple[AdapterRows, ...]:
    """The rows of each adapter."""
    adapted: dict[Adapter, list[int]] = {}
    for run, span in zip(runs, spans, strict=True):
        if run.adapter is not None:
            rows = range(span.first, span.first + span.count)
            adapted.setdefault(run.adapter, []).extend(rows)
    return tuple(_rows(adapter, rows) for adapter, rows in adapted.items())


def _rows(adapter: Adapter, rows: list[int]) -> AdapterRows:
    padding = rows[:1] * (pad_rows(len(rows)) - len(rows))
    return AdapterRows(adapter, torch.tensor(rows + padding), len(rows))
