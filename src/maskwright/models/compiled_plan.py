"""The positions and blocks that the compiled attention reads in one step, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from maskwright.kernels.reference import Span

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """What the queries of one step read. Row i is at position `positions[i]` of its sequence, whose
    block table begins at `tables[starts[i]]`. All arrays are int64, without padding rows."""

    positions: Ints
    starts: Ints
    tables: Ints


def plan_compiled(spans: Sequence[Span], block_size: int) -> CompiledPlan:
    """Return the plan for the rows of `spans`, one span after another."""
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
