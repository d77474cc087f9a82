"""Products with weights in fp8 (e4m3), each row of which has a scale.

The rows of the input become codes as well, each with the scale that gives its largest magnitude the
largest code. So a product has one byte a weight to read, and tensor cores that know fp8 compute it:
on a GPU of compute capability 8.9 or more this is `torch._scaled_mm`, for few rows the kernel of
`few_rows.py`. Their twin multiplies the numbers that the codes stand for in float32, which is exact
but for the order of sums.
"""

# Triton is untyped, and so is torch's product of scaled codes.
# pyright: reportInvalidTypeForm=false, reportPrivateImportUsage=false, reportPrivateUsage=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from maskwright.kernels import few_rows, kv_pool
from maskwright.kernels.device import await_earlier, jit, runs_kernels, tl
from maskwright.kernels.noting import noted
from maskwright.kernels.silu_mul import silu_mul
from maskwright.kernels.store_kv import encode_head

FP8: Final = torch.float8_e4m3fn

MULTIPLE: Final = 16
"""What the numbers of inputs and of outputs are multiples of on a GPU."""

LANES: Final = 1024
"""Numbers of a row for each four warps, as in `norm_rope.py`."""

MOST_WARPS: Final = 16


@jit
def encode_rows_kernel(
    numbers,
    stride,
    codes,
    scales,
    WIDTH: tl.constexpr,
    WIDTH_2: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Write the codes of one row, as bytes `[rows, WIDTH]`, and its scale `[rows]`."""
    await_earlier(OVERLAPS)
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, WIDTH_2)
    inside = lane < WIDTH
    read = tl.load(numbers + row * stride + lane, mask=inside, other=0).to(tl.float32)
    code, scale = encode_head(read, True)
    tl.store(codes + row * WIDTH + lane, code, mask=inside)
    tl.store(scales + row, scale)


def encode_rows(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Return the codes of `numbers` `[rows, width]`, and float32 scales `[rows]`. A number is about
    its code times the scale of its row."""
    if not runs_kernels(numbers) or not numbers.numel():
        return kv_pool.encode(numbers, FP8)
    rows, width = numbers.shape
    codes = torch.empty(rows, width, dtype=torch.uint8, device=numbers.device)
    scales = torch.empty(rows, dtype=torch.float32, device=numbers.device)
    width_2 = 1 << (width - 1).bit_length()
    encode_rows_kernel[(rows,)](
        *(numbers, numbers.stride(0), codes, scales),
        WIDTH=width,
        WIDTH_2=width_2,
        num_warps=min(MOST_WARPS, max(1, 4 * width_2 // LANES)),
        enable_fp_fusion=False,
    )
    return codes.view(FP8), scales


def multiply(
    x: Tensor, weight: Tensor, scales: Tensor, bias: Tensor | None = None, *, gated: bool = False
) -> Tensor:
    """Return `x @ (weight * scales).T + bias` `[rows, outputs]` in the type of `x`
    `[rows, inputs]`, which is bfloat16 on a GPU. `weight`: codes `[outputs, inputs]`; `scales`:
    float32 `[outputs]`. `gated`: return `silu_mul` of that."""
    codes, row_scales = encode_rows(x)
    if few_rows.suits(x, weight):
        out = x.new_empty(len(x), len(weight) // (1 + gated))
        found = codes.view(torch.uint8), weight.view(torch.uint8), out
        of_codes = row_scales, scales
        few_rows.launch(*found, x.dtype, bias=bias, scales=of_codes, gated=gated)
        return out
    out = noted(_of_codes, codes, row_scales, weight, scales, bias, x)
    return silu_mul(out) if gated else out


def _of_codes(
    codes: Tensor,
    row_scales: Tensor,
    weight: Tensor,
    scales: Tensor,
    bias: Tensor | None,
    x: Tensor,
    out: Tensor | None = None,
) -> Tensor:
    """Return the product of codes by torch, in the type of `x`, in `out` if it is given."""
    if codes.is_cuda:
        result = torch._scaled_mm(
            *(codes, weight.t()),
            scale_a=row_scales[:, None],
            scale_b=scales[None, :],
            out_dtype=x.dtype,
            out=out,
        )
    else:
        sums = F.linear(codes.float(), weight.float())
        result = (sums * row_scales[:, None] * scales).to(x.dtype)
    if bias is not None:
        result.add_(bias)
    return result if out is None or out is result else out.copy_(result)
