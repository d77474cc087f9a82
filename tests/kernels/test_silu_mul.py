"""The activation: the twin, the kernel in the interpreter and on a GPU, held against its formula in
float64."""

from __future__ import annotations

import pytest
import torch

from maskwright.kernels import reference
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.silu_mul import silu_mul

TYPES = [(torch.float32, 1e-6), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)]


@pytest.mark.parametrize(("dtype", "tolerance"), TYPES, ids=str)
@pytest.mark.parametrize("width", [1, 100, 1500])
def test_all_widths(dtype: torch.dtype, tolerance: float, width: int, device: torch.device) -> None:
    numbers = (4 * torch.randn(3, 2 * width + 5)).to(dtype)[:, : 2 * width]
    gate, up = numbers.double().split(width, dim=1)
    expected = gate / (1 + (-gate).exp()) * up
    torch.testing.assert_close(
        silu_mul(numbers.to(device)).cpu().double(), expected, rtol=tolerance, atol=tolerance
    )


def test_extremes(device: torch.device) -> None:
    numbers = torch.tensor([[-1000.0, 1000.0, 0.0, 2.0, 2.0, 2.0]], device=device)
    assert silu_mul(numbers).tolist() == [[0.0, 2000.0, 0.0]]


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_the_interpreter_does_not_run_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(reference, "silu_mul")
    assert silu_mul(torch.zeros(2, 8)).equal(torch.zeros(2, 4))
