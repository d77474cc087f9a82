"""Low-rank adapters: the update that one adds to the products of a model.

`scale * (x @ down.T) @ up.T` is added to a module's output (LoRA, arXiv 2106.09685). Here `up` is
already multiplied by `scale`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from maskwright.kernels.device import kernels_run_on
from maskwright.kernels.low_rank import (
    GroupedRows,
    MatrixTable,
    add_grouped,
    group_rows,
    matrix_table,
    pad_rank,
)

Shapes = Mapping[str, tuple[int, int]]
"""The modules that an adapter may change: the numbers of outputs and inputs of each, by its name in
the transformers library."""


@dataclass(frozen=True, slots=True)
class LowRank:
    """The two factors of an update: `down` `[rank, inputs]` and `up` `[outputs, rank]`, both in the
    model's data type."""

    down: Tensor
    up: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Adapter:
    """The updates by module name. `table`: where the matrices lie, for kernels, with the modules in
    the order of the decoder's `adapter_shapes`; None where none run."""

    modules: Mapping[str, LowRank]
    table: MatrixTable | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all matrices."""
        matrices = sum(part.down.nbytes + part.up.nbytes for part in self.modules.values())
        return matrices + (0 if self.table is None else self.table.entries.nbytes)

    def on(self, device: torch.device, shapes: Shapes) -> Adapter:
        """Return the adapter on `device`, for a decoder with the modules `shapes`. Where kernels
        run, ranks are padded for them."""
        kernels = kernels_run_on(device)
        modules: dict[str, LowRank] = {}
        for name, part in self.modules.items():
            down, up = part.down.to(device), part.up.to(device)
            modules[name] = LowRank(*pad_rank(down, up)) if kernels else LowRank(down, up)
        if not kernels:
            return Adapter(modules)
        found = [modules.get(name) for name in shapes]
        matrices = [None if part is None else (part.down, part.up) for part in found]
        return Adapter(modules, matrix_table(matrices, device))


@dataclass(frozen=True, slots=True)
class AdapterRows:
    """The rows of a batch that one adapter changes, int64: first `count` row numbers, then padding
    to a multiple of `ROW_MULTIPLE`, whose results are not used."""

    adapter: Adapter
    rows: Tensor
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class GroupedAdapters:
    """The adapters of a step, whose updates kernels compute together. `order`: the number of each
    module in the adapters' tables."""

    adapters: tuple[Adapter, ...]
    rows: GroupedRows
    order: Mapping[str, int]

    def change(self, parts: Sequence[tuple[str, int]]) -> bool:
        """Whether any of them changes one of the modules `parts`."""
        return any(name in adapter.modules for adapter in self.adapters for name, _ in parts)

    def add(self, out: Tensor, x: Tensor, parts: Sequence[tuple[str, int]]) -> None:
        """Add the updates for the input `x` to `out`, in place. `parts`: the modules whose outputs
        are stacked in `out`, which follow each other in the order too, each with its end."""
        if self.change(parts):
            ends = [end for _, end in parts]
            add_grouped(out, x, self.rows, self.order[parts[0][0]], ends)


def group_adapters(
    adapters: Sequence[AdapterRows], order: Mapping[str, int], device: torch.device
) -> GroupedAdapters | Sequence[AdapterRows]:
    """Return the adapters of a step as kernels have them, if there are any. They are on `device`
    already; their rows are on the host."""
    if not adapters:
        return ()
    groups: list[tuple[list[int], MatrixTable]] = []
    for group in adapters:
        assert group.adapter.table is not None, "the adapter was loaded for another device"
        groups.append((group.rows[: group.count].tolist(), group.adapter.table))
    worn = tuple(group.adapter for group in adapters)
    return GroupedAdapters(worn, group_rows(groups, device), order)
