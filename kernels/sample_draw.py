"""What the two large sampling kernels share: tiles of a row, distances, random words and scores.

A row is read in tiles. Tile `t` of `n` has the groups `t`, `t + n`, `t + 2 * n` and so on, of 128
tokens each: likely tokens often have neighbouring numbers, and so they are spread over all tiles.
Listed tokens follow in tiles of their own, an eighth as many in each, and those that end an answer
in further ones, since whether they count is known only after all others.

All comparisons of scaled logits z, of which the highest is 0, are made on their distances: the bits
of |z|, an integer that grows as z falls.

In what follows, `row` is a tuple of a row's logits, its mask's bytes, the size of the vocabulary,
where the memory of the row ends (`readable_tokens`), the bytes of a mask, the mask's number or -1,
and how many tiles the logits have; `extra` is one of its listed tokens: where they begin and end,
the tokens, flags and values, and how many tiles they take; the ends of answers take as many.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from maskwright.kernels.device import jit, tl


@jit
def eights_of(tile, tiles, lane):
    """Return the numbers of the groups of eight tokens at the places `lane` of a tile of logits, of
    which there are `tiles`."""
    return (lane // 16 * tiles + tile) * 16 + lane % 16


@jit
def load_logits(row, tile, lane, hidden, ALL: tl.constexpr):
    """Load the groups of eight tokens at the places `lane` `[n]` of a tile: the logits in float32,
    of forbidden ones only with `ALL`, and whether each is allowed; both `[n, 8]`. With `hidden`
    none is."""
    logits, words, vocab, readable, mask_bytes, number, tiles = row
    eight, bit = eights_of(tile, tiles, lane), tl.arange(0, 8)
    limit = tl.where(number >= 0, mask_bytes, 0)
    bits = tl.load(words + eight, mask=eight < limit, other=0).to(tl.int32)
    bits = tl.where(number >= 0, bits, 255)
    left = tl.minimum(tl.maximum(vocab - eight * 8, 0), 8)
    bits = tl.where(hidden != 0, 0, bits & ((1 << left) - 1))
    token = eight[:, None] * 8 + bit[None, :]
    inside = token < readable
    wanted = inside if ALL else inside & (bits != 0)[:, None]
    logit = tl.load(logits + token, mask=wanted, other=0).to(tl.float32)
    return logit, ((bits[:, None] >> bit[None, :]) & 1) != 0


@jit
def logits_tile(row, tile, lane, only):
    """Return the logits of groups of eight tokens of a tile, -inf where nothing may be chosen."""
    logit, keep = load_logits(row, tile, lane, only, False)
    return tl.where(keep, logit, float("-inf"))


@jit
def listed_places(row, extra, tile, lane, EIGHTS: tl.constexpr):
    """Return where the listed tokens of a tile stand, one at each of the places `lane` `[n]`."""
    return extra[0] + (tile - row[6]) % extra[5] * EIGHTS + lane


@jit
def listed_tile(row, extra, tile, lane, column, END: tl.constexpr, EIGHTS: tl.constexpr):
    """Return what a tile has in a column of the listed tokens, each followed by seven times -inf,
    which also stands for tokens that other tiles have."""
    index = listed_places(row, extra, tile, lane, EIGHTS)
    flag = tl.load(extra[3] + index, mask=index < extra[1], other=0)
    inside = (index < extra[1]) & (((flag & END) != 0) == (tile - row[6] >= extra[5]))
    value = tl.load(column + index, mask=inside, other=float("-inf"))
    return tl.where(tl.arange(0, 8)[None, :] == 0, value[:, None], float("-inf"))


@jit
def values_of_tile(
    row, extra, tile, lane, only, LISTED: tl.constexpr, END: tl.constexpr, EIGHTS: tl.constexpr
):
    """Return the values of any tile after the edits, -inf where nothing may be chosen; eight at
    each of the places `lane` `[n]`: `[n, 8]`. `only`: whether only listed tokens may be chosen."""
    if LISTED:
        if tile < row[6]:
            value = logits_tile(row, tile, lane, only)
        else:
            value = listed_tile(row, extra, tile, lane, extra[4], END, EIGHTS)
    else:
        value = logits_tile(row, tile, lane, only)
    return value


@jit
def tokens_of_tile(row, extra, tile, lane, LISTED: tl.constexpr, EIGHTS: tl.constexpr):
    """Return the tokens at the places `lane` `[n]` of any tile, which ascend: `[n, 8]`."""
    token = eights_of(tile, row[6], lane)[:, None] * 8 + tl.arange(0, 8)[None, :]
    if LISTED:
        listed = tile >= row[6]
        if listed:
            token = listed_tokens(row, extra, tile, lane, EIGHTS)[:, None] + token * 0
    return token


@jit
def listed_tokens(row, extra, tile, lane, EIGHTS: tl.constexpr):
    """Return the listed tokens of a tile, `[n]`."""
    index = listed_places(row, extra, tile, lane, EIGHTS)
    return tl.load(extra[2] + index, mask=index < extra[1], other=0)


@jit
def row_of(number, matrix, masks, sizes, tiles):
    """Return the tuple of a row. `matrix`: logits and their stride; `masks`: the table, its stride,
    and the rows' numbers in it; `sizes`: of vocabulary, memory and masks."""
    logits, stride = matrix
    table, table_stride, mask_rows = masks
    vocab, readable, mask_bytes = sizes
    mask = tl.load(mask_rows + number)
    words = table + tl.maximum(mask, 0).to(tl.int64) * table_stride
    own = logits + number.to(tl.int64) * stride
    return own, words, vocab, readable, mask_bytes, mask, tiles


