"""Stacked products, and what adapters add to the part of each module."""

from __future__ import annotations

import pytest
import torch

from maskwright.models.adapter import Adapter, AdapterRows, LowRank
from maskwright.models.layer import Linear

INPUTS, ROWS = 3, 4
PARTS = (("q", 2), ("k", 3), ("v", 5))
"""Modules with 2, 1 and 2 outputs."""
X = torch.arange(ROWS * INPUTS, dtype=torch.float32).reshape(ROWS, INPUTS)


def linear(*, bias: bool = False) -> Linear:
    torch.manual_seed(0)
    weight = torch.randn(5, INPUTS)
    return Linear(weight, torch.arange(5.0) if bias else None, PARTS)


def low_rank(outputs: int, number: float) -> LowRank:
    """What adds `number` times the sum of the inputs to each output."""
    return LowRank(torch.ones(1, INPUTS), torch.full((outputs, 1), number))


def group(rows: list[int], **modules: LowRank) -> AdapterRows:
    """An adapter of some rows, padded by the first of them."""
    padded = rows + rows[:1] * (-len(rows) % 4)
    return AdapterRows(Adapter(modules), torch.tensor(padded), len(rows))


@pytest.mark.parametrize("bias", [False, True])
def test_without_adapters_it_is_the_product(bias: bool) -> None:
    layer = linear(bias=bias)
    expected = X @ layer.weight.T + (torch.arange(5.0) if bias else 0)
    torch.testing.assert_close(layer(X), expected)


ADAPTED: list[tuple[AdapterRows, list[int], list[float]]] = [
    # an adapter; the rows and what each output gains, in units of the sum of the inputs
    (group([0, 1, 2, 3], q=low_rank(2, 1.0)), [0, 1, 2, 3], [1, 1, 0, 0, 0]),
    (group([2], k=low_rank(1, 2.0)), [2], [0, 0, 2, 0, 0]),
    (group([1, 3], v=low_rank(2, 3.0), q=low_rank(2, 1.0)), [1, 3], [1, 1, 0, 3, 3]),
    (group([0], other=low_rank(2, 1.0)), [0], [0, 0, 0, 0, 0]),  # of another product
]


@pytest.mark.parametrize(("adapters", "rows", "gains"), ADAPTED)
def test_an_adapter_changes_its_rows_and_modules_alone(
    adapters: AdapterRows, rows: list[int], gains: list[float]
) -> None:
    layer = linear()
    change = layer(X, [adapters]) - layer(X)
    expected = torch.zeros(ROWS, 5)
    for row in rows:
        expected[row] = torch.tensor(gains) * X[row].sum()
    torch.testing.assert_close(change, expected)


def test_each_row_may_have_an_adapter_of_its_own() -> None:
    layer = linear()
    both = [group([0], q=low_rank(2, 1.0)), group([3], q=low_rank(2, -1.0))]
    change = layer(X, both) - layer(X)
    assert change[0, :2].tolist() == pytest.approx([3.0, 3.0])
    assert change[3, :2].tolist() == pytest.approx([-30.0, -30.0])
    assert not change[1:3].any()
