"""Decode steps that run in a row as recorded graphs: forward, draw and next state of each row.

A step reads and writes memory that never moves, so it is recorded once for each shape, when rows
first need it, and replayed for every step in a row: the host launches it as a whole, and waits for
nothing in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial

import torch
from torch import Tensor

from maskwright.engine.on_device.automaton import MOST_LAST, STOPPED, AheadRow
from maskwright.engine.on_device.resident import ResidentTables
from maskwright.immutable import Immutable
from maskwright.kernels.device import upload
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_attention import Sequences
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.kernels.sample import sample_rows
from maskwright.kernels.sample_inputs import SampleInputs
from maskwright.kernels.steps.next_rows import DecodeRows, advance_rows
from maskwright.models import Decoder, ForwardBatch
from maskwright.models.graphs import (
    GraphShape,
    Recorder,
    Recordings,
    StepBuffers,
    choose,
    graph_shapes,
)
from maskwright.models.runs import Run, step_rows
from maskwright.sampling import SampleRow, SamplingParams
from maskwright.sampling.device_rows import lay_out


class RecordedSteps:
    """The steps of a decoder over `pool` that are recorded by `recorder`, of up to `most_rows` rows
    with up to `most_positions` positions each. `spare`: a block of the pool that no sequence ever
    has. `logits`: memory for logits of as many rows, which other recorded steps may use too.
    `replayed` counts steps."""

    def __init__(
        self,
        decoder: Decoder,
        pool: KvPool,
        tables: ResidentTables,
        recorder: Recorder,
        logits: Tensor,
        *,
        spare: int,
        most_rows: int,
        most_positions: int,
    ) -> None:
        self.replayed = 0
        self._decoder, self._pool = decoder, pool
        self._tables, self._logits = tables, logits
        self._block_size = pool.data.shape[3]
        shapes = graph_shapes(most_rows, most_positions)
        shapes = [shape for shape in shapes if shape.queries == 1]
        device, rows = decoder.device, shapes[-1].rows
        self._buffers = StepBuffers(shapes, self._block_size, spare, device)
        nothing = SampleRow(SamplingParams(temperature=0), (0,), 1, 0)
        numbers = torch.zeros(rows, dtype=torch.int32)
        self._inputs = lay_out([nothing] * rows, tables.masks, numbers)
        stopped = torch.full((rows,), STOPPED, dtype=torch.int32)
        self._states, self._left, self._last = upload(
            [stopped, numbers, stopped[:, None].repeat(1, MOST_LAST)], device
        )
        self._drawn = torch.zeros(rows, dtype=torch.int64, device=device)
        self._recordings = Recordings(recorder, shapes, self._step, "Steps in a row")

    @torch.inference_mode()
    def launch(self) -> None:
        """Launch a step without rows, kernel by kernel."""
        shape = self._recordings.shapes[0]
        self._empty(shape)
        self._step(shape)()

    def _empty(self, shape: GraphShape) -> None:
        """Lay out no rows."""
        self._buffers.fill(shape, step_rows([], self._block_size))
        self._states.fill_(STOPPED)

    def _step(self, shape: GraphShape) -> Callable[[], None]:
        """Return one step of a shape, over the memory that it reads and writes."""
        rows = shape.rows
        batch, sequences = self._batch(shape)
        decode_rows, inputs = self._rows(shape, rows), _rows_of(self._inputs, rows)
        # Later tables may have more moves than the present ones.
        table = self._tables.next_rows
        table = replace(table, most=len(table.tokens))

        def step() -> None:
            sequences.start.copy_(batch.positions)
            logits = self._decoder.forward(batch, self._pool, out=self._logits[:rows])
            drawn = sample_rows(logits, inputs).tokens
            advance_rows(decode_rows, table, drawn, self._drawn[:rows], self._block_size)

        return step

    def _batch(self, shape: GraphShape) -> tuple[ForwardBatch, Sequences]:
        """Return the batch of a shape, and its sequences."""
        batch = self._buffers.batch(shape)
        assert isinstance(batch.attention, DevicePlan)
        assert batch.attention.decode is not None
        return batch, batch.attention.decode

    def _rows(self, shape: GraphShape, count: int) -> DecodeRows:
        """Return the first rows of a shape."""
        batch, sequences = self._batch(shape)
        inputs = _rows_of(self._inputs, count)
        return DecodeRows(
            *(batch.tokens[:count], batch.positions[:count]),
            *(batch.blocks[:count], batch.offsets[:count]),
            tables=sequences.tables[:count],
            states=self._states[:count],
            masks=inputs.mask_rows,
            counts=inputs.positions,
            left=self._left[:count],
            last=self._last[:count],
        )

    def begin(
        self, runs: Sequence[Run], rows: Sequence[AheadRow], states: Sequence[int], steps: int
    ) -> ReplayedSteps | None:
        """Lay out `rows`, whose tokens are `runs` and whose states on the device are `states`. None
        if no recorded step holds them in all of the next `steps` steps. The memory is that of the
        rows that were laid out before."""
        if any(run.adapter is not None for run in runs):
            return None
        longest = max(run.start for run in runs) + steps
        shape = choose(self._recordings.shapes, len(runs), 1, longest)
        if shape is None:
            return None
        if shape not in self._recordings:
            self._empty(shape)
            if not self._recordings.do(shape):
                return None
        self._buffers.fill(shape, step_rows(runs, self._block_size))
        self._fill(shape.rows, rows, states)
        own = self._rows(shape, len(rows))
        return ReplayedSteps(own, shape.positions, partial(self._replay, shape))

    def _replay(self, shape: GraphShape, out: Tensor) -> None:
        self._recordings.do(shape)
        out.copy_(self._drawn[: len(out)])
        self.replayed += 1

    def _fill(self, size: int, rows: Sequence[AheadRow], states: Sequence[int]) -> None:
        """Write what the draws and the tables of states need of `rows`, and stop the places up to
        `size` that have none."""
        places = size - len(rows)
        columns = (
            [*states, *[STOPPED] * places],
            [row.left for row in rows],
            [[*row.last, *[-1] * (MOST_LAST - len(row.last))] for row in rows],
        )
        moved = upload(
            [torch.tensor(column, dtype=torch.int32) for column in columns], self._decoder.device
        )
        for memory, column in zip((self._states, self._left, self._last), moved, strict=True):
            memory[: len(column)].copy_(column)
        masks = self._tables.next_rows.masks[moved[0][: len(rows)].long()]
        fresh = lay_out([row.sample for row in rows], self._tables.masks, masks)
        assert fresh.listed is None, "parameters that are steady list no tokens"
        for name in _COLUMNS:
            getattr(self._inputs, name)[: len(rows)].copy_(getattr(fresh, name))


class ReplayedSteps(Immutable):
    """Steps that are replayed, of `rows` with up to `positions` positions; see `LaunchedSteps` in
    `decode.py`."""

    rows: DecodeRows
    positions: int
    step: Callable[[Tensor], None]

    def reach(self, positions: int) -> bool:
        return positions <= self.positions


_COLUMNS = [field.name for field in fields(SampleInputs) if field.name not in ("table", "listed")]


def _rows_of(inputs: SampleInputs, rows: int) -> SampleInputs:
    """Return the first rows of `inputs`, in the same memory."""
    return replace(inputs, **{name: getattr(inputs, name)[:rows] for name in _COLUMNS})
