"""The rows of one step as tensors, and the interface of a model that takes them, as the engine uses
it. Each backend implements it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import torch
from torch import Tensor

from maskwright.kernels.device import kernels_run_on, upload
from maskwright.kernels.kv_bytes import KvDtype, position_bytes
from maskwright.kernels.kv_pool import KvPool, new_pool
from maskwright.kernels.paged_plan import DevicePlan, plan_on_device
from maskwright.kernels.reference import AttentionPlan, Span, pad_rows, plan_attention
from maskwright.models.adapter import Adapter, AdapterRows, Shapes, group_adapters
from maskwright.models.batch_invariance import LibraryOperations
from maskwright.models.layer import Updates
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
    adapted: dict[Adapter, list[int]] = {}
    for run, span in zip(runs, spans, strict=True):
        if run.adapter is not None:
            rows = range(span.first, span.first + span.count)
            adapted.setdefault(run.adapter, []).extend(rows)
    return tuple(
        AdapterRows(
            adapter, torch.tensor(rows + rows[:1] * (pad_rows(len(rows)) - len(rows))), len(rows)
        )
        for adapter, rows in adapted.items()
    )


SMALL: Final = 64 * 2**20
"""Bytes of weights below which torch computes a product in one thread. The products of a model with
3 million parameters take tens of microseconds, about as long as waking a second thread. On cores
that other processes used, waiting for it made steps 1.5 times as long (17 times with the 2-layer
test model)."""
MOST_SHARING: Final = 4
"""The most threads that share the rows of a step in compiled operations, unless `threads` is set.
Two take 0.6 times as long as one for 64 rows; a thread needs some 16 rows, since it reads all
weights for them."""


class Decoder(ABC):
    """The weights of a model, and its forward over a paged pool. Holds no state of requests; can be
    shared between threads."""

    vocab_size: int
    """The number of logits in a row."""
    max_positions: int
    """The most positions that a sequence may have."""
    device: torch.device
    """Where weights, activations, keys and values are."""
    dtype: torch.dtype
    """The data type of weights, activations, keys and values."""
    window: int | None
    """The widest attention window of all layers, in positions; None if some layer has none."""
    kv_shape: tuple[int, int, int]
    """Layers, key/value heads and head dimension of the pool."""
    adapter_shapes: Shapes
    """The modules that adapters may change, with their sizes."""

    @property
    @abstractmethod
    def plain_bytes(self) -> int:
        """Bytes of all weights, shared ones counted once."""

    @property
    @abstractmethod
    def row_bytes(self) -> int:
        """Upper bound in bytes on the activations that one row of a step needs at a time."""

    @property
    @abstractmethod
    def library_operations(self) -> LibraryOperations:
        """The operations that a library computes, which the probe for batch invariance tries."""

    @abstractmethod
    def forward(self, batch: ForwardBatch, pool: KvPool, out: Tensor | None = None) -> Tensor:
        """Write the keys and values of all rows to `pool`, and return the logits of the rows in
        `select`: float32 `[s, vocab]`, in `out` if it is given."""

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights, packed copies included."""
        return self.plain_bytes

    @property
    def small(self) -> bool:
        """Whether torch computes the model's products fastest in one thread."""
        return self.plain_bytes < SMALL

    @property
    def recordable(self) -> bool:
        """Whether a forward of rows on the device reads nothing back to the host, so that it can be
        recorded and done again (see `models/graphs.py`)."""
        return self.runs_kernels

    @property
    def runs_kernels(self) -> bool:
        """Whether kernels compute what they can, and not plain torch."""
        return kernels_run_on(self.device)

    @cached_property
    def module_order(self) -> Mapping[str, int]:
        """The place of each module among those that adapters may change."""
        return {name: place for place, name in enumerate(self.adapter_shapes)}

    def updates(self, batch: ForwardBatch) -> Updates:
        """Return what adapters add to the products of a step, as the kernels take it."""
        if not self.runs_kernels:
            return batch.adapters
        return group_adapters(batch.adapters, self.module_order, self.device)

    def plan(self, spans: Sequence[Span], block_size: int) -> Plan:
        """Return the attention plan of a step: what each row reads."""
        return plan_on_device(spans) if self.runs_kernels else plan_attention(spans, block_size)

    def new_pool(
        self,
        blocks: int,
        block_size: int,
        kind: KvDtype = "auto",
        device: torch.device | None = None,
    ) -> KvPool:
        """Return a zeroed key/value pool of `blocks` blocks; block 0 is the trash block. It is on
        `device`, by default the model's; in pinned memory if that is the host of a GPU."""
        layers, heads, width = self.kv_shape
        device = self.device if device is None else device
        pinned = self.device.type == "cuda" and device.type == "cpu"
        shape = (blocks, layers, 2, block_size, heads, width)
        return new_pool(shape, self.dtype, kind, device, pinned=pinned)

    def block_bytes(self, block_size: int, kind: KvDtype = "auto") -> int:
        """Return the bytes of one block, for all layers together."""
        layers, heads, width = self.kv_shape
        return layers * block_size * position_bytes(heads, width, self.dtype.itemsize, kind)
