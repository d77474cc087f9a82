"""The memory from which recorded steps read their rows.

A step's rows, sequences and tables are int32 numbers in one piece of memory on the device, which
the host fills in one copy. Columns of a shape follow each other from its beginning on, so that a
small shape is a small copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

from maskwright.kernels.device import staging
from maskwright.kernels.paged_attention import Sequences
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.models.batch import ForwardBatch
from maskwright.models.graphs.shapes import GraphShape
from maskwright.models.runs import StepRows

COLUMNS: Final = 8
"""Numbers of a row before its table: token, position, block, offset and selected row, then the
first row, the first position and the number of queries of the sequence in this place."""


class StepBuffers:
    """The memory for all of `shapes`, on `device`. Rows of padding write their keys and values to
    the block `spare`, which no sequence has, and belong to no sequence."""

    def __init__(
        self, shapes: Sequence[GraphShape], block_size: int, spare: int, device: torch.device
    ) -> None:
        self._block_size = block_size
        self._spare = spare
        most = max(self._size(shape) for shape in shapes)
        self._memory = torch.zeros(most, dtype=torch.int32, device=device)

    def batch(self, shape: GraphShape) -> ForwardBatch:
        """Return the batch of a shape, whose tensors are views of the memory."""
        columns, tables = self._views(self._memory, shape)
        tokens, positions, blocks, offsets, select, first, start, count = columns.unbind()
        sequences = Sequences(first, start, count, tables, shape.queries, shape.positions)
        return ForwardBatch(tokens, positions, blocks, offsets, DevicePlan(sequences, None), select)

    def fill(self, shape: GraphShape, step: StepRows) -> None:
        """Copy the rows of a step, which the shape holds, to the memory."""
        host = staging(self._size(shape), dtype=torch.int32, device=self._memory.device).zero_()
        views = self._views(host, shape)
        columns, tables = (view.numpy() for view in views)
        real = len(step.blocks)
        columns[0, :real] = step.tokens[:real]
        columns[1, :real] = step.positions[:real]
        columns[2] = self._spare
        columns[2, :real] = step.blocks
        columns[3, :real] = step.offsets
        columns[4, : step.selected] = step.select[: step.selected]
        for place, span in enumerate(step.spans):
            columns[5:8, place] = span.first, span.start, span.count
            tables[place, : len(span.table)] = span.table
        self._memory[: len(host)].copy_(host, non_blocking=True)

    def _views(self, memory: Tensor, shape: GraphShape) -> tuple[Tensor, Tensor]:
        """Return the columns `[COLUMNS, rows]` and the tables `[rows, blocks]` in `memory`."""
        end = COLUMNS * shape.rows
        columns = memory[:end].view(COLUMNS, shape.rows)
        return columns, memory[end : self._size(shape)].view(shape.rows, self._blocks(shape))

    def _blocks(self, shape: GraphShape) -> int:
        """Return the blocks in the table of a sequence: those of its positions."""
        return shape.positions // self._block_size

    def _size(self, shape: GraphShape) -> int:
        return shape.rows * (COLUMNS + self._blocks(shape))
