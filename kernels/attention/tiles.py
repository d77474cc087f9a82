"""How much of attention a program of `paged_attention.py` computes, by the width of a head.

The sums of values fill a program's registers: wider heads have fewer rows, smaller tiles or more
warps. The figures are those with which no program spills, on any of the targets of
`benchmarks/gpu/static.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LEAST_ROWS: Final = 16
"""The fewest rows of a matrix product on tensor cores."""

MOST_ROWS: Final = 128
"""The most rows of a program of `paged_prefill`, unless more heads share a head of keys."""

TILE: Final = 64
"""Key positions that are read at once."""

NARROW: Final = 128
"""The widest heads, in a power of two, of which `paged_prefill` has `MOST_ROWS` rows on every
GPU."""

ROOMY: Final = 9
"""The generation of GPUs on which `paged_prefill` has `MOST_ROWS` rows of heads of up to `WIDE`
numbers too: their tensor cores take the right factor of a product from shared memory, and need no
registers for it. Over codes and on the next generation some of these programs spill."""

WIDE: Final = 256
"""The widest heads, in a power of two, that are decoded by four warps with whole tiles."""

TOO_MANY_SUMS: Final = 128 * 256
"""With so many sums or more, of rows times the width of a head, a program of `paged_decode` would
spill."""

FLOAT32_TILE: Final = 16
"""Key positions that are read at once in float32, whose products have no tensor cores: they are
sums of single numbers, which take more registers."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """`rows` of a program, query tokens times the heads that share a head of keys; key positions of
    a `tile`; `warps`; `bulk` and `apart`: see `attend_kernel`."""

    rows: int
    tile: int
    warps: int
    bulk: bool
    apart: bool


@dataclass(frozen=True, slots=True)
class Kind:
    """What is computed: heads of `width` numbers, in float32 or in a type of two bytes; `codes`:
    keys and values become numbers first, which takes registers too. `generation`: of the GPU, see
    `generation_of`."""

    width: int
    float32: bool
    codes: bool
    generation: int = 8


def decode_tiles(kind: Kind, queries: int) -> Tiles:
    """Return what a program of `paged_decode` has. `queries`: of a sequence, times the heads that
    share a head of keys."""
    width = power_of_two(kind.width)
    rows = max(LEAST_ROWS, power_of_two(queries))
    narrow = width <= WIDE and rows * width <= MOST_ROWS * NARROW
    few = LEAST_ROWS * NARROW if kind.codes else MOST_ROWS * NARROW - 1
    many = kind.float32 or width > WIDE or rows * width > few
    few_sums = rows <= 2 * LEAST_ROWS and _has_small_tiles(kind)
    warps = 8 if many and not few_sums else 4
    return Tiles(rows, _tile(kind, narrow), warps, bulk=False, apart=True)


def decodes_at_once(kind: Kind, queries: int) -> bool:
    """Whether one program can have all `queries` of a sequence, times the heads that share a head
    of keys, without spilling."""
    return power_of_two(queries) * power_of_two(kind.width) < TOO_MANY_SUMS


def prefill_tiles(kind: Kind, group: int) -> Tiles:
    """Return what a program of `paged_prefill` has. `group`: heads that share a head of keys."""
    width = power_of_two(kind.width)
    roomy = kind.generation == ROOMY and not kind.codes and width <= WIDE
    widest = WIDE if roomy else NARROW
    rows = MOST_ROWS * widest // max(width, widest)
    if kind.float32:
        rows = LEAST_ROWS
    rows = max(LEAST_ROWS, rows, power_of_two(group))
    # Of codes, half a tile is an access of 128 bits for each thread already.
    whole = width < NARROW if kind.codes else width <= NARROW
    # On sm_80, 8 warps spill here: its compiler gives each thread 64 registers.
    eldest = kind.generation < ROOMY and kind.float32 and not kind.codes and kind.width == WIDE
    warps = 4 if eldest or _has_small_tiles(kind) else 8
    bulk = not kind.float32 and not kind.codes
    return Tiles(rows, _tile(kind, whole), warps, bulk=bulk, apart=False)


def _has_small_tiles(kind: Kind) -> bool:
    """Whether a tile has too few bytes for an access of 128 bits in each thread of eight warps."""
    return kind.float32 and kind.codes and kind.width <= NARROW


def _tile(kind: Kind, whole: bool) -> int:
    if kind.float32:
        return FLOAT32_TILE
    return TILE if whole else max(LEAST_ROWS, TILE // 2)


def power_of_two(number: int) -> int:
    """Return the least power of two that is at least `number`."""
    return 1 << (number - 1).bit_length()
