"""Products with weights in fp8: the twin, the kernel that makes codes in the interpreter and on a
GPU, held against the numbers that codes stand for, and against torch's product of scaled codes."""

from __future__ import annotations

import pytest
import torch

from maskwright.kernels import kv_pool
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.fp8.product import FP8, encode_rows, multiply

TYPES = [(torch.float32, 1e-5), (torch.bfloat16, 2**-6)]
"""With tolerances. The product and its sum with the bias are rounded to bfloat16 one after the
other, each of which changes 2 ** -7 of a number at most where the interpreter truncates."""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("width", [1, 48, 1500])
def test_codes_of_rows(dtype: torch.dtype, width: int, device: torch.device) -> None:
    numbers = torch.randn(5, width + 3) * torch.tensor([1, 1e-3, 300, 1e-30, 0])[:, None]
    numbers = numbers.to(dtype)[:, :width]
    codes, scales = encode_rows(numbers.to(device))
    expected = kv_pool.encode(numbers, FP8)
    assert codes.cpu().view(torch.uint8).equal(expected[0].view(torch.uint8))
    assert scales.cpu().equal(expected[1])
    # Three bits of mantissa: within a sixteenth, or half the least step.
    step = 2**-9 * expected[1][:, None]
    error = (codes.cpu().float() * expected[1][:, None] - numbers.float()).abs()
    assert (error <= torch.maximum(numbers.float().abs() / 16, step / 2) * 1.001).all()


@pytest.mark.parametrize(("dtype", "tolerance"), TYPES, ids=str)
@pytest.mark.parametrize("biased", [False, True])
def test_the_product_is_that_of_the_codes(
    dtype: torch.dtype, tolerance: float, biased: bool, device: torch.device
) -> None:
    if device.type == "cuda" and dtype != torch.bfloat16:
        pytest.skip("on a GPU, the product is computed in bfloat16 only")
    x, weight = torch.randn(7, 80).to(dtype), torch.randn(48, 80)
    bias = torch.randn(48).to(dtype) if biased else None
    codes, scales = kv_pool.encode(weight, FP8)
    moved = None if bias is None else bias.to(device)
    found = multiply(x.to(device), codes.to(device), scales.to(device), moved).cpu()
    assert found.dtype == dtype
    row_codes, row_scales = kv_pool.encode(x, FP8)
    left = row_codes.double() * row_scales[:, None]
    expected = left @ (codes.double() * scales[:, None]).T
    expected = expected if bias is None else expected + bias
    largest = expected.abs().max()
    assert (found.double() - expected).abs().max() <= tolerance * largest
    # And near the product of the numbers themselves, whose errors partly cancel.
    exact = x.double() @ weight.double().T + (0 if bias is None else bias)
    assert 1e-4 < (found.double() - exact).norm() / exact.norm() < 0.05


def test_the_twin_is_torchs_product_of_scaled_codes() -> None:
    """Which computes on a CPU too."""
    x, (weight, scales) = torch.randn(9, 64), kv_pool.encode(torch.randn(32, 64), FP8)
    codes, row_scales = kv_pool.encode(x, FP8)
    expected = torch._scaled_mm(
        *(codes, weight.t()),
        scale_a=row_scales[:, None],
        scale_b=scales[None, :],
        out_dtype=torch.float32,
    )
    torch.testing.assert_close(multiply(x, weight, scales), expected, rtol=1e-5, atol=1e-5)


def test_a_row_of_zeros_stays_one() -> None:
    weight, scales = kv_pool.encode(torch.randn(4, 16), FP8)
    assert multiply(torch.zeros(1, 16), weight, scales).tolist() == [[0.0] * 4]


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_the_interpreter_does_not_run_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(kv_pool, "encode")
    codes, scales = encode_rows(torch.ones(2, 8))
    assert codes.float().unique().tolist() == [448.0]
    torch.testing.assert_close(scales, torch.full([2], 1 / 448))
