"""Decode steps that are recorded once and replayed: CUDA graphs.

Launching the kernels of a small step takes the host longer than they run. A recorded step is
launched as a whole. It reads its rows from memory that never moves, so a step is recorded for each
of a few *shapes*, and a batch runs in the smallest shape that holds it. A shape fixes what a launch
depends on besides the contents of memory: the number of rows, the most queries of a sequence, and
the most positions that one may have. It is recorded when a batch first needs it, by the step of
this batch, which takes about twice as long as launching it would.

A step's rows, sequences and tables are int32 numbers in one piece of memory on the device, which
the host fills in one copy. Columns of a shape follow each other from its beginning on, so that a
small shape is a small copy.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
from torch import Tensor

from maskwright.kernels.device import new_logits, staging
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_attention import MOST_DECODES, SPLIT, Sequences
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.kernels.reference import ROW_MULTIPLE
from maskwright.models.decoder import Decoder, ForwardBatch
from maskwright.models.runs import Run, StepRows, step_rows

MOST_ROWS: Final = 256
"""The most rows of a recorded step. Beyond that, kernels run longer than launching them takes."""

LENGTH_FACTOR: Final = 4
"""The ratio of the most positions of one shape to the next smaller one's. Attention launches
programs for all positions, and programs that find nothing to read end at once."""

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


class Recorder:
    """Records functions that read nothing back to the host as CUDA graphs on `device`. These share
    the memory of what they compute in between, so only what a function writes to memory that was
    there before remains."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._memory = torch.cuda.graph_pool_handle()

    def record(self, function: Callable[[], object]) -> Callable[[], object]:
        """Do what `function` does, once, and return a function that does it again, to the memory
        that `function` used. Other threads may use the GPU meanwhile. Raises `RuntimeError` for
        what can't be recorded. `function` is called twice: the first time it runs, and libraries
        load their kernels and get their memory, which they must not do while it is recorded."""
        with torch.cuda.device(self._device):
            self._stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._stream):
                function()
            torch.cuda.current_stream().wait_stream(self._stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(
                graph, self._memory, self._stream, capture_error_mode="thread_local"
            ):
                function()
        return graph.replay


def find_recorder(device: torch.device) -> Recorder | None:
    """Return what records functions on a device; None for one that isn't a GPU."""
    return Recorder(device) if device.type == "cuda" else None


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
            # A table may have blocks for more positions, which the step doesn't reach.
            table = span.table[: tables.shape[1]]
            tables[place, : len(table)] = table
        self._memory[: len(host)].copy_(host, non_blocking=True)

    def _views(self, memory: Tensor, shape: GraphShape) -> tuple[Tensor, Tensor]:
        """Return the columns `[COLUMNS, rows]` and the tables `[rows, blocks]` in `memory`."""
        end = COLUMNS * shape.rows
        columns = memory[:end].view(COLUMNS, shape.rows)
        return columns, memory[end : self._size(shape)].view(shape.rows, self._blocks(shape))

    def _blocks(self, shape: GraphShape) -> int:
        """Return how many blocks the table of a sequence has, for all its positions."""
        return shape.positions // self._block_size

    def _size(self, shape: GraphShape) -> int:
        return shape.rows * (COLUMNS + self._blocks(shape))


log = logging.getLogger(__name__)


class Recordings:
    """Steps of `shapes`, in ascending order, of which `recorder` records each when it is first
    done. `step` returns the step of a shape, and `name` says in the log what they are."""

    def __init__(
        self,
        recorder: Recorder,
        shapes: Sequence[GraphShape],
        step: Callable[[GraphShape], Callable[[], object]],
        name: str,
    ) -> None:
        self.shapes: Sequence[GraphShape] = shapes
        """Those that can be done: none any more if one couldn't be recorded."""
        self._recorder, self._step, self._name = recorder, step, name
        self._replays: dict[GraphShape, Callable[[], object]] = {}

    def do(self, shape: GraphShape) -> bool:
        """Do the step of a shape, once. False if it can't be recorded, which is logged; it may have
        been done then."""
        replay = self._replays.get(shape)
        if replay is None:
            try:
                self._replays[shape] = self._recorder.record(self._step(shape))
            except RuntimeError as error:
                log.warning("%s can't be recorded (%s); they take longer.", self._name, error)
                self.shapes, self._replays = [], {}
                return False
        else:
            replay()
        return True

    def __contains__(self, shape: GraphShape) -> bool:
        """Whether the step of a shape is recorded."""
        return shape in self._replays


class DecodeGraphs:
    """The steps of a decoder over `pool` that are recorded by `recorder`: up to `most_rows` rows of
    sequences of up to `most_positions` positions. `spare`: a block of the pool that no sequence
    ever has. `replayed` counts the steps that were not launched kernel by kernel, but for recording
    them."""

    def __init__(
        self,
        decoder: Decoder,
        pool: KvPool,
        recorder: Recorder,
        *,
        spare: int,
        most_rows: int,
        most_positions: int,
    ) -> None:
        self.replayed = 0
        self._decoder = decoder
        self._pool = pool
        self._block_size = pool.data.shape[3]
        shapes = graph_shapes(most_rows, most_positions)
        device, rows = decoder.device, shapes[-1].rows
        self._buffers = StepBuffers(shapes, self._block_size, spare, device)
        self.logits = new_logits(rows, decoder.vocab_size, device)
        """Those of the last recorded step."""
        self._recordings = Recordings(recorder, shapes, self._step, "Decode steps")

    @property
    def shapes(self) -> Sequence[GraphShape]:
        """The shapes of steps, in ascending order; none if they can't be recorded."""
        return self._recordings.shapes

    @torch.inference_mode()
    def record_largest(self) -> None:
        """Record the largest step, without rows: the others use its memory too, and it shows
        whether steps can be recorded."""
        shape = self.shapes[-1]
        self._buffers.fill(shape, step_rows([], self._block_size))
        self._recordings.do(shape)

    @torch.inference_mode()
    def launch(self) -> None:
        """Launch the steps of all shapes, without rows, kernel by kernel."""
        for shape in self.shapes:
            self._buffers.fill(shape, step_rows([], self._block_size))
            self._step(shape)()

    def _step(self, shape: GraphShape) -> Callable[[], object]:
        """Return the step of a shape, over the memory that it reads and writes."""
        out = self.logits[: shape.rows]
        return partial(self._decoder.forward, self._buffers.batch(shape), self._pool, out=out)

    @torch.inference_mode()
    def forward(self, runs: Sequence[Run]) -> Tensor | None:
        """Compute what `Decoder.forward` does for the batch of `runs` (see `lay_out`) by a recorded
        step; None if there is none for it: with adapters, pieces of prompts, or more rows or
        positions than any shape holds. The logits are overwritten by the next call."""
        if any(run.adapter is not None for run in runs):
            return None
        shape = choose(
            self.shapes,
            sum(len(run.tokens) for run in runs),
            max(len(run.tokens) for run in runs),
            max(run.start + len(run.tokens) for run in runs),
        )
        if shape is None:
            return None
        step = step_rows(runs, self._block_size)
        self._buffers.fill(shape, step)
        if not self._recordings.do(shape):
            return None
        self.replayed += 1
        return self.logits[: len(step.select)]
