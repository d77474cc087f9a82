"""Products of few rows: the twins, the kernel in the interpreter and on a GPU, held against
those in float64, and a row beside others against itself."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from maskwright.kernels import few_rows as module
from maskwright.kernels import kv_pool
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.few_rows import MOST_ROWS, linear, linear_silu_mul
from maskwright.kernels.fp8.product import FP8, multiply

TYPES = [(torch.float32, 1e-5), (torch.float16, 2e-3), (torch.bfloat16, 1.6e-2)]


def activated(numbers: Tensor) -> Tensor:
    gate, up = numbers.chunk(2, dim=1)
    return torch.nn.functional.silu(gate) * up


def assert_near(found: Tensor, expected: Tensor, tolerance: float) -> None:
    assert found.shape == expected.shape
    error = (found.cpu().double() - expected).abs().max()
    assert error <= tolerance * expected.abs().max()


@pytest.mark.parametrize(("dtype", "tolerance"), TYPES, ids=str)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(
    ("rows", "inputs", "outputs"),
    # Tiles that end within the weight, and rows of the input of which some or none are missing;
    # odd widths and more rows are the library's.
    [(1, 16, 2), (3, 272, 50), (8, 512, 36), (4, 1024, 16), (9, 32, 8), (2, 33, 8)],
)
def test_products(
    dtype: torch.dtype,
    tolerance: float,
    biased: bool,
    rows: int,
    inputs: int,
    outputs: int,
    device: torch.device,
) -> None:
    x = torch.randn(rows, inputs + 16).to(dtype)[:, :inputs]
    weight = torch.randn(outputs, inputs).to(dtype)
    bias = torch.randn(outputs).to(dtype) if biased else None
    given = x.to(device), weight.to(device), None if bias is None else bias.to(device)
    expected = x.double() @ weight.double().T + (0 if bias is None else bias.double())
    found = linear(*given)
    assert found.dtype == dtype
    assert_near(found, expected, tolerance)
    room = torch.full((rows, outputs + 3), 7.0, device=device)
    assert linear(*given, out=room[:, :outputs]).data_ptr() == room.data_ptr()
    assert room[:, :outputs].equal(found.float()), "rounded all the same"
    assert room[:, outputs:].eq(7).all()
    found = linear_silu_mul(*given)
    assert found.dtype == dtype
    assert_near(found, activated(expected), 2 * tolerance)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("rows", [1, 6])
def test_products_of_codes(rows: int, gated: bool, biased: bool, device: torch.device) -> None:
    x, numbers = torch.randn(rows, 272).bfloat16(), torch.randn(36, 272)
    bias = torch.randn(36).bfloat16() if biased else None
    weight, scales = kv_pool.encode(numbers, FP8)
    codes, of_rows = kv_pool.encode(x, FP8)
    expected = codes.double() * of_rows[:, None] @ (weight.double() * scales[:, None]).T
    expected = expected if bias is None else expected + bias.double()
    moved = None if bias is None else bias.to(device)
    given = x.to(device), weight.to(device), scales.to(device), moved
    found = multiply(*given, gated=gated)
    assert_near(found, activated(expected) if gated else expected, 3.2e-2 if gated else 1.6e-2)


@pytest.mark.skipif(not INTERPRETED, reason="the products of a library")
@pytest.mark.parametrize("gated", [False, True])
def test_a_row_has_the_same_bits_beside_any_others(gated: bool) -> None:
    product = linear_silu_mul if gated else linear
    x, weight = torch.randn(MOST_ROWS, 528).bfloat16(), torch.randn(40, 528).bfloat16()
    whole = product(x, weight)
    for count in range(1, MOST_ROWS):
        assert product(x[:count], weight).equal(whole[:count])
    turned = product(x.flip(0), weight)
    assert turned.flip(0).equal(whole)


@pytest.mark.gpu
@pytest.mark.parametrize("gated", [False, True])
def test_a_row_has_the_same_bits_beside_any_others_on_a_gpu(gated: bool) -> None:
    product = linear_silu_mul if gated else linear
    x = torch.randn(MOST_ROWS, 4096, device="cuda").bfloat16()
    for outputs in (1024, 8192):
        weight = torch.randn(outputs, 4096, device="cuda").bfloat16()
        whole = product(x, weight)
        for count in range(1, MOST_ROWS):
            assert product(x[:count], weight).equal(whole[:count])


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_the_interpreter_does_not_run_the_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(module, "F")
    monkeypatch.delattr(module, "silu_mul")
    x, weight = torch.ones(2, 32).bfloat16(), torch.ones(4, 32).bfloat16()
    assert linear(x, weight).eq(32).all()
    assert linear_silu_mul(x, weight).eq(1024).all()
