"""Norms with residual and rope: the twins, the kernels in the interpreter and on a GPU, held
against formulas in float64."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from maskwright.kernels import norm_rope as module
from maskwright.kernels import reference
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.norm_rope import add_norm, norm_rope
from maskwright.models.config import RopeConfig
from maskwright.models.dense import rope_table

TYPES = [(torch.float32, 1e-5), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)]
EPS = 1e-3


def norm(numbers: Tensor, weight: Tensor) -> Tensor:
    numbers = numbers.double()
    return numbers / (numbers.square().mean(-1, keepdim=True) + EPS).sqrt() * weight.double()


@pytest.mark.parametrize(("dtype", "tolerance"), TYPES, ids=str)
@pytest.mark.parametrize("width", [8, 33, 1500])
def test_norm_of_a_sum(
    dtype: torch.dtype, tolerance: float, width: int, device: torch.device
) -> None:
    hidden = torch.randn(3, width + 2).to(dtype)[:, :width]
    addition, weight = torch.randn(3, width).to(dtype), torch.randn(width).to(dtype)
    total, normed = add_norm(hidden.to(device), addition.to(device), weight.to(device), EPS)
    # The interpreter truncates where a GPU rounds to bfloat16.
    last_bit = 2**-7 if INTERPRETED and dtype == torch.bfloat16 else 0
    torch.testing.assert_close(total.cpu(), hidden + addition, rtol=last_bit, atol=0)
    expected = norm(hidden + addition, weight)
    torch.testing.assert_close(normed.cpu().double(), expected, rtol=tolerance, atol=tolerance)
    alone, normed = add_norm(hidden.to(device), None, weight.to(device), EPS)
    assert alone.cpu().equal(hidden)
    torch.testing.assert_close(
        normed.cpu().double(), norm(hidden, weight), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize(("dtype", "tolerance"), TYPES, ids=str)
@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize(("queries", "keys", "width"), [(1, 1, 2), (5, 2, 20), (33, 8, 32)])
def test_rotated_heads(
    dtype: torch.dtype,
    tolerance: float,
    normed: bool,
    queries: int,
    keys: int,
    width: int,
    device: torch.device,
) -> None:
    cos, sin = rope_table(RopeConfig("default", 100.0, {}), width, 50)
    positions = torch.tensor([3, 0, 49, 7])
    heads = torch.randn(4, queries + 2 * keys, width).to(dtype)[:, : queries + keys]
    norms = torch.randn(width).to(dtype), torch.randn(width).to(dtype)
    out = norm_rope(
        heads.to(device),
        queries,
        (cos.to(device, dtype), sin.to(device, dtype)),
        positions.to(device),
        (norms[0].to(device), norms[1].to(device)) if normed else None,
        EPS,
    )
    assert out.is_contiguous()
    numbers = heads.double()
    if normed:
        parts = norm(heads[:, :queries], norms[0]), norm(heads[:, queries:], norms[1])
        numbers = torch.cat(parts, dim=1)
    # Pairs of numbers as complex ones, which an angle multiplies.
    turned = torch.complex(numbers[..., : width // 2], numbers[..., width // 2 :])
    angles = torch.complex(cos.double(), sin.double())[positions, :, width // 2 :]
    turned = turned * angles
    expected = torch.cat((turned.real, turned.imag), dim=-1)
    torch.testing.assert_close(out.cpu().double(), expected, rtol=3 * tolerance, atol=3 * tolerance)


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_the_interpreter_does_not_run_the_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(reference, "rms_norm")
    monkeypatch.delattr(reference, "rope")
    monkeypatch.setattr(module, "LANES", 16)
    assert add_norm(torch.ones(2, 8), None, torch.ones(8), 0.0)[1].allclose(torch.ones(2, 8))
    tables = rope_table(RopeConfig("default", 100.0, {}), 8, 2)
    heads = torch.randn(2, 3, 8)
    assert norm_rope(heads, 2, tables, torch.zeros(2, dtype=torch.int32)).equal(heads)
