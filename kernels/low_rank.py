"""The low-rank updates of products, for rows that have different adapters or none.

`add_low_rank` is the update of one adapter in plain torch, which the engine runs on a CPU, one
adapter after another. `add_grouped` computes by kernels the updates of all adapters of a step for
all modules that are stacked in a product: rows are sorted by adapter and cut into tiles, a first
launch multiplies them by the matrices that reduce them to the rank (shrink), a second by those that
expand them, as in Punica (Chen et al., arXiv:2310.18547) and S-LoRA (Sheng et al.,
arXiv:2311.03285). The inputs of the first product are cut into splits of a fixed length, whose sums
the second launch adds one after another, and it sums over ranks in tiles of a fixed size. So the
order of sums, and with it the bits of a row, depends on its own adapter alone.

The kernels find the matrices by their addresses, which every adapter has in a table on the device,
so that a step ships one address for each of its adapters.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from maskwright.kernels.device import INTERPRETED, await_earlier, jit, tl, upload
from maskwright.kernels.noting import SHIFTED

ROWS: Final = 16
"""Rows in a tile, all of one adapter: the fewest that a product on tensor cores has."""

RANKS: Final = 16
"""Ranks that a program of the first launch computes, and that the second sums up at once."""

SPLIT: Final = 1024
"""Inputs that a program of the first launch sums up."""

INPUTS: Final = 128
"""Inputs of these that are read at once."""

OUTPUTS: Final = 128
"""Outputs that a program of the second launch computes."""

PADDING: Final = 8
"""What ranks are padded to a multiple of: of numbers of two bytes, these are 128 bits."""

MOST_PARTS: Final = 3
"""The most modules in a product: queries, keys and values."""


def add_low_rank(
    out: Tensor, x: Tensor, rows: Tensor, count: int, down: Tensor, up: Tensor
) -> None:
    """Add `x[r] @ down.T @ up.T` to `out[r]`, in place, for the first `count` of `rows`.

    `out`: `[n, outputs]`; `x`: `[n, inputs]`; `rows`: int64, padded to a multiple of
    `ROW_MULTIPLE`, so that the bits of a row don't depend on their number; `down`:
    `[rank, inputs]`; `up`: `[outputs, rank]`.
    """
    added = F.linear(F.linear(x.index_select(0, rows), down), up)
    out.index_add_(0, rows[:count], added[:count])


@dataclass(frozen=True, slots=True)
class MatrixTable:
    """Where the matrices of an adapter lie. `entries`: int64 `[modules, 3]` on the device, with the
    addresses of the matrices `down` and `up` and their rank; a module that the adapter doesn't
    change has three zeros. The table doesn't keep the matrices in memory."""

    entries: Tensor
    most_rank: int


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """The rows of a step that adapters change, sorted by adapter. All tensors are int64, on the
    device, and contiguous.

    - `rows` `[n]`: row numbers of the batch.
    - `tiles` `[tiles, 4]`: the number of an adapter, the first of its rows in `rows` that the tile
      has, how many it has, at most `ROWS`, and 0.
    - `tables` `[adapters]`: the address of each adapter's `MatrixTable.entries`, which the caller
      keeps in memory.
    - `most_rank`: a bound for all ranks.
    """

    rows: Tensor
    tiles: Tensor
    tables: Tensor
    most_rank: int


def pad_rank(down: Tensor, up: Tensor) -> tuple[Tensor, Tensor]:
    """Return matrices of equal product whose rank is a multiple of `PADDING`. The ranks added are
    zeros."""
    missing = -len(down) % PADDING
    return F.pad(down, (0, 0, 0, missing)).contiguous(), F.pad(up, (0, missing)).contiguous()


def matrix_table(
    modules: Sequence[tuple[Tensor, Tensor] | None], device: torch.device
) -> MatrixTable:
    """Return the table of an adapter whose matrices (`down`, `up`), as `pad_rank` returns them, are
    given by module; None is a module that it doesn't change. Raises `ValueError` for others."""
    entries = [[0, 0, 0] for _ in modules]
    for entry, matrices in zip(entries, modules, strict=True):
        if matrices is not None:
            down, up = matrices
            rank = len(down)
            if rank % PADDING or up.shape[1] != rank:
                raise ValueError(f"a rank of {rank} is not padded to a multiple of {PADDING}")
            if not down.is_contiguous() or not up.is_contiguous():
                raise ValueError("the matrices of an adapter must be contiguous")
            entry[:] = down.data_ptr(), up.data_ptr(), rank
    most_rank = max((rank for _, _, rank in entries), default=0)
    return MatrixTable(torch.tensor(entries, dtype=torch.int64).to(device), most_rank)


