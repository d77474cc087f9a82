"""How programs of `paged_attention.py` make numbers of keys and values that are codes.

Codes are loaded in pairs, as int16, and become two matrices: one of the even columns of a head, one
of the odd ones. In bfloat16 this is written in PTX, which works on two numbers at a time. Triton's
own conversions work on one, in three to five times as many instructions, which were more than half
of all that a program issued.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from typing import Final

import torch

from maskwright.kernels.device import constant, jit, tl

CODES: Final = {torch.int8: "int8", torch.float8_e4m3fn: "fp8"}
"""The name of each kind of codes."""

INT8_PTX: Final = constant("""{
    .reg .b32 odd, rest, sign, minus;
    mov.b32 minus, 0xbf80bf80;
    lop3.b32 rest, $2, 0x007f007f, 0x43004300, 0xea;
    lop3.b32 sign, $2, 0x00800080, 0x43004300, 0xea;
    fma.rn.bf16x2 $0, sign, minus, rest;
    shr.u32 odd, $2, 8;
    lop3.b32 rest, odd, 0x007f007f, 0x43004300, 0xea;
    lop3.b32 sign, odd, 0x00800080, 0x43004300, 0xea;
    fma.rn.bf16x2 $1, sign, minus, rest;
}""")
"""Four codes of int8 in `$2` become bfloat16, the even ones in `$0` and the odd ones in `$1`.
0x4300 is 128, whose last bit counts ones. With the seven lower bits of a code it is 128 and what
these say, with the uppermost one, which is the lowest of the exponent, 128 or 256. The former minus
the latter is the code. 0xea: (a and b) or c; 0xbf80: -1."""

FP8_PTX: Final = constant("""{
    .reg .b32 bits, sign, factor, zero;
    mov.b32 factor, 0x77807780;
    mov.b32 zero, 0x80008000;
    shl.b32 sign, $2, 8;
    shl.b32 bits, $2, 4;
    and.b32 bits, bits, 0x07f007f0;
    lop3.b32 bits, sign, 0x80008000, bits, 0xea;
    fma.rn.bf16x2 $0, bits, factor, zero;
    shr.u32 bits, $2, 4;
    and.b32 bits, bits, 0x07f007f0;
    lop3.b32 bits, $2, 0x80008000, bits, 0xea;
    fma.rn.bf16x2 $1, bits, factor, zero;
}""")
"""Four codes of fp8 (e4m3) in `$2` become bfloat16, divided by 256. Their bits move to their places
there, whose exponents have another origin: 2 to the power of 120 makes up for it, and 0x7780, which
is that of 112, divides by 256 as well."""


@jit
def as_numbers(loaded, kind: tl.constexpr, CODES: tl.constexpr):
    """Return what was loaded as numbers of `kind`: a tuple of one matrix, or of codes, which are
    loaded in pairs of int16, one with the even columns and one with the odd ones."""
    if CODES == "int8" and kind == tl.bfloat16:
        numbers = four_codes(loaded, INT8_PTX)
    elif CODES == "fp8" and kind == tl.bfloat16:
        numbers = four_codes(loaded, FP8_PTX)
    elif CODES == "int8":
        numbers = ((loaded << 8) >> 8).to(kind), (loaded >> 8).to(kind)
    elif CODES == "fp8":
        numbers = from_fp8(loaded << 8, kind), from_fp8(loaded, kind)
    else:
        numbers = (loaded.to(kind),)
    return numbers


@jit
def four_codes(loaded, PTX: tl.constexpr):
    """Return the even and the odd columns of two pairs of codes at a time, as bfloat16."""
    kinds: tl.constexpr = (tl.bfloat16, tl.bfloat16)
    return tl.inline_asm_elementwise(PTX, "=r,=r,r", [loaded], kinds, is_pure=True, pack=2)


@jit
def from_fp8(bits, kind: tl.constexpr):
    """Return the numbers of fp8 (e4m3) in the upper bytes of `bits` int16, divided by 256, as
    numbers of `kind`. Not every GPU knows fp8. What this does is to move the bits to their places
    in float16, whose exponents have another origin."""
    bits = (bits & -32768) | ((bits >> 1) & 0x3F80)
    return bits.to(tl.float16, bitcast=True).to(kind)


@jit
def scales_of(scales, place, exists, CODES: tl.constexpr):
    """Return the scales of what `as_numbers` makes of codes."""
    scale = tl.load(scales + place, mask=exists, other=0)
    if CODES == "fp8":
        scale *= 256
    return scale
