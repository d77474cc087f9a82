"""Products of few rows with a weight, which take what reading the weight takes.

A decode step of few sequences multiplies one to eight rows by each weight, so it reads far more
than it computes. Libraries' products are made for many rows, and read half as fast as they could
then. Here a program reads some rows of the weight, that is, all inputs of some outputs, with the
next tiles on their way while tensor cores multiply one. A row of the input is a column of these
products, and every weight has one order of sums: what a row gives doesn't depend on how many there
are, nor on the others.

What follows a product is computed where its sums still are: a bias, the activation of an inner
layer, and for weights in fp8 the scales.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from maskwright.kernels.device import INTERPRETED, await_earlier, jit, runs_kernels, tl
from maskwright.kernels.noting import noted
from maskwright.kernels.silu_mul import silu_mul

MOST_ROWS: Final = 8
"""The most rows: columns of the least product of tensor cores."""

INPUTS: Final = 256
"""Inputs that are read at once: 512 bytes of each row of the weight, four lines of the cache."""

OUTPUTS: Final = 16
"""Outputs of a program: rows of the least product of tensor cores."""

MANY: Final = 4096
"""Outputs from which on a program has twice as many: there are enough programs then, and the rows,
which each program reads as well, are half as much beside the weight."""

ON_THE_WAY: Final = 64 << 10
"""Bytes of the weight that a program has on their way or in work, in at most eight tiles."""


@jit
def few_rows_kernel(
    x,
    x_stride,
    rows,
    weight,
    bias,
    row_scales,
    scales,
    out,
    out_stride,
    INPUTS_ALL: tl.constexpr,
    OUTPUTS_ALL: tl.constexpr,
    ROWS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    GATED: tl.constexpr,
    KIND: tl.constexpr,
    UPCAST: tl.constexpr,
    STAGES: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Write `OUTPUTS` outputs of all `rows`, at most `ROWS`. `weight` `[OUTPUTS_ALL, INPUTS_ALL]`,
    contiguous; if `GATED`, another one of this shape follows it, and the output is the activation
    of the first product times the second. With `scales`, `x` and `weight` are codes of fp8 as
    bytes. What a product gives is rounded to `KIND`. `UPCAST`: multiply in float32."""
    await_earlier(OVERLAPS)
    output = tl.program_id(0) * OUTPUTS + tl.arange(0, OUTPUTS)
    known = output < OUTPUTS_ALL
    row = tl.arange(0, ROWS)
    real = row < rows
    lane = tl.arange(0, INPUTS)
    first = tl.zeros([OUTPUTS, ROWS], tl.float32)
    second = tl.zeros([OUTPUTS, ROWS], tl.float32)
    place = weight + output.to(tl.int64)[:, None] * INPUTS_ALL + lane[None, :]
    from_row = x + row[None, :] * x_stride + lane[:, None]
    for begin in tl.range(0, INPUTS_ALL, INPUTS, num_stages=STAGES):
        inside = begin + lane < INPUTS_ALL
        read = known[:, None] & inside[None, :]
        given = tl.load(from_row + begin, mask=inside[:, None] & real[None, :], other=0)
        numbers = tl.load(place + begin, mask=read, other=0)
        given, numbers = as_factor(given, UPCAST), as_factor(numbers, UPCAST)
        first = tl.dot(numbers, given, first, input_precision="ieee")
        if GATED:
            after = place + OUTPUTS_ALL * INPUTS_ALL
            numbers = as_factor(tl.load(after + begin, mask=read, other=0), UPCAST)
            second = tl.dot(numbers, given, second, input_precision="ieee")
    ends = (output, known, row, real, bias, row_scales, scales)
    result = rounded(first, *ends, 0, KIND)
    if GATED:
        gate = (result / (1 + tl.exp(-result))).to(KIND).to(tl.float32)
        result = (gate * rounded(second, *ends, OUTPUTS_ALL, KIND)).to(KIND).to(tl.float32)
    target = out + row[None, :] * out_stride + output[:, None]
    tl.store(target, result.to(out.dtype.element_ty), mask=known[:, None] & real[None, :])