def group_rows(
    groups: Sequence[tuple[Sequence[int], MatrixTable]], device: torch.device
) -> GroupedRows:
    """Return the rows of each group, which have the adapter of a table, on `device`. No row is in
    two groups."""
    rows: list[int] = []
    tiles: list[int] = []
    for number, (mine, _) in enumerate(groups):
        for begin in range(0, len(mine), ROWS):
            tiles += [number, len(rows) + begin, min(ROWS, len(mine) - begin), 0]
        rows += mine
    columns = ([table.entries.data_ptr() for _, table in groups], tiles, rows)
    moved = upload([torch.tensor(column, dtype=torch.int64) for column in columns], device)
    most_rank = max((table.most_rank for _, table in groups), default=0)
    return GroupedRows(moved[2], moved[1].view(-1, 4), moved[0], most_rank)


@jit
def matrices_of(tables, tiles, module):
    """Return of the tile of this program: where the entry of its adapter for a module begins, the
    rank there, the first of its rows and how many it has."""
    tile = tiles + tl.program_id(0) * 4
    entries = tl.load(tables + tl.load(tile)).to(tl.pointer_type(tl.int64))
    entry = entries + module * 3
    # What `pad_rank` sees to.
    rank = tl.multiple_of(tl.load(entry + 2).to(tl.int32), 8)
    return entry, rank, tl.load(tile + 1), tl.load(tile + 2)


