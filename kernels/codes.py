"""Codes of eight bits for the numbers of one head, as kernels make them.

Bit for bit what `kv_pool.encode` makes: the largest magnitude gets the largest code, quotients are
rounded correctly, and codes to the nearest, ties to even.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownMemberType=false
from __future__ import annotations

from maskwright.kernels.device import jit, tl


@jit
def encode_head(numbers, FP8: tl.constexpr):
    """Return codes of `numbers` float32 `[width]` or `[heads, width]`, as bytes, and the scale of
    each head. `FP8`: codes are fp8 (e4m3), else int8."""
    axis: tl.constexpr = len(numbers.shape) - 1
    largest: tl.constexpr = 448.0 if FP8 else 127.0
    scale = tl.div_rn(tl.max(tl.abs(numbers), axis), tl.full([], largest, tl.float32))
    # The least normal number: a head of zeros has the scale 0.
    divisor = tl.expand_dims(tl.maximum(scale, 1.1754943508222875e-38), axis)
    quotient = tl.div_rn(numbers, tl.broadcast_to(divisor, numbers.shape))
    quotient = tl.minimum(tl.maximum(quotient, -largest), largest)
    if FP8:
        bits = quotient.to(tl.int32, bitcast=True)
        magnitude = bits & 0x7FFFFFFF
        # Three bits of the mantissa stay; a carry goes on into the exponent, whose origin changes
        # from 127 to 7.
        normal = ((magnitude + 0x7FFFF + ((magnitude >> 20) & 1)) >> 20) - (120 << 3)
        # Below the least normal number of fp8, codes count steps of 2 ** -9.
        small = nearest(tl.abs(quotient) * 512).to(tl.int32)
        code = ((bits >> 24) & 128) | tl.where(tl.abs(quotient) < 0.015625, small, normal)
    else:
        code = nearest(quotient).to(tl.int32)
    return (code & 255).to(tl.uint8), scale


@jit
def nearest(number):
    """Return `number`, far below 2 ** 22, rounded to a whole number, ties to even: beyond 1.5 *
    2 ** 23, float32 has no other numbers."""
    return (number + 12582912.0) - 12582912.0
