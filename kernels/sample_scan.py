"""The first two sampling kernels: edits of listed tokens, and one pass over the logits.

`edit_kernel` moves the listed tokens of a row from the logits to a list of float32 values, to which
bias, penalties and bans are applied: so they keep their precision beside logits of 16 bits, and the
pass over the logits knows nothing of them. `scan_kernel` reads the logits and masks once and keeps
the highest allowed logit of every group of `GROUP` tokens; what can't matter is not read again.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from maskwright.kernels.device import jit, tl

GROUP = 128
"""Tokens in a group, sixteen bytes of the mask."""

EIGHTS = 512
"""Groups of eight tokens that a program reads at once: 4,096 tokens."""

STATS = 5
"""Statistics of a tile, for scores: the highest raw logit, the mass relative to it, both of these
of allowed tokens, and how many tokens the mask allows."""


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
):
    """Compute the values of `LIST` listed tokens of a row, and set their logits to -inf. `raw` gets
    the logits, `masked` those that the mask allows, `values` what the chain makes of them; all are
    float32 `[listed]`. `bits_of_logits`: the logits as integers; `FORBIDDEN`: the bits of -inf."""
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


@jit
def load_tokens(logits, words, eight, vocab, readable, mask_bytes, number, ALL: tl.constexpr):
    """Load the groups of eight tokens numbered `eight` `[n]` of one row: the logits in float32, of
    forbidden ones only with `ALL`; whether each is allowed; the tokens; all `[n, 8]`. `readable`:
    where the memory of the row ends, see `readable_tokens`. `number`: of the row's mask, which is
    at `words`; -1 for none."""
    bit = tl.arange(0, 8)
    token = eight[:, None] * 8 + bit[None, :]
    inside = token < readable
    limit = tl.where(number >= 0, mask_bytes, 0)
    bits = tl.load(words + eight, mask=eight < limit, other=0).to(tl.int32)
    bits = tl.where(number >= 0, bits, 255)
    keep = (((bits[:, None] >> bit[None, :]) & 1) != 0) & (token < vocab)
    wanted = inside if ALL else inside & (bits != 0)[:, None]
    logit = tl.load(logits + token, mask=wanted, other=0).to(tl.float32)
    return logit, keep, token


@jit
def scan_kernel(
    logits,
    stride,
    table,
    table_stride,
    mask_rows,
    vocab,
    readable,
    mask_bytes,
    peaks,
    groups,
    stats,
    tiles,
    SCORED: tl.constexpr,
    EIGHTS: tl.constexpr,
    STATS: tl.constexpr,
):
    """Scan one tile of a row. `peaks` float32 `[rows, groups]` gets the highest allowed logit of
    each group, +inf if one is NaN; `stats` float32 `[rows, STATS, tiles]` if `SCORED`."""
    row, tile = tl.program_id(0), tl.program_id(1)
    number = tl.load(mask_rows + row)
    words = table + tl.maximum(number, 0).to(tl.int64) * table_stride
    own = logits + row.to(tl.int64) * stride
    eight = tile * EIGHTS + tl.arange(0, EIGHTS)
    logit, keep, token = load_tokens(own, words, eight, vocab, readable, mask_bytes, number, SCORED)
    value = tl.where(keep, logit, float("-inf"))
    value = tl.where(value != value, float("inf"), value)
    peak = tl.max(tl.reshape(tl.max(value, 1), [EIGHTS // 16, 16]), 1)
    group = tile * (EIGHTS // 16) + tl.arange(0, EIGHTS // 16)
    tl.store(peaks + row * groups + group, peak)
    if SCORED:
        raw = tl.where(token < vocab, logit, float("-inf"))
        highest, mass = mass_below(raw)
        place = stats + row * STATS * tiles + tile
        tl.store(place, highest)
        tl.store(place + tiles, mass)
        highest, mass = mass_below(tl.where(keep, logit, float("-inf")))
        tl.store(place + 2 * tiles, highest)
        tl.store(place + 3 * tiles, mass)
        tl.store(place + 4 * tiles, tl.sum(tl.sum(keep.to(tl.float32), 1)))


@jit
def mass_below(values):
    """Return the highest of `values` and the sum of `exp(value - highest)`; 0 if all are -inf."""
    highest = tl.max(values)
    base = tl.where(highest > float("-inf"), highest, 0.0)
    return highest, tl.sum(tl.sum(tl.exp(values - base), 1))
