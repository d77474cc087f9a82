"""The step from one drawn token to the next forward, on the device: where the token leads in a
table of states, and everything that the next forward and the next draw read of a row.

A state is a place of a grammar together with what may follow there. The table holds for each state
the number of its mask and, in ascending order of tokens, the moves that don't lead to the default
of the state. So a state from which all digits lead to one place takes one default and a few moves.
The table answers only for tokens that the mask of the state allows.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from maskwright.kernels.device import await_earlier, jit, runs_kernels, tl, upload

STOPPED: Final = -1
"""The state of a row that draws no more before the host has looked at it."""

IDLE: Final = -3
"""Result in place of a token: the row had stopped before. `EMPTY` and `NOT_FINITE` are -1 and
-2."""

ROWS: Final = 32
"""Rows in a program."""

WARPS: Final = 1


@dataclass(frozen=True, slots=True)
class NextRows:
    """The states of a device, int32 and contiguous. States and masks of several grammars share
    one table; targets and masks are numbers in that table.

    - `masks` `[states]`: the number of the state's mask.
    - `needs` `[states]`: the fewest tokens that must be left for the state to hold: with fewer, the
      mask would be another one. At least 1.
    - `others` `[states]`: the state to which allowed tokens lead that have no move; `STOPPED` where
      the host has to look.
    - `begins`, `ends` `[states]`: the moves of the state.
    - `tokens` `[moves]`, in each state ascending; `targets` `[moves]`: a state, or `STOPPED`.
    - `most`: a bound on the number of moves of any state, which the host knows.
    """

    masks: Tensor
    needs: Tensor
    others: Tensor
    begins: Tensor
    ends: Tensor
    tokens: Tensor
    targets: Tensor
    most: int


@dataclass(frozen=True, slots=True)
class DecodeRows:
    """What the steps of `n` decoding rows read and write, contiguous on one device; `advance_rows`
    changes all but `tables` and `last` in place.

    - `tokens`, `positions`: int64 `[n]` or longer, the token that each row computes next and its
      position; what is longer is padding.
    - `blocks`, `offsets`: int64 `[n]`, the slot of its key and value.
    - `tables`: int32 `[n, blocks]`, the blocks of each row in order of position.
    - `states`: int32 `[n]`, whose mask the next draw obeys, or `STOPPED`.
    - `masks`: int32 `[n]`, the number of that mask.
    - `counts`: int32 `[n]`, tokens of the text before the next draw, which is the position of the
      draw's random words.
    - `left`: int32 `[n]`, tokens that the row may still draw.
    - `last`: int32 `[n, most]`, tokens that end the row's answer, filled up with -1.
    """

    tokens: Tensor
    positions: Tensor
    blocks: Tensor
    offsets: Tensor
    tables: Tensor
    states: Tensor
    masks: Tensor
    counts: Tensor
    left: Tensor
    last: Tensor


@jit
def advance_kernel(
    drawn,
    out,
    states,
    masks,
    counts,
    left,
    tokens,
    positions,
    blocks,
    offsets,
    tables,
    width,
    last,
    table_masks,
    table_needs,
    table_others,
    table_begins,
    table_ends,
    move_tokens,
    move_targets,
    rows,
    halvings,
    BLOCK: tl.constexpr,
    LAST: tl.constexpr,
    IDLE: tl.constexpr,
    ROWS: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Advance `ROWS` rows. `width`: blocks in a row of `tables`. `halvings` of a range suffice to
    find a move. `BLOCK`: positions in a block; `LAST`: tokens in a row of `last`."""
    await_earlier(OVERLAPS)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    exists = row < rows
    state = tl.load(states + row, mask=exists, other=-1)
    runs = exists & (state >= 0)
    token = tl.load(drawn + row, mask=runs, other=-1).to(tl.int32)
    tl.store(out + row, tl.where(state >= 0, token, IDLE).to(tl.int64), mask=exists)

    # Find the first move whose token is not below the drawn one.
    low = tl.load(table_begins + state, mask=runs, other=0)
    end = tl.load(table_ends + state, mask=runs, other=0)
    high = end
    for _ in range(halvings):
        middle = (low + high) // 2
        below = tl.load(move_tokens + middle, mask=low < high, other=0) < token
        narrows = low < high
        low = tl.where(narrows & below, middle + 1, low)
        high = tl.where(narrows & (below == 0), middle, high)
    found = low < end
    found = found & (tl.load(move_tokens + low, mask=found, other=-1) == token)
    target = tl.load(table_others + state, mask=runs, other=-1)
    target = tl.where(found, tl.load(move_targets + low, mask=found, other=-1), target)
    for number in range(LAST):
        ending = tl.load(last + row * LAST + number, mask=runs, other=-1)
        target = tl.where(token == ending, -1, target)
    target = tl.where(token >= 0, target, -1)

    rest = tl.load(left + row, mask=runs, other=0) - 1
    target = tl.where(
        rest < tl.load(table_needs + target, mask=runs & (target >= 0), other=1), -1, target
    )
    tl.store(states + row, target, mask=runs)
    goes_on = runs & (target >= 0)
    tl.store(left + row, rest, mask=goes_on)
    tl.store(masks + row, tl.load(table_masks + target, mask=goes_on, other=0), mask=goes_on)
    count = tl.load(counts + row, mask=goes_on, other=0) + 1
    tl.store(counts + row, count, mask=goes_on)
    tl.store(tokens + row, token.to(tl.int64), mask=goes_on)
    position = tl.load(positions + row, mask=goes_on, other=0) + 1
    tl.store(positions + row, position, mask=goes_on)
    column = position // BLOCK
    block = tl.load(tables + row * width + column, mask=goes_on & (column < width), other=0)
    tl.store(blocks + row, block.to(tl.int64), mask=goes_on)
    tl.store(offsets + row, position % BLOCK, mask=goes_on)