@partial(jit, do_not_specialize=[SHIFTED])
def shrink_kernel(
    x,
    x_stride,
    rows,
    tiles,
    tables,
    module,
    found,
    most_rank,
    WIDTH: tl.constexpr,
    PARTS: tl.constexpr,
    SPLIT: tl.constexpr,
    INPUTS: tl.constexpr,
    ROWS: tl.constexpr,
    RANKS: tl.constexpr,
    UPCAST: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Multiply one tile of rows of `x` (axis 0 of the grid) by `RANKS` rows (axis 1) of the matrix
    `down` of one of `PARTS` modules from number `module` on, over one split of the `WIDTH` inputs
    (axis 2: splits by modules). The sums go to `found`, float32 `[rows, splits, PARTS, most_rank]`.
    `UPCAST`: compute in float32, since the interpreter can't in bfloat16."""
    await_earlier(OVERLAPS)
    SPLITS: tl.constexpr = (WIDTH + SPLIT - 1) // SPLIT
    part, split = tl.program_id(2) % PARTS, tl.program_id(2) // PARTS
    entry, rank, first, count = matrices_of(tables, tiles, module + part)
    if tl.program_id(1) * RANKS < rank:
        down = tl.load(entry).to(tl.pointer_type(x.dtype.element_ty))
        down = tl.multiple_of(down, 16)
        row, each = tl.arange(0, ROWS), tl.program_id(1) * RANKS + tl.arange(0, RANKS)
        real = row < count
        batch_row = tl.load(rows + first + row, mask=real, other=0)
        total = tl.zeros([ROWS, RANKS], tl.float32)
        for begin in range(split * SPLIT, min(split * SPLIT + SPLIT, WIDTH), INPUTS):
            lane = begin + tl.arange(0, INPUTS)
            known = (lane < WIDTH)[None, :]
            place = x + batch_row[:, None] * x_stride + lane[None, :]
            numbers = tl.load(place, mask=real[:, None] & known, other=0)
            place = down + each[:, None] * WIDTH + lane[None, :]
            matrix = tl.load(place, mask=(each < rank)[:, None] & known, other=0)
            if UPCAST:
                numbers, matrix = numbers.to(tl.float32), matrix.to(tl.float32)
            total = tl.dot(numbers, tl.trans(matrix), total, input_precision="ieee")
        place = ((first + row) * SPLITS + split) * PARTS + part
        place = found + place[:, None] * most_rank + each[None, :]
        tl.store(place, total, mask=real[:, None])


@partial(jit, do_not_specialize=[SHIFTED])
def expand_kernel(
    out,
    out_stride,
    rows,
    tiles,
    tables,
    module,
    found,
    most_rank,
    END_0: tl.constexpr,
    END_1: tl.constexpr,
    END_2: tl.constexpr,
    PARTS: tl.constexpr,
    SPLITS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    ROWS: tl.constexpr,
    RANKS: tl.constexpr,
    UPCAST: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Add the update of `OUTPUTS` outputs (axis 1 of the grid) of one of `PARTS` modules (axis 2)
    to one tile of rows (axis 0) of `out`. `END_0`, `END_1`, `END_2`: where the outputs of each
    module end. The rest is as in `shrink_kernel`."""
    await_earlier(OVERLAPS)
    part = tl.program_id(2)
    begin = tl.where(part == 0, 0, tl.where(part == 1, END_0, END_1))
    end = tl.where(part == 0, END_0, tl.where(part == 1, END_1, END_2))
    entry, rank, first, count = matrices_of(tables, tiles, module + part)
    output = tl.program_id(1) * OUTPUTS + tl.arange(0, OUTPUTS)
    if (rank > 0) & (begin + tl.program_id(1) * OUTPUTS < end):
        kind = out.dtype.element_ty
        up = tl.multiple_of(tl.load(entry + 1).to(tl.pointer_type(kind)), 16)
        row = tl.arange(0, ROWS)
        real, known = row < count, begin + output < end
        total = tl.zeros([ROWS, OUTPUTS], tl.float32)
        for tile in range(0, rank, RANKS):
            each = tile + tl.arange(0, RANKS)
            inside = real[:, None] & (each < rank)[None, :]
            place = found + ((first + row) * SPLITS * PARTS + part)[:, None] * most_rank
            shrunk = tl.zeros([ROWS, RANKS], tl.float32)
            for split in range(SPLITS):
                sums = place + split * PARTS * most_rank + each[None, :]
                shrunk += tl.load(sums, mask=inside, other=0)
            shrunk = shrunk.to(kind)
            place = up + output[:, None] * rank + each[None, :]
            matrix = tl.load(place, mask=known[:, None] & (each < rank)[None, :], other=0)
            if UPCAST:
                shrunk, matrix = shrunk.to(tl.float32), matrix.to(tl.float32)
            total = tl.dot(shrunk, tl.trans(matrix), total, input_precision="ieee")
        batch_row = tl.load(rows + first + row, mask=real, other=0)
        place = out + batch_row[:, None] * out_stride + (begin + output)[None, :]
        inside = real[:, None] & known[None, :]
        # The update is rounded before it is added, as a product of its own is.
        total = total.to(kind).to(tl.float32)
        total += tl.load(place, mask=inside, other=0).to(tl.float32)
        tl.store(place, total.to(kind), mask=inside)


def add_grouped(
    out: Tensor, x: Tensor, groups: GroupedRows, module: int, ends: Sequence[int]
) -> None:
    """Add the updates of all adapters in `groups` to their rows of `out`, in place, by kernels.

    `out`: `[n, outputs]`; `x`: `[n, inputs]`, of the type of `out` and of all matrices. The outputs
    are those of at most `MOST_PARTS` modules, from number `module` of the adapters' tables on, and
    `ends` says where those of each end.
    """
    if not len(groups.rows) or not groups.most_rank:
        return
    width, parts = x.shape[1], len(ends)
    splits, tiles = -(-width // SPLIT), len(groups.tiles)
    ranks = -(-groups.most_rank // RANKS)
    shape = len(groups.rows), splits, parts, ranks * RANKS
    found = torch.empty(shape, dtype=torch.float32, device=x.device)
    where = groups.rows, groups.tiles, groups.tables, module, found, ranks * RANKS
    sizes = {"ROWS": ROWS, "RANKS": RANKS, "PARTS": parts}
    sizes["UPCAST"] = INTERPRETED and x.dtype == torch.bfloat16
    shrink_kernel[tiles, ranks, splits * parts](
        *(x, x.stride(0), *where),
        WIDTH=width,
        SPLIT=SPLIT,
        INPUTS=INPUTS,
        **sizes,
        num_warps=4,
        enable_fp_fusion=True,
    )
    widest = max(end - begin for begin, end in zip((0, *ends), ends, strict=False))
    padded = (*ends, *(0,) * (MOST_PARTS - parts))
    expand_kernel[tiles, -(-widest // OUTPUTS), parts](
        *(out, out.stride(0), *where),
        **{f"END_{number}": end for number, end in enumerate(padded)},
        SPLITS=splits,
        OUTPUTS=OUTPUTS,
        **sizes,
        num_warps=4,
        enable_fp_fusion=True,
    )
