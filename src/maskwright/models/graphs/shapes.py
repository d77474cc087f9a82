"""The shapes for which decode steps are recorded.

What a launch depends on besides the contents of memory is fixed by a shape: the number of rows, the
most queries of a sequence, and the most positions that one may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from maskwright.kernels.paged_attention import MOST_DECODES, SPLIT
from maskwright.kernels.reference import ROW_MULTIPLE

MOST_ROWS: Final = 256
"""The most rows of a recorded step. Beyond that, kernels run longer than launching them takes."""

LENGTH_FACTOR: Final = 4
"""The ratio of the most positions of one shape to those of the next smaller one. Attention launches
programs for all of them, and those that find nothing to read end at once."""

MOST_PARTS: Final = 4096
"""The most splits of keys (see `paged_attention`), over all rows of a shape. Each one takes memory
for its sums: at 1,024 numbers in the values of a position, 64 KiB or, with several queries,
128 KiB and more."""


@dataclass(frozen=True, slots=True, order=True)
class GraphShape:
    """Bounds of a batch: `rows` in all, `queries` of each sequence, `positions` of a sequence."""

    rows: int
    queries: int
    positions: int

    def holds(self, rows: int, queries: int, positions: int) -> bool:
        """Whether a batch fits."""
        return rows <= self.rows and queries <= self.queries and positions <= self.positions


def graph_shapes(most_rows: int, most_positions: int) -> list[GraphShape]:
    """Return the shapes for batches of up to `most_rows` rows, `MOST_ROWS` at most, of sequences of
    up to `most_positions` positions, in ascending order. Numbers of rows are doubled from one to
    the next."""
    return [
        GraphShape(rows, queries, positions)
        for rows in _grown(ROW_MULTIPLE, min(most_rows, MOST_ROWS), 2)
        for queries in (1, MOST_DECODES)
        for positions in _grown(SPLIT, most_positions, LENGTH_FACTOR)
        if rows * (positions // SPLIT) <= MOST_PARTS
    ]


def _grown(least: int, needed: int, factor: int) -> Iterator[int]:
    """Yield `least` and its products with powers of `factor` that are less than `needed`, and then
    the first multiple of `least` that isn't."""
    size = least
    while size < needed:
        yield size
        size *= factor
    yield -(-needed // least) * least


def choose(
    shapes: Sequence[GraphShape], rows: int, queries: int, positions: int
) -> GraphShape | None:
    """Return the first of `shapes`, in ascending order, that holds a batch; None if none does."""
    return next((shape for shape in shapes if shape.holds(rows, queries, positions)), None)
