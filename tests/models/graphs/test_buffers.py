"""What the host copies to the memory from which recorded steps read."""

from __future__ import annotations

import torch

from maskwright.kernels.paged_plan import DevicePlan
from maskwright.models.graphs import GraphShape, StepBuffers
from maskwright.models.runs import Run, step_rows

SPARE, BLOCK = 9, 16
SMALL, LARGE = GraphShape(4, 1, 1024), GraphShape(8, 8, 2048)
CPU = torch.device("cpu")


def test_rows_and_padding() -> None:
    buffers = StepBuffers([SMALL, LARGE], BLOCK, SPARE, CPU)
    runs = [Run([5, 6, 7], 15, [3, 4], 2), Run([8], 40, [5, 6, 7], 1)]
    buffers.fill(LARGE, step_rows(runs, BLOCK))
    batch = buffers.batch(LARGE)
    assert batch.tokens.tolist() == [5, 6, 7, 8, 0, 0, 0, 0]
    assert batch.positions.tolist() == [15, 16, 17, 40, 0, 0, 0, 0]
    assert batch.blocks.tolist() == [3, 4, 4, 7, SPARE, SPARE, SPARE, SPARE]
    assert batch.offsets.tolist() == [15, 0, 1, 8, 0, 0, 0, 0]
    assert batch.select.tolist() == [1, 2, 3, 0, 0, 0, 0, 0]
    plan = batch.attention
    assert isinstance(plan, DevicePlan)
    assert plan.prefill is None
    sequences = plan.decode
    assert sequences is not None
    assert sequences.first.tolist() == [0, 3, 0, 0, 0, 0, 0, 0]
    assert sequences.start.tolist() == [15, 40, 0, 0, 0, 0, 0, 0]
    assert sequences.count.tolist() == [3, 1, 0, 0, 0, 0, 0, 0]
    assert (sequences.most, sequences.longest) == (8, 2048)
    assert sequences.tables.shape == (8, 128)
    assert sequences.tables[0, :3].tolist() == [3, 4, 0]
    assert sequences.tables[1, :4].tolist() == [5, 6, 7, 0]
    assert not sequences.tables[2:].any()


def test_a_table_that_is_longer_than_the_step_reaches() -> None:
    """A sequence that was to get more tokens keeps its blocks when it gets fewer."""
    buffers = StepBuffers([SMALL, LARGE], BLOCK, SPARE, CPU)
    table = [*range(1, 67)]
    buffers.fill(SMALL, step_rows([Run([7], 1023, table, 1), Run([8], 3, [70], 1)], BLOCK))
    batch = buffers.batch(SMALL)
    assert isinstance(batch.attention, DevicePlan)
    assert batch.attention.decode is not None
    assert batch.attention.decode.tables[0].tolist() == table[:64]
    assert batch.attention.decode.tables[1, :2].tolist() == [70, 0]
    assert batch.blocks[:2].tolist() == [64, 70]


def test_memory_stays_and_nothing_of_earlier_steps_does() -> None:
    """All tensors of all batches are at fixed places, which are those of kernels' wide loads."""
    buffers = StepBuffers([SMALL, LARGE], BLOCK, SPARE, CPU)
    batch = buffers.batch(SMALL)
    plan = batch.attention
    assert isinstance(plan, DevicePlan)
    sequences = plan.decode
    assert sequences is not None
    tensors = (
        *(batch.tokens, batch.positions, batch.blocks, batch.offsets, batch.select),
        *(sequences.first, sequences.start, sequences.count, sequences.tables),
    )
    places = [tensor.data_ptr() for tensor in tensors]
    assert all(place % 16 == 0 for place in places)
    assert all(tensor.dtype == torch.int32 and tensor.is_contiguous() for tensor in tensors)
    four = [Run([token], 20, [token, token + 1], 1) for token in range(1, 5)]
    buffers.fill(LARGE, step_rows(four * 2, BLOCK))
    buffers.fill(SMALL, step_rows([Run([7], 3, [2], 1)], BLOCK))
    assert batch.tokens.tolist() == [7, 0, 0, 0]
    assert batch.blocks.tolist() == [2, SPARE, SPARE, SPARE]
    assert sequences.count.tolist() == [1, 0, 0, 0]
    assert sequences.tables[:, :2].tolist() == [[2, 0], [0, 0], [0, 0], [0, 0]]
    again = buffers.batch(SMALL)
    assert again.tokens.data_ptr() == batch.tokens.data_ptr()
