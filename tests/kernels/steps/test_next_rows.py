"""Rows that advance on the device, against dictionaries: twin, interpreter and GPU."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
import torch

from maskwright.kernels.steps.next_rows import (
    IDLE,
    STOPPED,
    DecodeRows,
    NextRows,
    advance_rows,
    move_rows,
)

VOCAB = 300
BLOCK = 4


@dataclass
class State:
    mask: int
    needs: int
    other: int
    moves: dict[int, int]


def random_states(rng: random.Random, count: int) -> list[State]:
    def target() -> int:
        return rng.randrange(-1, count)

    sizes = [0, 1, 2, 3, 30, 200]
    return [
        State(
            rng.randrange(50),
            rng.choice([1, 1, 1, 2, 7]),
            target(),
            {token: target() for token in rng.sample(range(VOCAB), rng.choice(sizes))},
        )
        for _ in range(count)
    ]


def as_table(states: list[State], device: torch.device) -> NextRows:
    moves = [sorted(state.moves.items()) for state in states]
    begins = [sum(map(len, moves[:number])) for number in range(len(moves))]
    columns = (
        [state.mask for state in states],
        [state.needs for state in states],
        [state.other for state in states],
        begins,
        [begin + len(each) for begin, each in zip(begins, moves, strict=True)],
        [token for each in moves for token, _ in each],
        [target for each in moves for _, target in each],
    )
    tensors = (torch.tensor(column, dtype=torch.int32, device=device) for column in columns)
    return NextRows(*tensors, most=max(map(len, moves)))


@dataclass
class Row:
    """One row, advanced naively."""

    token: int
    position: int
    state: int
    mask: int
    count: int
    left: int
    last: tuple[int, ...]
    table: list[int]

    def advance(self, states: list[State], drawn: int) -> int:
        if self.state == STOPPED:
            return IDLE
        here = states[self.state]
        target = here.moves.get(drawn, here.other) if drawn >= 0 else STOPPED
        if drawn in self.last or (target >= 0 and self.left - 1 < states[target].needs):
            target = STOPPED
        self.state = target
        if target != STOPPED:
            self.token, self.position = drawn, self.position + 1
            self.count, self.left = self.count + 1, self.left - 1
            self.mask = states[target].mask
        return drawn

    @property
    def slot(self) -> tuple[int, int]:
        column = self.position // BLOCK
        return (self.table[column] if column < len(self.table) else 0), self.position % BLOCK


def random_row(rng: random.Random, states: list[State]) -> Row:
    state = rng.randrange(-1, len(states))
    last = tuple(rng.sample(range(VOCAB), 2)) if rng.random() < 0.5 else ()
    table = [rng.randrange(1, 100) for _ in range(6)]
    place = rng.randrange(BLOCK * 4)
    return Row(rng.randrange(VOCAB), place, state, 0, place + 9, rng.randrange(1, 12), last, table)


def as_rows(rows: list[Row], device: torch.device) -> DecodeRows:
    padding = [0] * (-len(rows) % 4)

    def column(values: list[int], dtype: torch.dtype = torch.int32) -> torch.Tensor:
        return torch.tensor(values, dtype=dtype, device=device)

    slots = [row.slot for row in rows]
    last = [[*row.last, *[-1] * (2 - len(row.last))] for row in rows]
    return DecodeRows(
        tokens=column([row.token for row in rows] + padding, torch.int64),
        positions=column([row.position for row in rows] + padding, torch.int64),
        blocks=column([block for block, _ in slots], torch.int64),
        offsets=column([offset for _, offset in slots], torch.int64),
        tables=torch.tensor([row.table for row in rows], dtype=torch.int32, device=device),
        states=column([row.state for row in rows]),
        masks=column([row.mask for row in rows]),
        counts=column([row.count for row in rows]),
        left=column([row.left for row in rows]),
        last=torch.tensor(last, dtype=torch.int32, device=device),
    )


@pytest.mark.parametrize("count", [1, 5, 37])
def test_rows_advance_as_dictionaries_say(count: int, device: torch.device) -> None:
    rng = random.Random(count)
    states = random_states(rng, 40)
    table = as_table(states, device)
    rows = [random_row(rng, states) for _ in range(count)]
    buffers = as_rows(rows, device)
    out = torch.zeros(count, dtype=torch.int64, device=device)
    seen = set()
    for _ in range(8):
        drawn = [_draw(rng, states, row) for row in rows]
        before = [row.state for row in rows]
        expected = [row.advance(states, token) for row, token in zip(rows, drawn, strict=True)]
        seen |= {(b >= 0, row.state >= 0) for b, row in zip(before, rows, strict=True)}
        given = torch.tensor(drawn, device=device)
        advance_rows(buffers, table, given, out, BLOCK)
        assert out.tolist() == expected
        assert buffers.states.tolist() == [row.state for row in rows]
        assert buffers.masks.tolist() == [row.mask for row in rows]
        assert buffers.counts.tolist() == [row.count for row in rows]
        assert buffers.left.tolist() == [row.left for row in rows]
        assert buffers.tokens[:count].tolist() == [row.token for row in rows]
        assert buffers.positions[:count].tolist() == [row.position for row in rows]
        assert not buffers.tokens[count:].any()
        assert not buffers.positions[count:].any()
        slots = list(zip(buffers.blocks.tolist(), buffers.offsets.tolist(), strict=True))
        assert slots == [row.slot for row in rows]
    if count == 37:
        assert seen == {(True, True), (True, False), (False, False)}


def _draw(rng: random.Random, states: list[State], row: Row) -> int:
    """A token of the state's moves, of the row's last ones, any token, or an error."""
    moves = list(states[row.state].moves) or [0]
    return rng.choice([rng.choice(moves), *row.last[:1], rng.randrange(VOCAB), -1, -2][:4])


def test_a_table_without_moves(device: torch.device) -> None:
    states = [State(3, 1, 0, {})]
    rows = [Row(5, 6, 0, 3, 7, 4, (), [1, 2, 3])]
    buffers, out = as_rows(rows, device), torch.zeros(1, dtype=torch.int64, device=device)
    drawn = torch.tensor([9], device=device)
    advance_rows(buffers, as_table(states, device), drawn, out, BLOCK)
    assert (buffers.tokens[0], buffers.positions[0], buffers.left[0]) == (9, 7, 3)


@pytest.mark.parametrize("count", [1, 5, 37])
def test_rows_move_to_other_blocks_or_stop(count: int, device: torch.device) -> None:
    """Nothing else changes, nor do other rows. Tables may be as long as the memory, or longer."""
    rng = random.Random(count)
    rows = [random_row(rng, random_states(rng, 40)) for _ in range(count)]
    buffers = as_rows(rows, device)
    stopping = {number for number in range(count) if number % 3 == 1}
    tables = [[rng.randrange(100, 200) for _ in range(rng.choice([4, 6, 7]))] for _ in rows]
    staying = {number for number in range(1, count) if number % 4 == 3}
    before = [row.slot for row in rows]
    moved = {
        number: None if number in stopping else table
        for number, table in enumerate(tables)
        if number not in staying
    }
    move_rows(buffers, moved, BLOCK)
    stopping -= staying
    assert buffers.states.tolist() == [
        STOPPED if number in stopping else row.state for number, row in enumerate(rows)
    ]
    slots = list(zip(buffers.blocks.tolist(), buffers.offsets.tolist(), strict=True))
    for number, (row, table) in enumerate(zip(rows, tables, strict=True)):
        if number in staying:
            assert slots[number] == before[number]
        elif number in stopping:
            assert (buffers.positions[number], slots[number]) == (0, (0, 0))
            assert buffers.tables[number, 0] == 0
        else:
            assert buffers.positions[number] == row.position
            assert slots[number] == (table[row.position // BLOCK], row.position % BLOCK)
            assert buffers.tables[number, : len(table)].tolist() == table[:6]
    assert buffers.counts.tolist() == [row.count for row in rows]
    assert buffers.left.tolist() == [row.left for row in rows]
    assert buffers.tokens[:count].tolist() == [row.token for row in rows]
