"""Forbids tokens by setting their logits to -inf, in place.

A mask row is int32 `[words]`: bit i of word w allows token `32 * w + i`, and tokens that the words
don't reach are forbidden. `apply_mask_by_row` takes the rows from a table that stays on the device,
so that a step ships four bytes for each request; `apply_mask` takes a bitmask of its own for each
row of logits, as other engines have it.

The kernel moves bits and computes nothing, so that it serves every floating-point type. It works on
groups of eight tokens, which have one byte of the mask: a group whose tokens are all allowed is
neither read nor written, one whose tokens are all forbidden is only written.
"""

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

GROUPS: Final = 512
"""Groups of eight tokens in a program: with four warps, four groups a thread, each of which is one
access of 128 bits to logits of two bytes, or two to logits of four."""

WARPS: Final = 4

AS_INTEGERS: Final = {2: torch.int16, 4: torch.int32}
"""Integers with the bits of logits, by the number of their bytes."""

FORBIDDEN: Final = {torch.float32: -0x800000, torch.float16: -0x400, torch.bfloat16: -0x80}
"""The bits of -inf as a signed integer, by the type of logits."""


@jit
def mask_kernel(
    logits,
    stride,
    table,
    table_stride,
    rows,
    vocab,
    table_bytes,
    FORBIDDEN: tl.constexpr,
    BY_ROW: tl.constexpr,
    WHOLE: tl.constexpr,
    GROUPS: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Mask one tile of a row. `logits` are viewed as integers, `table` as bytes, and strides are in
    these elements. `FORBIDDEN`: the bits of -inf. `BY_ROW`: `rows` names rows of the table.
    `WHOLE`: the vocabulary is a multiple of eight. Else the tokens of its last group are masked
    apart, so that all other groups are whole: each is one access, of 128 bits if rows begin at
    multiples of as many, and nothing after the vocabulary is read or written."""
    await_earlier(OVERLAPS)
    row = tl.program_id(0)
    number = row
    if BY_ROW:
        number = tl.load(rows + row)
    if number >= 0:
        group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
        place = table + number.to(tl.int64) * table_stride + group
        allowed = tl.load(place, mask=group < table_bytes, other=0).to(tl.int32)
        bit = tl.arange(0, 8)
        token = group[:, None] * 8 + bit[None, :]
        whole = group * 8 + 8 <= vocab
        place = logits + row.to(tl.int64) * stride + token
        mixed = (allowed != 0) & (allowed != 255) & whole
        value = tl.load(place, mask=mixed[:, None], other=0)
        keep = ((allowed[:, None] >> bit[None, :]) & 1) != 0
        value = tl.where(keep, value, tl.full([GROUPS, 8], FORBIDDEN, value.dtype))
        tl.store(place, value, mask=((allowed != 255) & whole)[:, None])
        if not WHOLE:
            last = vocab // 8
            if tl.program_id(1) == last // GROUPS:
                byte = table + number.to(tl.int64) * table_stride + last
                bits = tl.load(byte, mask=last < table_bytes, other=0).to(tl.int32)
                forbidden = (((bits >> bit) & 1) == 0) & (last * 8 + bit < vocab)
                ends = logits + row.to(tl.int64) * stride + last * 8 + bit
                gone = tl.full([8], FORBIDDEN, logits.dtype.element_ty)
                tl.store(ends, gone, mask=forbidden)


def apply_mask(logits: Tensor, words: Tensor) -> None:
    """Set the logits of the tokens that `words` forbid to -inf, in place. `logits`: float32,
    float16 or bfloat16 `[rows, vocab]`, whose rows may lie apart; `words`: int32 `[rows, words]`.
    Raises `ValueError` for other types and shapes."""
    if len(words) != len(logits):
        raise ValueError(f"{len(logits)} rows of logits have {len(words)} masks")
    _check(logits, words)
    if runs_kernels(logits):
        _launch(logits, words, None)
    else:
        reference.apply_mask(logits, words)


def apply_mask_by_row(logits: Tensor, table: Tensor, rows: Tensor) -> None:
    """Set the logits of forbidden tokens to -inf, in place. `logits`: as in `apply_mask`; `table`:
    masks, int32 `[masks, words]`; `rows`: int32 `[rows]`, the number of each row's mask in the
    table; a row with -1 stays as it is. Raises `ValueError` for other types and shapes."""
    _check(logits, table)
    if rows.dtype != torch.int32 or rows.shape != logits.shape[:1] or not rows.is_contiguous():
        raise ValueError("the numbers of masks must be int32, one for each row of logits")
    if runs_kernels(logits):
        _launch(logits, table, rows)
    else:
        reference.apply_mask_by_row(logits, table, rows)


def _check(logits: Tensor, table: Tensor) -> None:
    if logits.dtype not in FORBIDDEN or logits.ndim != 2 or logits.stride(1) != 1:
        raise ValueError(
            "logits must be float32, float16 or bfloat16 [rows, vocab], with a stride"
            " of 1 between tokens"
        )
    if table.dtype != torch.int32 or table.ndim != 2 or table.stride(1) != 1:
        raise ValueError("masks must be int32 [masks, words], with a stride of 1 between words")


def _launch(logits: Tensor, table: Tensor, rows: Tensor | None) -> None:
    count, vocab = logits.shape
    if not count or not vocab:
        return
    table = table.view(torch.uint8)
    mask_kernel[count, -(-vocab // (8 * GROUPS))](
        logits.view(AS_INTEGERS[logits.element_size()]),
        logits.stride(0),
        table,
        table.stride(0),
        rows,
        vocab,
        table.shape[1],
        FORBIDDEN=FORBIDDEN[logits.dtype],
        BY_ROW=rows is not None,
        WHOLE=vocab % 8 == 0,
        GROUPS=GROUPS,
        num_warps=WARPS,
        enable_fp_fusion=False,
    )
