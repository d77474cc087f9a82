"""The shapes of recorded steps, and which of them a batch takes."""

from __future__ import annotations

import pytest

from maskwright.kernels.paged_attention import MOST_DECODES, SPLIT
from maskwright.models.graphs import (
    MOST_PARTS,
    MOST_ROWS,
    GraphShape,
    choose,
    graph_shapes,
)


@pytest.mark.parametrize(
    ("rows", "positions", "each_rows", "each_positions"),
    [
        (1, 1, [4], [1024]),
        (4, 1024, [4], [1024]),
        (10, 1025, [4, 8, 12], [1024, 2048]),
        (64, 8192, [4, 8, 16, 32, 64], [1024, 4096, 8192]),
        (999, 256, [4, 8, 16, 32, 64, 128, 256], [1024]),
    ],
)
def test_bounds_grow_up_to_what_is_needed(
    rows: int, positions: int, each_rows: list[int], each_positions: list[int]
) -> None:
    shapes = graph_shapes(rows, positions)
    assert shapes == sorted(set(shapes))
    assert shapes == [
        GraphShape(row, queries, position)
        for row in each_rows
        for queries in (1, MOST_DECODES)
        for position in each_positions
    ]


def test_many_rows_of_long_sequences_would_take_too_much_memory() -> None:
    shapes = graph_shapes(MOST_ROWS, 131_072)
    assert all(shape.rows * shape.positions // SPLIT <= MOST_PARTS for shape in shapes)
    assert choose(shapes, 32, 1, 131_072) is not None
    assert choose(shapes, MOST_ROWS, 1, 131_072) is None
    assert choose(shapes, MOST_ROWS, 1, 16_384) is not None


def test_a_batch_takes_the_smallest_shape_that_holds_it() -> None:
    shapes = graph_shapes(64, 8192)
    assert choose(shapes, 1, 1, 1) == GraphShape(4, 1, 1024)
    assert choose(shapes, 4, 1, 1024) == GraphShape(4, 1, 1024)
    assert choose(shapes, 5, 1, 1024) == GraphShape(8, 1, 1024)
    assert choose(shapes, 4, 2, 1024) == GraphShape(4, 8, 1024)
    assert choose(shapes, 33, 8, 1025) == GraphShape(64, 8, 4096)
    for too_much in ((65, 1, 1), (9, 9, 9), (1, 1, 8193)):
        assert choose(shapes, *too_much) is None
