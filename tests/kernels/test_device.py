"""Without Triton, which is optional, the twins do the work. Columns go to a device together."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from maskwright.kernels.device import UPLOAD_MULTIPLE, upload


def test_masks_are_applied_without_triton() -> None:
    program = """
import sys
sys.modules["triton"] = None
import torch
from maskwright.kernels.apply_mask import apply_mask
from maskwright.kernels.device import AVAILABLE, INTERPRETED
logits = torch.zeros(1, 4)
apply_mask(logits, torch.tensor([[5]], dtype=torch.int32))
print(AVAILABLE, INTERPRETED, logits.tolist())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "False False [[0.0, -inf, 0.0, -inf]]\n", run.stderr


def test_columns_arrive_as_they_were(device: torch.device) -> None:
    """Of any type and shape, empty or strided; each begins where kernels may read in wide steps."""
    columns = [
        torch.tensor([1, -2, 3], dtype=torch.int32),
        torch.tensor([0.1, 1e300], dtype=torch.float64),
        torch.tensor([], dtype=torch.float32),
        torch.arange(12, dtype=torch.int64).view(3, 4).t(),
        torch.tensor([True, False, True]),
        torch.tensor([[7]], dtype=torch.int16),
    ]
    moved = upload(columns, device)
    for column, found in zip(columns, moved, strict=True):
        assert (found.dtype, found.device.type) == (column.dtype, device.type)
        assert found.is_contiguous()
        assert found.storage_offset() * found.element_size() % UPLOAD_MULTIPLE == 0
        assert found.cpu().equal(column)
    moved[0][0] = 9
    assert columns[0][0] == 1, "the memory is their own"


def test_nothing_is_no_copy_of_anything(device: torch.device) -> None:
    assert upload([], device) == []


def test_one_copy_that_the_host_does_not_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[tuple[torch.Size, bool]] = []

    def copy(self: torch.Tensor, device: torch.device, *, non_blocking: bool) -> torch.Tensor:
        copies.append((self.shape, non_blocking))
        return torch.empty_like(self, device=device)

    monkeypatch.setattr(torch.Tensor, "to", copy)
    columns = [torch.zeros(3, dtype=torch.int32), torch.zeros(5, dtype=torch.int64)]
    assert {each.device.type for each in upload(columns, torch.device("meta"))} == {"meta"}
    assert copies == [((64,), True)]
