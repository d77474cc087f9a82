"""From drawn tokens to the next forward on a GPU: rows that follow tables of states."""

from __future__ import annotations

from functools import partial
from typing import Final

import torch
from torch import Tensor

from benchmarks.gpu.timing import Bench
from maskwright.kernels.steps.next_rows import DecodeRows, NextRows, advance_rows

BLOCK: Final = 16
VOCAB: Final = 128_256
MOVES: Final = 1000
"""The most moves of a state."""


def table_of(bench: Bench, states: int, moves: int = MOVES, vocab: int = VOCAB) -> NextRows:
    """Return a table of random states, each with up to `moves` moves. One of eight states and moves
    leads to where the host has to look."""
    generator = torch.Generator().manual_seed(states)

    def numbers(low: int, high: int, count: int) -> Tensor:
        return torch.randint(low, high, (count,), generator=generator, dtype=torch.int32)

    def targets(count: int) -> Tensor:
        return torch.where(numbers(0, 8, count) == 0, -1, numbers(0, states, count))

    counts = numbers(0, moves + 1, states)
    ends = counts.cumsum(0, dtype=torch.int32)
    tokens = [
        torch.randperm(vocab, generator=generator)[:count].sort().values.int()
        for count in counts.tolist()
    ]
    columns = (
        *(numbers(0, 64, states), numbers(1, 4, states), targets(states), ends - counts, ends),
        *(torch.cat(tokens), targets(int(ends[-1]))),
    )
    return NextRows(*(column.to(bench.device) for column in columns), most=moves)


def rows_of(bench: Bench, count: int, states: int, vocab: int = VOCAB) -> DecodeRows:
    """Return `count` rows at random states, of sequences of up to 64 blocks."""
    generator = torch.Generator().manual_seed(count)

    def numbers(high: int, *shape: int) -> Tensor:
        drawn = torch.randint(0, high, shape, generator=generator, dtype=torch.int32)
        return drawn.to(bench.device)

    positions = numbers(60 * BLOCK, count)
    tables = numbers(4096, count, 64)
    blocks = tables.gather(1, (positions // BLOCK)[:, None].long())[:, 0]
    return DecodeRows(
        tokens=numbers(vocab, count).long(),
        positions=positions.long(),
        blocks=blocks.long(),
        offsets=(positions % BLOCK).long(),
        tables=tables,
        states=numbers(states, count),
        masks=numbers(64, count),
        counts=positions + 1,
        left=20 + numbers(100, count),
        last=numbers(vocab, count, 2),
    )


def measure_next_rows(bench: Bench) -> None:
    """Time the step of a batch. Its bytes are few, so that it should take as long as any launch."""
    (states,) = bench.sizes((2048,), (20,))
    (vocab,) = bench.sizes((VOCAB,), (200,))
    table = table_of(bench, states, min(MOVES, vocab), vocab)
    for count in bench.sizes((1, 64, 256), (3,)):
        rows = rows_of(bench, count, states, vocab)
        drawn = rows.tokens.flip(0).contiguous()
        step = partial(advance_rows, rows, table, drawn, torch.empty_like(drawn), BLOCK)
        bench.add("next rows", rows=count, states=states, us=bench.by_graph(step))
