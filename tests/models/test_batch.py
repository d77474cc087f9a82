"""The rows of a step as tensors: places in the pool, selected rows, adapters and padding."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.kernels.reference import ROW_MULTIPLE, Span
from maskwright.models.adapter import Adapter
from maskwright.models.decoder import ForwardBatch, lay_out
from maskwright.models.runs import Run

SIZE = 4


def batch(*runs: Run) -> ForwardBatch:
    """The batch of some runs; its `attention` are the spans themselves."""
    plan: Any = lambda spans, block_size: (list(spans), block_size)  # noqa: E731 (one expression)
    return lay_out(runs, SIZE, plan)


RUNS: list[tuple[Run, list[int], list[int], list[int]]] = [
    # a run; blocks, offsets and selected rows
    (Run([9], 0, [5], 1), [5], [0], [0]),
    (Run([9, 8, 7], 2, [5, 6], 1), [5, 5, 6], [2, 3, 0], [2]),
    (Run([9, 8, 7], 2, [5, 6], 3), [5, 5, 6], [2, 3, 0], [0, 1, 2]),
    (Run([9, 8], 0, [5], 0), [5, 5], [0, 1], []),
    (Run([9] * 5, 4, [0, 6, 7], 2), [6, 6, 6, 6, 7], [0, 1, 2, 3, 0], [3, 4]),  # the first is gone
]


@pytest.mark.parametrize(("run", "blocks", "offsets", "select"), RUNS)
def test_one_run(run: Run, blocks: list[int], offsets: list[int], select: list[int]) -> None:
    found = batch(run)
    count = len(run.tokens)
    assert found.tokens[:count].tolist() == list(run.tokens)
    assert found.positions[:count].tolist() == list(range(run.start, run.start + count))
    assert (found.blocks.tolist(), found.offsets.tolist()) == (blocks, offsets)
    assert found.select[: len(select)].tolist() == select
    assert found.attention == ([Span(0, run.start, count, run.table)], SIZE)


def test_runs_follow_each_other() -> None:
    found = batch(Run([1, 2], 0, [5], 1), Run([3], 6, [7, 8], 1), Run([4, 5, 6], 1, [9], 2))
    assert found.tokens[:6].tolist() == [1, 2, 3, 4, 5, 6]
    assert found.positions[:6].tolist() == [0, 1, 6, 1, 2, 3]
    assert found.blocks.tolist() == [5, 5, 8, 9, 9, 9]
    assert found.offsets.tolist() == [0, 1, 2, 1, 2, 3]
    assert found.select[:4].tolist() == [1, 2, 4, 5]
    spans: Any = found.attention
    assert [span.first for span in spans[0]] == [0, 2, 3]


@pytest.mark.parametrize("count", range(1, 10))
def test_rows_and_selected_rows_are_padded(count: int) -> None:
    """Padding computes token 0 at position 0, is written nowhere, and selects row 0."""
    found = batch(Run([7] * count, 3, [1, 2, 3], count))
    padded = -(-count // ROW_MULTIPLE) * ROW_MULTIPLE
    for tensor in (found.tokens, found.positions, found.select):
        assert len(tensor) == padded
        assert tensor[count:].tolist() == [0] * (padded - count)
    assert len(found.blocks) == len(found.offsets) == count


def test_without_rows_that_need_logits_none_are_selected() -> None:
    assert batch(Run([1, 2], 0, [5], 0)).select.shape == (0,)


def test_rows_of_each_adapter() -> None:
    one, other = Adapter({}), Adapter({})
    found = batch(
        Run([1, 2], 0, [5], 1, one),
        Run([3], 0, [6], 1),
        Run([4], 0, [7], 1, other),
        Run([5, 6, 7], 0, [8], 1, one),
    )
    groups = {id(group.adapter): group for group in found.adapters}
    assert len(groups) == len(found.adapters) == 2
    for adapter, rows in ((one, [0, 1, 4, 5, 6]), (other, [3])):
        group = groups[id(adapter)]
        assert group.count == len(rows)
        assert group.rows[: group.count].tolist() == rows
        assert len(group.rows) % ROW_MULTIPLE == 0
        assert set(group.rows[group.count :].tolist()) <= {rows[0]}


@pytest.mark.parametrize(
    ("run", "fits"),
    [
        (Run([9] * 4, 4, [5, 6], 1), True),
        (Run([9] * 5, 4, [5, 6], 1), False),
        (Run([9], 8, [5, 6], 1), False),
        (Run([9], -1, [5], 1), False),
        (Run([9], 0, [], 1), False),
    ],
)
def test_a_run_does_not_leave_its_blocks(run: Run, fits: bool) -> None:
    if fits:
        assert batch(run).blocks.tolist() == [6] * 4
    else:
        with pytest.raises(IndexError, match="blocks"):
            batch(run)
