"""What the compiled attention reads in one step: positions and blocks, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from maskwright.kernels.reference import Span

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """What the queries of one step read: row i is at `positions[i]` of the sequence whose blocks
    begin at `starts[i]` in `tables`. All int64; real rows only."""

    positions: Ints
    starts: Ints
    tables: Ints


def plan_compiled(spans: Sequence[Span], block_size: int) -> CompiledPlan:
    """The plan of `spans`, which follow each other row by row."""
    positions: list[int] = []
    starts: list[int] = []
    tables: list[int] = []
    for span in spans:
        positions += range(span.start, span.start + span.count)
        starts += [len(tables)] * span.count
        tables += span.table[: (span.start + span.count - 1) // block_size + 1]
    return CompiledPlan(
        np.array(positions, np.int64),
        np.array(starts, np.int64),
        np.array(tables, np.int64),
    )
