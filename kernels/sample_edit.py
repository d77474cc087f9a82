"""The first sampling kernel: edits of listed tokens.

It moves the listed tokens of a row from the logits to a list of float32 values, to which bias,
penalties and bans are applied: so they keep their precision beside logits of 16 bits, and what
reads the logits knows nothing of them.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from maskwright.kernels.device import await_earlier, jit, tl


@jit
def edit_kernel(
    logits,
    stride,
    table,
    table_stride,
    mask_rows,
    mask_bytes,
    starts,
    tokens,
    bias,
    counts,
    flags,
    repetition,
    presence,
    frequency,
    only_listed,
    raw,
    masked,
    values,
    bits_of_logits,
    FORBIDDEN: tl.constexpr,
    ORDER: tl.constexpr,
    OCCURRED: tl.constexpr,
    BANNED: tl.constexpr,
    ALLOWED: tl.constexpr,
    LIST: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Compute the values of `LIST` listed tokens of a row, and set their logits to -inf. `raw` gets
    the logits, `masked` those that the mask allows, `values` what the chain makes of them; all are
    float32 `[listed]`. `bits_of_logits`: the logits as integers; `FORBIDDEN`: the bits of -inf."""
    await_earlier(OVERLAPS)
    row = tl.program_id(0)
    begin, end = tl.load(starts + row), tl.load(starts + row + 1)
    index = begin + tl.program_id(1) * LIST + tl.arange(0, LIST)
    inside = index < end
    token = tl.load(tokens + index, mask=inside, other=0)
    place = row.to(tl.int64) * stride + token
    logit = tl.load(logits + place, mask=inside, other=0).to(tl.float32)
    flag = tl.load(flags + index, mask=inside, other=0)
    count = tl.load(counts + index, mask=inside, other=0)
    number = tl.load(mask_rows + row)
    byte = table + tl.maximum(number, 0).to(tl.int64) * table_stride + token // 8
    bits = tl.load(byte, mask=inside & (token // 8 < mask_bytes), other=0).to(tl.int32)
    permitted = (number < 0) | (((bits >> (token % 8)) & 1) != 0)
    value = logit
    for step in tl.static_range(len(ORDER)):
        if ORDER[step] == "logit_bias":
            value = value + tl.load(bias + index, mask=inside, other=0.0)
        elif ORDER[step] == "repetition_penalty":
            factor = tl.where((flag & OCCURRED) != 0, tl.load(repetition + row), 1.0)
            value = tl.where(value > 0, tl.div_rn(value, factor), value * factor)
        elif ORDER[step] == "presence_penalty":
            value = value - tl.where(count > 0, tl.load(presence + row), 0.0)
        elif ORDER[step] == "frequency_penalty":
            value = value - count.to(tl.float32) * tl.load(frequency + row)
        elif ORDER[step] == "bad_words":
            value = tl.where((flag & BANNED) != 0, float("-inf"), value)
        elif ORDER[step] == "allowed_tokens":
            refused = (tl.load(only_listed + row) != 0) & ((flag & ALLOWED) == 0)
            value = tl.where(refused, float("-inf"), value)
        elif ORDER[step] == "mask_rows":
            value = tl.where(permitted, value, float("-inf"))
    tl.store(raw + index, logit, mask=inside)
    tl.store(masked + index, tl.where(permitted, logit, float("-inf")), mask=inside)
    tl.store(values + index, value, mask=inside)
    gone = tl.full([LIST], FORBIDDEN, bits_of_logits.dtype.element_ty)
    tl.store(bits_of_logits + place, gone, mask=inside)