@jit
def extra_of(number, starts, tokens, flags, values, parts, LISTED: tl.constexpr):
    """Return the tuple of a row's listed tokens."""
    extra = (0,)
    if LISTED:
        begin, end = tl.load(starts + number), tl.load(starts + number + 1)
        extra = (begin, end, tokens, flags, values, parts)
    return extra


@jit
def rules_of(number, temperature, top_k, top_p, least, vocab):
    """Return a row's temperature, its top-k, 0 for none, its top-p, the least logit that min-p
    keeps, and whether any of these may drop a token: a temperature does if it is so low that
    scaled logits overflow."""
    heat, kept = tl.load(temperature + number), tl.load(top_k + number)
    kept = tl.where(kept < vocab, kept, 0)
    share, drop = tl.load(top_p + number), tl.load(least + number)
    dropping = (kept > 0) | (share < 1) | (drop > float("-inf")) | (heat < 1e-30)
    return heat, kept, share, drop, dropping


@jit
def distance(z):
    """Return the bits of |z| as int32: 0 for the highest logit, those of infinity for -inf."""
    return tl.abs(z).to(tl.int32, bitcast=True)


@jit
def words_of(token, seed, position):
    """Return the random words of any tokens, uint32."""
    zero = token * 0
    a, b, c, d = tl.philox(seed, token // 4, zero + position, zero, zero)
    lane = token % 4
    return tl.where(lane < 2, tl.where(lane == 0, a, b), tl.where(lane == 2, c, d))


@jit
def words_of_eights(eight, seed, position, EIGHTS: tl.constexpr):
    """Return the random words of the groups of eight tokens `eight`, uint32 `[EIGHTS, 8]`: four of
    each evaluation."""
    quad = eight[:, None] * 2 + tl.arange(0, 2)[None, :]
    zero = quad * 0
    a, b, c, d = tl.philox(seed, quad, zero + position, zero, zero)
    return tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), [EIGHTS, 8])


@jit
def words_of_tile(
    row, extra, tile, lane, seed, position, LISTED: tl.constexpr, EIGHTS: tl.constexpr
):
    """Return the random words of the tokens of any tile, uint32."""
    if LISTED:
        if tile < row[6]:
            word = words_of_eights(eights_of(tile, row[6], lane), seed, position, EIGHTS)
        else:
            token = listed_tokens(row, extra, tile, lane, EIGHTS)
            word = tl.broadcast_to(words_of(token, seed, position)[:, None], [EIGHTS, 8])
    else:
        word = words_of_eights(eights_of(tile, row[6], lane), seed, position, EIGHTS)
    return word


@jit
def exponential(word):
    """Return `-log(1 - u)` in float32 for `u = (word + 0.5) / 2**32`, to about seven digits."""
    small = (word.to(tl.float32) + 0.5) * 2.3283064365386963e-10
    rest = ((0xFFFFFFFF - word).to(tl.float32) + 0.5) * 2.3283064365386963e-10
    series = small * (1.0 + small * (0.5 + small * 0.33333334))
    return tl.where(word < 67108864, series, -tl.log(rest))