def advance_rows(
    rows: DecodeRows, table: NextRows, drawn: Tensor, out: Tensor, block_size: int
) -> None:
    """Advance each row by the token that was drawn for it, in place. `drawn`: int64 `[n]`, a token
    that the row's mask allows, or a negative number in place of one. `out`: int64 `[n]`, which gets
    what was drawn, or `IDLE` for a row that had stopped before.

    A row stops, and changes no more but for its state, after a token that ends its answer, one that
    leads to no state of the table, or one after which too few tokens are left for the mask there. A
    stopped row that takes part in further forwards computes its last token once more.
    """
    if not runs_kernels(drawn):
        advance_twin(rows, table, drawn, out, block_size)
        return
    count = len(rows.states)
    advance_kernel[-(-count // ROWS),](
        *(drawn, out, rows.states, rows.masks, rows.counts, rows.left),
        *(rows.tokens, rows.positions, rows.blocks, rows.offsets),
        *(rows.tables, rows.tables.shape[1], rows.last),
        *(table.masks, table.needs, table.others, table.begins, table.ends),
        *(table.tokens, table.targets),
        count,
        table.most.bit_length(),
        BLOCK=block_size,
        LAST=rows.last.shape[1],
        IDLE=IDLE,
        ROWS=ROWS,
        num_warps=WARPS,
        enable_fp_fusion=False,
    )


def move_rows(
    rows: DecodeRows, tables: Mapping[int, Sequence[int] | None], block_size: int
) -> None:
    """Have some rows, by their numbers, find their keys and values in the blocks of `tables` from
    now on, in place. A row that has None there stops: it computes its last token again, at position
    0 of block 0, which nobody reads."""
    if not tables:
        return
    each = [table or () for table in tables.values()]
    width = min(rows.tables.shape[1], max(1, *map(len, each)))
    numbers, goes_on, moved = upload(
        [
            torch.tensor(list(tables), dtype=torch.int64),
            torch.tensor([table is not None for table in tables.values()], dtype=torch.int32),
            torch.tensor(
                [[*one[:width], *[0] * (width - len(one))] for one in each], dtype=torch.int32
            ),
        ],
        rows.states.device,
    )
    goes_on = goes_on > 0
    rows.tables[:, :width].index_copy_(0, numbers, moved)
    positions = rows.positions[numbers].where(goes_on, 0)
    column = (positions // block_size).clamp(max=rows.tables.shape[1] - 1)
    blocks = rows.tables[numbers].gather(1, column[:, None].long())[:, 0]
    for buffer, values in (
        (rows.positions, positions),
        (rows.blocks, blocks),
        (rows.offsets, positions % block_size),
        (rows.states, rows.states[numbers].where(goes_on, STOPPED)),
    ):
        buffer.index_copy_(0, numbers, values.to(buffer.dtype))


def advance_twin(
    rows: DecodeRows, table: NextRows, drawn: Tensor, out: Tensor, block_size: int
) -> None:
    """Do in plain torch what `advance_rows` does."""
    runs = rows.states >= 0
    out.copy_(drawn.where(runs, IDLE))
    state = rows.states.clamp(min=0).long()
    target = _targets(table, state, drawn.to(torch.int32))
    target[(rows.last == drawn[:, None]).any(1) | (drawn < 0)] = STOPPED
    rest = rows.left - 1
    target[rest < table.needs[target.clamp(min=0).long()]] = STOPPED
    goes_on = runs & (target >= 0)
    rows.states.copy_(target.where(runs, rows.states))

    target = target.clamp(min=0).long()
    count = len(rows.states)
    position = rows.positions[:count] + 1
    column = (position // block_size).clamp(max=rows.tables.shape[1] - 1)
    for buffer, value in (
        (rows.left, rest),
        (rows.masks, table.masks[target]),
        (rows.counts, rows.counts + 1),
        (rows.tokens[:count], drawn),
        (rows.positions[:count], position),
        (rows.blocks, rows.tables.gather(1, column[:, None])[:, 0].long()),
        (rows.offsets, position % block_size),
    ):
        buffer.copy_(value.where(goes_on, buffer))


def _targets(table: NextRows, states: Tensor, tokens: Tensor) -> Tensor:
    """Where `tokens` int32 `[n]` lead from `states` int64 `[n]`: int32 `[n]`."""
    if not table.most:
        return table.others[states]
    low, end = table.begins[states].long(), table.ends[states].long()
    high, final = end.clone(), len(table.tokens) - 1
    for _ in range(table.most.bit_length()):
        middle = (low + high) // 2
        narrows = low < high
        below = table.tokens[middle.clamp(max=final)] < tokens
        low = torch.where(narrows & below, middle + 1, low)
        high = torch.where(narrows & ~below, middle, high)
    at = low.clamp(max=final)
    found = (low < end) & (table.tokens[at] == tokens)
    return torch.where(found, table.targets[at], table.others[states])
