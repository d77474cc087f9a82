"""What adapters add: the twin, the kernels in the interpreter and on a GPU, held against the
obvious way to write it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from maskwright.kernels.device import INTERPRETED, runs_kernels
from maskwright.kernels.low_rank import (
    ROWS,
    MatrixTable,
    add_grouped,
    add_low_rank,
    group_rows,
    matrix_table,
    pad_rank,
)
from maskwright.models import LibraryOperations, Product
from tests.models.products import comparison_by

Matrices = tuple[Tensor, Tensor]


@pytest.mark.parametrize("count", [1, 3, 4, 7])
def test_only_its_rows_change_whoever_is_beside_them(count: int) -> None:
    x, before = torch.randn(12, 40), torch.randn(12, 30)
    down, up = torch.randn(5, 40), torch.randn(30, 5)
    mine = torch.randperm(12)[:count]
    padding = mine[:1].repeat(-count % 4)
    out = before.clone()
    add_low_rank(out, x, torch.cat((mine, padding)), count, down, up)
    expected = before.clone()
    expected[mine] += x[mine] @ down.T @ up.T
    torch.testing.assert_close(out, expected)
    one = before.clone()
    add_low_rank(one, x, mine[:1].repeat(4), 1, down, up)
    compare = comparison_by(LibraryOperations((Product(down), Product(up))))
    compare(one[mine[0]], out[mine[0]], "a row depends on those beside it")


def grouped(
    out: Tensor,
    x: Tensor,
    rows: list[list[int]],
    adapters: list[list[Matrices | None]],
    ends: list[int],
) -> None:
    """Add the update of each adapter to its `rows`, in place: by kernels where these run, else by
    their twin. `adapters`: the matrices of each, by module, on the CPU."""
    if runs_kernels(out):
        kept = [[None if one is None else on(out.device, one) for one in mine] for mine in adapters]
        # Modules of another product come first.
        tables = [matrix_table([None, *mine], out.device) for mine in kept]
        groups = group_rows(list(zip(rows, tables, strict=True)), out.device)
        add_grouped(out, x, groups, 1, ends)
        return
    for mine, adapter in zip(rows, adapters, strict=True):
        padded = torch.tensor(mine + mine[:1] * (-len(mine) % 4), dtype=torch.int64)
        for begin, end, one in zip([0, *ends], ends, adapter, strict=False):
            if one is not None and mine:
                add_low_rank(out[:, begin:end], x, padded, len(mine), *one)


def on(device: torch.device, one: Matrices) -> Matrices:
    """Matrices as kernels need them."""
    down, up = pad_rank(one[0].to(device), one[1].to(device))
    return down, up


def matrices(rank: int, inputs: int, outputs: int, dtype: torch.dtype) -> Matrices:
    """Random ones, whose update is about as large as the input."""
    down = torch.randn(rank, inputs) / inputs**0.5
    return down.to(dtype), (torch.randn(outputs, rank) / rank**0.5).to(dtype)


ROWS_OF = [[5], [], [*range(10, 30), 2], [0, 7, 3]]
"""Rows of four adapters: one row, none, more than a tile, and rows that are not in order."""


@pytest.mark.parametrize(
    ("inputs", "ends", "dtype", "tolerance"),
    [
        (33, [5, 9, 150], torch.float32, 1e-5),
        (33, [5, 9, 150], torch.bfloat16, 6e-2),
        (1100, [30, 31], torch.float32, 1e-5),
        (1100, [30, 31], torch.float16, 1e-2),
        (2048, [64], torch.bfloat16, 6e-2),
    ],
    ids=str,
)
def test_rows_of_several_adapters(
    inputs: int, ends: list[int], dtype: torch.dtype, tolerance: float, device: torch.device
) -> None:
    sizes = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    ranks = [[8, 1, 9], [16, 16, 16], [24, 3, 17], [32, 20, 8]]
    adapters: list[list[Matrices | None]] = [
        [matrices(rank, inputs, size, dtype) for rank, size in zip(mine, sizes, strict=False)]
        for mine in ranks
    ]
    adapters[0][-1] = None  # a module that it doesn't change
    # Rows lie apart, and more columns follow.
    x = torch.randn(31, inputs + 3).to(dtype)[:, :inputs]
    before = torch.randn(31, ends[-1] + 2).to(dtype)
    expected = before.double()
    for mine, adapter in zip(ROWS_OF, adapters, strict=True):
        for begin, end, one in zip([0, *ends], ends, adapter, strict=False):
            if one is not None:
                update = x[mine].double() @ one[0].double().T @ one[1].double().T
                expected[mine, begin:end] += update
    out = before.clone().to(device)
    grouped(out[:, : ends[-1]], x.to(device), ROWS_OF, adapters, ends)
    out = out.cpu()
    torch.testing.assert_close(out.double(), expected, rtol=tolerance, atol=tolerance)
    others = [row for row in range(31) if not any(row in mine for mine in ROWS_OF)]
    assert others
    assert out[others].equal(before[others])
    assert out[:, ends[-1] :].equal(before[:, ends[-1] :])


def compare_rows(mine: Tensor, reference: Tensor) -> None:
    """Assert that two rows are equal: bit for bit where the interpreter's products allow it. They
    are NumPy's, whose sums may depend on a row's place in its block (on a Zen 5, with OpenBLAS)."""
    block = np.repeat(np.random.default_rng(0).standard_normal((1, 64), np.float32), ROWS, axis=0)
    products = block @ np.random.default_rng(1).standard_normal((64, 16), np.float32)
    if (products == products[0]).all():
        assert mine.equal(reference)
    else:
        torch.testing.assert_close(mine, reference)


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_bits_of_a_row_are_independent_of_its_neighbours(dtype: torch.dtype) -> None:
    inputs, ends = 1300, [20, 150]
    x, before = torch.randn(40, inputs).to(dtype), torch.randn(40, 150).to(dtype)
    mine: list[Matrices | None] = [
        matrices(9, inputs, 20, dtype),
        matrices(4, inputs, 130, dtype),
    ]
    other: list[Matrices | None] = [matrices(40, inputs, 20, dtype), None]
    alone, beside = before.clone(), before.clone()
    grouped(alone, x, [[33]], [mine], ends)
    grouped(beside, x, [[1, 4], [*range(8, 39)]], [other, mine], ends)
    compare_rows(beside[33], alone[33])
    assert not alone[33].equal(before[33])


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_nothing_to_add() -> None:
    x, before = torch.randn(4, 16), torch.randn(4, 8)
    out = before.clone()
    grouped(out, x, [], [], [8])
    grouped(out, x, [[]], [[matrices(8, 16, 8, torch.float32)]], [8])
    grouped(out, x, [[2]], [[None]], [8])
    assert out.equal(before)


def test_a_step_ships_columns_that_begin_at_16_bytes() -> None:
    """Kernels are compiled for it."""
    table = MatrixTable(torch.zeros(2, 3, dtype=torch.int64), 8)
    for count in (1, 2, 3):
        groups = group_rows([([number], table) for number in range(count)], torch.device("cpu"))
        for column in (groups.tiles, groups.rows):
            assert (column.data_ptr() - groups.tables.data_ptr()) % 16 == 0
        assert groups.tables[:count].tolist() == [table.entries.data_ptr()] * count
        assert groups.tiles.tolist() == [[number, number, 1, 0] for number in range(count)]


def test_matrices_are_padded() -> None:
    cpu = torch.device("cpu")
    down, up = matrices(3, 10, 4, torch.float32)
    padded = pad_rank(down, up)
    assert padded[0].shape == (8, 10)
    torch.testing.assert_close(padded[1] @ padded[0], up @ down)
    assert matrix_table([None, padded], cpu).entries.tolist() == [
        [0, 0, 0],
        [padded[0].data_ptr(), padded[1].data_ptr(), 8],
    ]
    for wrong in ((down, up), (padded[0], up)):
        with pytest.raises(ValueError, match="not padded"):
            matrix_table([wrong], cpu)
    with pytest.raises(ValueError, match="contiguous"):
        matrix_table([(padded[0], padded[1].T.contiguous().T)], cpu)