@jit
def as_factor(numbers, UPCAST: tl.constexpr):
    """Return numbers that tensor cores multiply, with sums in float32: codes of fp8 are numbers of
    float16 too, and GPUs that know them convert two in an instruction."""
    if numbers.dtype == tl.uint8:
        numbers = numbers.to(tl.float8e4nv, bitcast=True).to(tl.float16)
    return numbers.to(tl.float32) if UPCAST else numbers


@jit
def rounded(
    sums,
    output,
    known,
    row,
    real,
    bias,
    row_scales,
    scales,
    BEGIN: tl.constexpr,
    KIND: tl.constexpr,
):
    """Return what a product gives, in float32: the sums with their scales, rounded; then the bias
    is added. The outputs are those from `BEGIN` on. A sum with a bias but without scales is rounded
    once."""
    if scales is not None:
        of_row = tl.load(row_scales + row, mask=real, other=0)
        of_output = tl.load(scales + BEGIN + output, mask=known, other=0)
        sums = (sums * of_row[None, :] * of_output[:, None]).to(KIND).to(tl.float32)
    if bias is not None:
        sums += tl.load(bias + BEGIN + output, mask=known, other=0).to(tl.float32)[:, None]
    return sums.to(KIND).to(tl.float32)


def suits(x: Tensor, weight: Tensor) -> bool:
    """Whether the kernel multiplies `x` `[rows, inputs]` by `weight` `[outputs, inputs]`."""
    return (
        0 < len(x) <= MOST_ROWS
        and x.dtype in (torch.bfloat16, torch.float16)
        and runs_kernels(x)
        and x.stride(1) == 1
        and weight.is_contiguous()
        and x.shape[1] % 16 == x.stride(0) % 16 == 0
    )


def product(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, out: Tensor | None = None
) -> Tensor:
    """Return `x @ weight.T + bias` by torch, in `out` if it is given."""
    if out is None:
        return F.linear(x, weight, bias)
    if bias is None:
        return torch.mm(x, weight.t(), out=out)
    return torch.addmm(bias, x, weight.t(), out=out)


def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, out: Tensor | None = None
) -> Tensor:
    """Return `x @ weight.T + bias` `[rows, outputs]` in the type of `x` `[rows, inputs]`, like
    `weight` `[outputs, inputs]`. `out`: where it is written, also in another type; its rows are
    contiguous."""
    if not suits(x, weight):
        result = noted(product, x, weight, bias)
        return result if out is None else out.copy_(result)
    if out is None:
        out = torch.empty(len(x), len(weight), dtype=x.dtype, device=x.device)
    launch(x, weight, out, x.dtype, bias=bias)
    return out


def linear_silu_mul(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `silu_mul(linear(x, weight, bias))`: `[rows, outputs / 2]`."""
    if not suits(x, weight) or len(weight) % 2:
        return silu_mul(linear(x, weight, bias))
    out = torch.empty(len(x), len(weight) // 2, dtype=x.dtype, device=x.device)
    launch(x, weight, out, x.dtype, bias=bias, gated=True)
    return out


TYPES: Final = {torch.bfloat16: "bfloat16", torch.float16: "float16"}


def launch(
    x: Tensor,
    weight: Tensor,
    out: Tensor,
    kind: torch.dtype,
    *,
    bias: Tensor | None = None,
    scales: tuple[Tensor, Tensor] | None = None,
    gated: bool = False,
) -> None:
    """Launch the kernel. `scales`: of the rows and of the outputs, if `x` and `weight` are codes,
    which are bytes here. `kind`: the type to which products are rounded."""
    outputs, inputs = weight.shape
    outputs //= 1 + gated
    each = OUTPUTS * (1 + (outputs >= MANY))
    tile = each * (1 + gated) * INPUTS * weight.element_size()
    few_rows_kernel[(-(-outputs // each),)](
        *(x, x.stride(0), len(x), weight, bias),
        *((None, None) if scales is None else scales),
        *(out, out.stride(0)),
        INPUTS_ALL=inputs,
        OUTPUTS_ALL=outputs,
        ROWS=MOST_ROWS,
        OUTPUTS=each,
        INPUTS=INPUTS,
        GATED=gated,
        KIND=getattr(tl, TYPES[kind]),
        UPCAST=INTERPRETED,
        STAGES=min(8, max(3, ON_THE_WAY // tile)),
        num_warps=each // OUTPUTS,
        enable_fp_fusion=False,
    )
