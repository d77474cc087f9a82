"""Reading memory, and nothing else: the ceiling of what has to read."""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from typing import Final

from torch import Tensor

from maskwright.kernels.device import jit, runs_kernels, tl

TILE: Final = 4096
"""Numbers that a program reads at once: with eight warps, four times 16 bytes a thread."""
TILES: Final = 16
"""How many times it does: enough to have reads under way all the time."""
_WARPS: Final = 8


@jit
def read_kernel(numbers, sums, TILES: tl.constexpr, TILE: tl.constexpr):
    """Each program reads `TILES` tiles of `TILE` numbers, and writes their sum."""
    program = tl.program_id(0)
    at = numbers + program.to(tl.int64) * (TILES * TILE) + tl.arange(0, TILE)
    total = tl.zeros([TILE], tl.int32)
    for tile in range(TILES):
        total += tl.load(at + tile * TILE)
    tl.store(sums + program, tl.sum(total))


def read_all(numbers: Tensor, sums: Tensor) -> None:
    """Read `numbers` (int32), and write the sum of each of `len(sums)` equal parts of them to
    `sums` (int32). Both lengths are powers of two."""
    if not runs_kernels(numbers):
        sums.copy_(numbers.view(len(sums), -1).sum(-1))
        return
    part = len(numbers) // len(sums)
    tile = min(TILE, part)
    read_kernel[(len(sums),)](numbers, sums, TILES=part // tile, TILE=tile, num_warps=_WARPS)
