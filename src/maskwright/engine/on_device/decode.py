"""Several decode steps in a row, each from the token that the last one drew, without the host.

On a GPU they are replayed (`recorded.py`), or launched kernel by kernel for rows that no recorded
step holds. Where the model's attention is planned on the host, on a
CPU, each step is planned anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskwright.engine.on_device.automaton import STOPPED, AheadRow
from maskwright.engine.on_device.recorded import RecordedSteps
from maskwright.engine.on_device.resident import ResidentTables
from maskwright.kernels.device import upload
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.kernels.reference import Span
from maskwright.kernels.sample import sample_rows
from maskwright.kernels.sample_inputs import SampleInputs
from maskwright.kernels.steps.next_rows import IDLE, DecodeRows, advance_rows
from maskwright.models import Decoder, ForwardBatch
from maskwright.models.batch import Plan
from maskwright.models.batch import lay_out as lay_out_batch
from maskwright.models.runs import Run
from maskwright.sampling.device_rows import lay_out


@dataclass(frozen=True, slots=True)
class DrawnAhead:
    """What the steps have drawn for a row: `tokens`, and after them an `error` code in place of a
    token, 0 for none. `rest`: tokens of a forced text that are still to come."""

    tokens: list[int]
    error: int = 0
    rest: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Buffers:
    """What the steps of one call read and write."""

    batch: ForwardBatch
    rows: DecodeRows
    inputs: SampleInputs
    spans: tuple[Span, ...]
    """Of each row; their starts change."""


def decode_ahead(
    decoder: Decoder,
    pool: KvPool,
    tables: ResidentTables,
    runs: Sequence[Run],
    rows: Sequence[AheadRow],
    block_size: int,
    steps: int,
    recorded: RecordedSteps | None = None,
) -> list[DrawnAhead] | None:
    """Compute `steps` steps of `rows` in a row, by those `recorded` where there are some. `runs`
    have one token of each row, in their order, with the blocks for all tokens that a row can get.
    None, with nothing done, if the tables of states don't fit on the device together."""
    bases = tables.bases([row.automaton for row in rows])
    if bases is None:
        return None
    states = [base + row.state for base, row in zip(bases, rows, strict=True)]
    found = None if recorded is None else recorded.run(runs, rows, states, steps)
    if found is None:
        batch = lay_out_batch(runs, block_size, decoder.plan)
        buffers = _lay_out(decoder, tables, batch, rows, states, block_size, steps)
        found = torch.empty(steps + 1, len(rows), dtype=torch.int64, device=decoder.device)
        for number in range(steps):
            _step(decoder, pool, tables, buffers, found[number], block_size)
        found[steps].copy_(buffers.rows.states)
    # One copy from the device for all results.
    return [
        _drawn(row, tokens, state - base)
        for row, base, (*tokens, state) in zip(rows, bases, found.t().tolist(), strict=True)
    ]


def _step(
    decoder: Decoder,
    pool: KvPool,
    tables: ResidentTables,
    buffers: _Buffers,
    out: Tensor,
    block_size: int,
) -> None:
    """One step: forward, draw, and where the drawn tokens lead."""
    batch = replace(buffers.batch, attention=_attention(decoder, buffers, block_size))
    logits = decoder.forward(batch, pool)
    drawn = sample_rows(logits[: len(buffers.rows.states)], buffers.inputs).tokens
    advance_rows(buffers.rows, tables.next_rows, drawn, out, block_size)


def _attention(decoder: Decoder, buffers: _Buffers, block_size: int) -> Plan:
    """What the next forward reads, at the rows' present positions."""
    plan, positions = buffers.batch.attention, buffers.rows.positions[: len(buffers.spans)]
    if isinstance(plan, DevicePlan):
        assert plan.decode is not None, "rows of one token each"
        plan.decode.start.copy_(positions)
        return plan
    spans = zip(buffers.spans, positions.tolist(), strict=True)
    return decoder.plan([replace(span, start=start) for span, start in spans], block_size)


def _lay_out(
    decoder: Decoder,
    tables: ResidentTables,
    batch: ForwardBatch,
    rows: Sequence[AheadRow],
    states: list[int],
    block_size: int,
    steps: int,
) -> _Buffers:
    """The buffers of `rows`, whose states on the device are `states`."""
    device = decoder.device
    next_rows = tables.next_rows
    blocks = max(len(row.table) for row in rows)
    most = max(1, *(len(row.last) for row in rows))
    plan = batch.attention
    planned = plan.columns if isinstance(plan, DevicePlan) else []
    columns = (
        states,
        [row.left for row in rows],
        [[*row.last, *[-1] * (most - len(row.last))] for row in rows],
        [[*row.table, *_padding(row, blocks)] for row in rows],
    )
    moved = upload(
        [
            *(batch.tokens, batch.positions, batch.blocks, batch.offsets, batch.select),
            *(torch.tensor(column, dtype=torch.int32) for column in columns),
            *planned,
        ],
        device,
    )
    tokens, positions, homes, offsets, select, state, left, last, row_tables, *planned = moved
    if isinstance(plan, DevicePlan):
        plan = plan.with_columns(planned)
    masks = next_rows.masks[state.long()]
    inputs = lay_out([row.sample for row in rows], tables.masks, masks)
    decode_rows = DecodeRows(
        *(tokens, positions, homes, offsets),
        tables=row_tables,
        states=state,
        masks=inputs.mask_rows,
        counts=inputs.positions,
        left=left,
        last=last,
    )
    starts = batch.positions.tolist()
    spans = (Span(number, starts[number], 1, row.table) for number, row in enumerate(rows))
    return _Buffers(
        ForwardBatch(
            *(tokens, positions, homes, offsets, _lengthened(plan, steps)),
            *(select, batch.adapters),
        ),
        decode_rows,
        inputs,
        tuple(spans),
    )


def _padding(row: AheadRow, blocks: int) -> list[int]:
    return [0] * (blocks - len(row.table))


def _lengthened(plan: Plan, steps: int) -> Plan:
    """The plan with room for so many more positions."""
    if not isinstance(plan, DevicePlan) or plan.decode is None:
        return plan
    longest = plan.decode.longest + steps
    return replace(plan, decode=replace(plan.decode, longest=longest))


def _drawn(row: AheadRow, drawn: list[int], state: int) -> DrawnAhead:
    """What was drawn for a row, which has come to `state` of its automaton."""
    tokens = [token for token in drawn if token >= 0]
    codes = [token for token in drawn if token < 0 and token != IDLE]
    rest = row.automaton.rests[state] if state > STOPPED else ()
    return DrawnAhead(tokens, codes[0] if codes else 0, rest)
