"""Several decode steps in a row, each from the token that the last one drew, without the host.

On a GPU they are replayed (`recorded.py`), or launched kernel by kernel for rows that no recorded
step holds. Where the model's attention is planned on the host, on a CPU, each step is planned anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskwright.engine.on_device.automaton import STOPPED, AheadRow
from maskwright.engine.on_device.recorded import RecordedSteps, ReplayedSteps
from maskwright.engine.on_device.resident import ResidentTables
from maskwright.kernels.device import Download, upload
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.kernels.reference import Span
from maskwright.kernels.sample import sample_rows
from maskwright.kernels.steps.next_rows import IDLE, DecodeRows, advance_rows, move_rows
from maskwright.models import Decoder, ForwardBatch
from maskwright.models.decoder import lay_out as lay_out_batch
from maskwright.models.runs import Run
from maskwright.sampling.device_rows import lay_out


@dataclass(frozen=True, slots=True)
class DrawnAhead:
    """What some steps have drawn for a row: `tokens`, and after them an `error` code in place of a
    token, 0 for none. `rest`: tokens of a forced text that are still to come. `stopped`: later
    steps draw nothing for the row."""

    tokens: list[int]
    error: int = 0
    rest: tuple[int, ...] = ()
    stopped: bool = False

    def then(self, later: DrawnAhead) -> DrawnAhead:
        """Return what these steps and those after them have drawn."""
        return replace(later, tokens=self.tokens + later.tokens, error=self.error or later.error)


class DrawnLater:
    """What steps that have been launched will have drawn for their rows."""

    def __init__(self, rows: Sequence[AheadRow], bases: Sequence[int], found: Tensor) -> None:
        """`found`: int64 `[steps + 1, rows]`, what was drawn, and after that the states."""
        self._rows, self._bases = rows, bases
        self._download = Download(found)

    def read(self) -> list[DrawnAhead]:
        """Wait for it, but for nothing that was launched later."""
        *tokens, states = self._download.read()
        return [
            _drawn(row, list(drawn), state - base)
            for row, base, state, *drawn in zip(
                self._rows, self._bases, states, *tokens, strict=True
            )
        ]


class DecodingRows:
    """Rows that the device decodes, some steps at a time. Each launch begins where the one before
    ends, whose tokens the host need not have read."""

    def __init__(
        self,
        steps: LaunchedSteps | ReplayedSteps,
        rows: Sequence[AheadRow],
        bases: Sequence[int],
        positions: int,
        block_size: int,
    ) -> None:
        """`bases`: where the states of each row's table begin on the device. `positions`: a bound
        on the position that a row computes next."""
        self._steps, self._rows, self._bases = steps, rows, bases
        self._positions, self._block_size = positions, block_size
        self._tables: list[list[int] | None] = [[]] * len(rows)
        """Where each row has found its blocks so far; None for one that was told to stop."""

    @torch.inference_mode()
    def launch(self, count: int, tables: Sequence[Sequence[int] | None]) -> DrawnLater | None:
        """Launch the next `count` steps. `tables`: of each row the blocks for all tokens that it
        can get in them, or None for a row that is to stop, which then neither reads nor writes the
        blocks that it had. Returns None, with nothing done, where the steps can't reach so far."""
        if not self._steps.reach(self._positions + count):
            return None
        self._positions += count
        rows = self._steps.rows
        moved = {
            number: table
            for number, (table, before) in enumerate(zip(tables, self._tables, strict=True))
            if table != before
        }
        for number, table in moved.items():
            self._tables[number] = None if table is None else list(table)
        move_rows(rows, moved, self._block_size)
        size = count + 1, len(rows.states)
        found = torch.empty(size, dtype=torch.int64, device=rows.states.device)
        for number in range(count):
            self._steps.step(found[number])
        found[count].copy_(rows.states)
        return DrawnLater(self._rows, self._bases, found)


def begin_steps(
    decoder: Decoder,
    pool: KvPool,
    tables: ResidentTables,
    runs: Sequence[Run],
    rows: Sequence[AheadRow],
    block_size: int,
    steps: int,
    recorded: RecordedSteps | None = None,
) -> DecodingRows | None:
    """Lay out `rows` for steps in a row, by those `recorded` where there are some for the first
    `steps`. `runs` have one token of each row, in their order. None, with nothing done, if the
    tables of states don't fit on the device together."""
    bases = tables.bases([row.automaton for row in rows])
    if bases is None:
        return None
    states = [base + row.state for base, row in zip(bases, rows, strict=True)]
    own = None if recorded is None else recorded.begin(runs, rows, states, steps)
    if own is None:
        own = LaunchedSteps(decoder, pool, tables, runs, rows, states, block_size)
    return DecodingRows(own, rows, bases, max(run.start for run in runs), block_size)


