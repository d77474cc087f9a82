"""Numbers that attention makes of codes of eight bits, four at a time: the PTX for it, which
Triton's interpreter can't run, is carried out here, instruction by instruction."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor

from maskwright.kernels.attention.codes import FP8_PTX, INT8_PTX

HALVES = 0, 16
"""The lowest bits of the two numbers of a register."""


def as_bits(numbers: Tensor) -> Tensor:
    """The bits of numbers of two bytes, as int64."""
    return numbers.view(torch.int16).to(torch.int64) & 0xFFFF


def bfloat16(register: Tensor, low: int) -> Tensor:
    """The number in a half of a register, in float64."""
    bits = (register >> low & 0xFFFF).to(torch.int32)
    return (bits << 16).view(torch.float32).double()


def multiply_add(one: Tensor, other: Tensor, more: Tensor) -> Tensor:
    """`fma.rn.bf16x2`. Results must be numbers of bfloat16, so that nothing is rounded."""
    halves = torch.zeros_like(one)
    for low in HALVES:
        exact = bfloat16(one, low) * bfloat16(other, low) + bfloat16(more, low)
        result = exact.bfloat16()
        assert torch.equal(result.double(), exact)
        halves |= as_bits(result) << low
    return halves


def carried_out(ptx: str, word: Tensor) -> tuple[Tensor, Tensor]:
    """What a piece of PTX writes to `$0` and `$1` if it finds `word`, int64 of 32 bits, in `$2`."""
    found = {"$2": word}

    def value(name: str) -> Tensor:
        return found[name] if name in found else torch.full_like(word, int(name, 0))

    for operation, operands in re.findall(r"^\s*([a-z][\w.]+) ([^;]+);$", ptx, re.MULTILINE):
        target, *names = [name.strip() for name in operands.split(",")]
        match operation, [value(name) for name in names]:
            case "mov.b32", [one]:
                result = one
            case "and.b32", [one, other]:
                result = one & other
            case "lop3.b32", [one, other, more, table] if set(table.tolist()) == {0xEA}:
                result = one & other | more
            case "shl.b32", [one, count]:
                result = one << count & 0xFFFF_FFFF
            case "shr.u32", [one, count]:
                result = one >> count
            case "fma.rn.bf16x2", [one, other, more]:
                result = multiply_add(one, other, more)
            case unknown:
                pytest.fail(f"nothing is known of {unknown[0]}")
        found[target] = result
    return found["$0"], found["$1"]


@pytest.mark.parametrize(
    ("constant", "kind", "scale"),
    [
        pytest.param(INT8_PTX, torch.int8, 1, id="int8"),
        pytest.param(FP8_PTX, torch.float8_e4m3fn, 1 / 256, id="fp8"),
    ],
)
def test_numbers_of_every_four_codes(constant: object, kind: torch.dtype, scale: float) -> None:
    """Are the codes, at each of four places, whatever codes are beside them."""
    ptx = getattr(constant, "value", constant)
    assert isinstance(ptx, str)
    random = torch.Generator().manual_seed(0)
    codes = torch.stack([torch.arange(1 << 16) % 256] * 4)
    for place in range(1, 4):
        codes[place] = codes[place][torch.randperm(1 << 16, generator=random)]
    numbers = codes.to(torch.uint8).view(kind).double() * scale
    real = ~numbers.isnan()  # two codes of fp8, which nothing is stored as
    assert real.sum() >= (1 << 18) * 254 // 256
    word = codes[0] | codes[1] << 8 | codes[2] << 16 | codes[3] << 24
    for register, places in zip(carried_out(ptx, word), ((0, 2), (1, 3)), strict=True):
        for low, place in zip(HALVES, places, strict=True):
            found = bfloat16(register, low)
            assert torch.equal(found[real[place]], numbers[place][real[place]])
