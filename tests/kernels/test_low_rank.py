"""What an adapter adds, against the obvious way to write it."""

import pytest
import torch

from maskwright.kernels.low_rank import add_low_rank
from maskwright.models import LibraryOperations, Product
from tests.models.products import comparison_by


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