class LaunchedSteps:
    """Steps that are launched kernel by kernel, over memory of the device where the rows stay from
    step to step. `rows`: as they are after the steps that have been launched."""

    def __init__(
        self,
        decoder: Decoder,
        pool: KvPool,
        tables: ResidentTables,
        runs: Sequence[Run],
        rows: Sequence[AheadRow],
        states: Sequence[int],
        block_size: int,
    ) -> None:
        self._decoder, self._pool, self._tables = decoder, pool, tables
        self._block_size = block_size
        batch = lay_out_batch(runs, block_size, decoder.plan)
        longest = max(run.start + row.left for run, row in zip(runs, rows, strict=True))
        device, most = decoder.device, max(1, *(len(row.last) for row in rows))
        columns = (
            states,
            [row.left for row in rows],
            [[*row.last, *[-1] * (most - len(row.last))] for row in rows],
        )
        plan = batch.attention
        planned = plan.columns if isinstance(plan, DevicePlan) else []
        moved = upload(
            [
                *(batch.tokens, batch.positions, batch.blocks, batch.offsets, batch.select),
                *(torch.tensor(column, dtype=torch.int32) for column in columns),
                *planned,
            ],
            device,
        )
        tokens, positions, homes, offsets, select, state, left, last, *planned = moved
        size = len(rows), longest // block_size + 1
        memory = torch.zeros(size, dtype=torch.int32, device=device)
        if isinstance(plan, DevicePlan):
            plan = plan.with_columns(planned)
            assert plan.decode is not None, "rows of one token each"
            plan = replace(plan, decode=replace(plan.decode, tables=memory))
        masks = tables.next_rows.masks[state.long()]
        self._inputs = lay_out([row.sample for row in rows], tables.masks, masks)
        self._batch = ForwardBatch(tokens, positions, homes, offsets, plan, select, batch.adapters)
        self.rows = DecodeRows(
            *(tokens, positions, homes, offsets),
            tables=memory,
            states=state,
            masks=self._inputs.mask_rows,
            counts=self._inputs.positions,
            left=left,
            last=last,
        )

    def reach(self, positions: int) -> bool:
        """Make ready for steps in which a row has up to so many positions; False if none can."""
        plan = self._batch.attention
        if isinstance(plan, DevicePlan) and plan.decode is not None:
            plan = replace(plan, decode=replace(plan.decode, longest=positions))
            self._batch = replace(self._batch, attention=plan)
        return True

    def step(self, out: Tensor) -> None:
        """Launch one step: forward, draw, and where the drawn tokens lead. `out` int64 `[rows]`
        gets what was drawn, as `advance_rows` says."""
        self._aim()
        logits = self._decoder.forward(self._batch, self._pool)
        drawn = sample_rows(logits[: len(out)], self._inputs).tokens
        advance_rows(self.rows, self._tables.next_rows, drawn, out, self._block_size)

    def _aim(self) -> None:
        """Have the next forward read up to the rows' present positions."""
        plan, count = self._batch.attention, len(self.rows.states)
        positions = self.rows.positions[:count]
        if isinstance(plan, DevicePlan) and plan.decode is not None:
            plan.decode.start.copy_(positions)
            return
        each = zip(positions.tolist(), self.rows.tables.tolist(), strict=True)
        spans = [
            Span(number, start, 1, table[: start // self._block_size + 1])
            for number, (start, table) in enumerate(each)
        ]
        attention = self._decoder.plan(spans, self._block_size)
        self._batch = replace(self._batch, attention=attention)


def _drawn(row: AheadRow, drawn: list[int], state: int) -> DrawnAhead:
    """What was drawn for a row, which has come to `state` of its automaton."""
    tokens = [token for token in drawn if token >= 0]
    codes = [token for token in drawn if token < 0 and token != IDLE]
    stopped = state <= STOPPED
    rest = () if stopped else row.automaton.rests[state]
    return DrawnAhead(tokens, codes[0] if codes else 0, rest, stopped)
