"""Norm, activation and exponentials against torch's, and doubles."""

import numpy as np
import torch

from maskwright.kernels.reference import rms_norm, silu_mul
from maskwright.models.compiled.layers import add_and_norm, exp, silu_multiply


def test_exp() -> None:
    x = np.concatenate([np.linspace(-87, 88, 100_003), np.linspace(-1, 1, 10_001)], dtype="f4")
    got = np.empty_like(x)
    exp(x, got)
    np.testing.assert_allclose(got, np.exp(x.astype(np.float64)), rtol=2.5e-7, atol=0)
    edges = np.array([0, -np.inf, -87.1, np.nan, 88, 500, np.inf], np.float32)
    got = np.empty_like(edges)
    exp(edges, got)
    assert got.tolist() == [1, 0, 0, 0, got[4], got[4], got[4]]


def test_norm_of_a_sum() -> None:
    hidden, update = torch.randn(2, 5, 203)
    weight, eps = torch.randn(203), 1e-5
    total, normed = hidden.clone(), torch.full_like(hidden, float("nan"))
    add_and_norm(*(x.numpy() for x in (total, update, weight)), eps, normed.numpy())
    assert torch.equal(total, hidden + update)
    torch.testing.assert_close(normed, rms_norm(hidden + update, weight, eps))


def test_activation() -> None:
    gate_up = torch.randn(3, 2 * 120) * 30
    out = torch.full((3, 120), float("nan"))
    silu_multiply(gate_up.numpy(), out.numpy())
    torch.testing.assert_close(out, silu_mul(gate_up), rtol=2e-6, atol=1e-30)
