"""The activation of a decoder's inner layer."""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from maskwright.kernels import reference
from maskwright.kernels.device import await_earlier, jit, runs_kernels, tl

LANES: Final = 1024
"""Numbers in a program: with four warps, eight a thread."""


@jit
def silu_mul_kernel(
    gate_up,
    stride,
    out,
    WIDTH: tl.constexpr,
    LANES: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Write `silu(gate) * up` of one tile of a row to `out` `[rows, WIDTH]`, contiguous."""
    await_earlier(OVERLAPS)
    row = tl.program_id(0).to(tl.int64)
    lane = tl.program_id(1) * LANES + tl.arange(0, LANES)
    inside = lane < WIDTH
    place = gate_up + row * stride + lane
    gate = tl.load(place, mask=inside, other=0).to(tl.float32)
    up = tl.load(place + WIDTH, mask=inside, other=0).to(tl.float32)
    kind = out.dtype.element_ty
    gate = (gate / (1 + tl.exp(-gate))).to(kind).to(tl.float32)
    tl.store(out + row * WIDTH + lane, (gate * up).to(kind), mask=inside)


def silu_mul(gate_up: Tensor) -> Tensor:
    """Return `silu(gate) * up` `[rows, width]` for `gate_up` `[rows, 2 * width]`, gate first."""
    if not runs_kernels(gate_up) or not len(gate_up):
        return reference.silu_mul(gate_up)
    rows, width = gate_up.shape[0], gate_up.shape[1] // 2
    out = torch.empty(rows, width, dtype=gate_up.dtype, device=gate_up.device)
    silu_mul_kernel[rows, -(-width // LANES)](
        *(gate_up, gate_up.stride(0), out),
        WIDTH=width,
        LANES=LANES,
        num_warps=4,
        enable_fp_fusion=False,
    )
    return out
