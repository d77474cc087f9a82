"""The rows of one step as numbers: what each computes, and where its key and value are."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwright.kernels.reference import Span
from maskwright.models.adapter import Adapter

Ints = NDArray[np.int64]

class Run:
    """Consecutive tokens of one sequence, from position `start` on. `table` lists the sequence's
    blocks in order of position. Logits are computed for the last `rows` tokens, with `adapter`."""

    tokens: list[int]
    start: int
    table: list[int]
    rows: int
    adapter: Adapter | None

    def __init__(
        self,
        tokens: Iterable[int],
        start: int,
        table: Iterable[int],
        rows: int,
        adapter: Adapter | None = None,
    ) -> None: ...

class StepRows(NamedTuple):
    """The rows of one step, `n` of them, with zeros after them as padding. All arrays are int64.

    - `tokens`, `positions`: [r], for `r` rows with the padding.
    - `blocks`, `offsets`: [n], the pool slot of each row's key and value.
    - `select`: [s], the rows whose logits are computed; the first `selected` are real.
    - `spans`: the rows of each run.
    """

    tokens: Ints
    positions: Ints
    blocks: Ints
    offsets: Ints
    select: Ints
    selected: int
    spans: list[Span]

class CompiledPlan(NamedTuple):
    """What the queries of one step read in compiled attention. Row i is at position `positions[i]`
    of its sequence, whose block table begins at `tables[starts[i]]`. All arrays are int64, without
    padding rows."""

    positions: Ints
    starts: Ints
    tables: Ints

def step_rows(runs: Sequence[Run], block_size: int) -> StepRows:
    """Return the rows of `runs`, in their order, padded to multiples of `ROW_MULTIPLE`. Raises
    `IndexError` if the blocks of a run end before its tokens."""

def plan_compiled(spans: Sequence[Span], block_size: int) -> CompiledPlan:
    """Return the plan for the rows of `spans`, one span after another. Raises `IndexError` if the
    blocks of a span end before its rows."""
