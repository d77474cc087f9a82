"""The third sampling kernel: thresholds, the draw and the scores, one program for each row.

All comparisons are made on the distance of a scaled logit z from the highest, which is 0: the bits
of |z|, an integer that grows as z falls. The threshold of top-k or top-p is the least distance
within which lie k tokens, or the mass p; it is found by bisection. A list of the groups of tokens
whose best one lies within the present bound shrinks with it, and only these are read.

The draw computes Gumbel noise in float32 first. Where a score could be the highest, and only there,
it is computed again in float64 as the CPU does; that is about one token of a row.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from maskwright.kernels.device import jit, tl
from maskwright.kernels.sample_scan import load_tokens

# In what follows, `row` is a tuple of a row's logits, mask, sizes, list of groups, highest logit
# and divisor, and `extra` one of its listed tokens; `near` is the number of groups on the list.


@jit
def distance(z):
    """Return the bits of |z| as int32: 0 for the highest logit, those of infinity for -inf."""
    return tl.abs(z).to(tl.int32, bitcast=True)


@jit
def dense_chunk(row, near, at, EIGHTS: tl.constexpr):
    """Return the scaled logits of the groups from `at` on, their tokens, and groups of eight."""
    logits, words, vocab, readable, mask_bytes, mask, groups, peak, divisor = row
    lane = tl.arange(0, EIGHTS)
    index = at + lane // 16
    group = tl.load(groups + index, mask=index < near, other=0)
    eight = group * 16 + lane % 16
    logit, keep, token = load_tokens(logits, words, eight, vocab, readable, mask_bytes, mask, False)
    keep = keep & (index < near)[:, None]
    z = tl.div_rn(tl.where(keep, logit, float("-inf")) - peak, divisor)
    return z, token, eight


@jit
def listed_chunk(extra, at, END: tl.constexpr, LIST: tl.constexpr):
    """Return the values of the listed tokens from `at` on and the tokens. End tokens that are
    `withheld` have the value -inf."""
    end, tokens, flags, values, withheld = extra
    index = at + tl.arange(0, LIST)
    token = tl.load(tokens + index, mask=index < end, other=0)
    flag = tl.load(flags + index, mask=index < end, other=0)
    value = tl.load(values + index, mask=index < end, other=float("-inf"))
    return tl.where((flag & END) * withheld != 0, float("-inf"), value), token


@jit
def listed_peak(extra, begin, END: tl.constexpr, LIST: tl.constexpr):
    """Return the highest value of the listed tokens; +inf if one is NaN."""
    peak = tl.full([], float("-inf"), tl.float32)
    for at in range(begin, extra[0], LIST):
        value, _ = listed_chunk(extra, at, END, LIST)
        peak = tl.maximum(peak, tl.max(tl.where(value != value, float("inf"), value)))
    return peak


@jit
def divide(z, bound, MASS: tl.constexpr):
    """Return of each of the scaled logits `z` what it adds to the amount within the distance
    `bound`, 1 or with `MASS` its `exp(z)`; the largest distance of one that lies within; and the
    least of those beyond, 2 ** 31 - 1 if there is none."""
    part = tl.exp(z) if MASS else (z > float("-inf")).to(tl.float32)
    far = distance(z)
    within = far <= bound
    last, beyond = tl.where(within, far, 0), tl.where(within, 0x7FFFFFFF, far)
    return tl.where(within, part, 0.0), tl.max(last), tl.min(beyond)


@jit
def amount(
    row,
    near,
    extra,
    begin,
    bound,
    MASS: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    LIST: tl.constexpr,
):
    """Return how many tokens lie within the distance `bound`, or with `MASS` their mass, the sum of
    `exp(z)`, in float64; and the two distances next to the bound, see `divide`."""
    total = tl.full([], 0.0, tl.float64)
    last, beyond = tl.full([], 0, tl.int32), tl.full([], 0x7FFFFFFF, tl.int32)
    for at in range(0, near, EIGHTS // 16):
        z, _, _ = dense_chunk(row, near, at, EIGHTS)
        parts, furthest, next_one = divide(z, bound, MASS)
        total += tl.sum(tl.sum(parts, 1)).to(tl.float64)
        last, beyond = tl.maximum(last, furthest), tl.minimum(beyond, next_one)
    if LISTED:
        for at in range(begin, extra[0], LIST):
            value, _ = listed_chunk(extra, at, END, LIST)
            z = tl.div_rn(value - row[7], row[8])
            parts, furthest, next_one = divide(z, bound, MASS)
            total += tl.sum(parts).to(tl.float64)
            last, beyond = tl.maximum(last, furthest), tl.minimum(beyond, next_one)
    return total, last, beyond


@jit
def shorten(reach, bound, groups, GROUPS: tl.constexpr):
    """Write the list of the groups that reach into the distance `bound`, and return its length.
    `reach`: the distance of the best token of each group."""
    member = (reach <= bound) & (reach < 0x7F800000)
    chosen = member.to(tl.int32)
    tl.debug_barrier()
    tl.store(groups + tl.cumsum(chosen) - 1, tl.arange(0, GROUPS), mask=member)
    tl.debug_barrier()
    return tl.sum(chosen)


@jit
def kth_group(reach, bound, count):
    """Return the least distance within which `count` groups have a token, at most `bound`: top-k
    keeps no token beyond it."""
    low = tl.full([], 0, tl.int32)
    while low < bound:
        middle = low + (bound - low) // 2
        if tl.sum((reach <= middle).to(tl.int32)) >= count:
            bound = middle
        else:
            low = middle + 1
    return bound


@jit
def threshold(
    row,
    near,
    extra,
    begin,
    reach,
    bound,
    target,
    MASS: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    LIST: tl.constexpr,
    GROUPS: tl.constexpr,
):
    """Return the least distance within which the amount of tokens reaches `target`, at most
    `bound`, and the length of the list that is left. Bounds move to distances that tokens have, so
    that the search ends when none is left between them."""
    low = tl.full([], 0, tl.int32)
    while low < bound:
        middle = low + (bound - low) // 2
        total, last, beyond = amount(
            row, near, extra, begin, middle, MASS, LISTED, END, EIGHTS, LIST
        )
        if total >= target:
            bound = last
            near = shorten(reach, bound, row[6], GROUPS)
        else:
            low = tl.minimum(beyond, bound)
    return bound, near


@jit
def words_of(token_group, seed, position):
    """Return the four random words of tokens `4 * token_group ..`, each uint32."""
    zero = token_group * 0
    return tl.philox(seed, token_group, zero + position, zero, zero)


@jit
def rough_score(z, word):
    """Return the score in float32, with an error below 1e-4 for |z| < 32."""
    small = (word.to(tl.float32) + 0.5) * 2.3283064365386963e-10
    rest = ((0xFFFFFFFF - word).to(tl.float32) + 0.5) * 2.3283064365386963e-10
    series = small * (1.0 + small * (0.5 + small * 0.33333334))
    return z - tl.log(tl.where(word < 67108864, series, -tl.log(rest)))


@jit
def better(z, word, token, best, chosen):
    """Return the best score so far in float64, and its token, after those of a chunk. Of equal
    scores the lowest token counts."""
    rough = rough_score(z, word)
    top = tl.max(rough)
    while (top > float("-inf")) & (top.to(tl.float64) >= best - 1e-3):
        at = tl.min(tl.where(rough == top, token, 0x7FFFFFFF))
        here = token == at
        own = tl.max(tl.where(here, z, float("-inf"))).to(tl.float64)
        uniform = (tl.max(tl.where(here, word, 0)).to(tl.float64) + 0.5) * 2.3283064365386963e-10
        score = own - tl.log(-tl.log(1.0 - uniform))
        if (score > best) | ((score == best) & (at < chosen)):
            best = score
            chosen = at
        rough = tl.where(here, float("-inf"), rough)
        top = tl.max(rough)
    return best, chosen


@jit
def draw(
    row,
    near,
    extra,
    begin,
    bound,
    seed,
    position,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    LIST: tl.constexpr,
):
    """Return the token with the highest score among those within the distance `bound`."""
    best = tl.full([], float("-inf"), tl.float64)
    chosen = tl.full([], 0x7FFFFFFF, tl.int32)
    for at in range(0, near, EIGHTS // 16):
        z, token, eight = dense_chunk(row, near, at, EIGHTS)
        z = tl.where(distance(z) <= bound, z, float("-inf"))
        if tl.max(z).to(tl.float64) + 23.0 >= best:  # no noise exceeds 22.9
            quad = eight[:, None] * 2 + tl.arange(0, 2)[None, :]
            a, b, c, d = words_of(quad, seed, position)
            word = tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), [EIGHTS, 8])
            best, chosen = better(z, word, token, best, chosen)
    if LISTED:
        for at in range(begin, extra[0], LIST):
            value, token = listed_chunk(extra, at, END, LIST)
            z = tl.div_rn(value - row[7], row[8])
            z = tl.where(distance(z) <= bound, z, float("-inf"))
            a, b, c, d = words_of(token // 4, seed, position)
            lane = token % 4
            word = tl.where(lane < 2, tl.where(lane == 0, a, b), tl.where(lane == 2, c, d))
            best, chosen = better(z, word, token, best, chosen)
    return chosen


@jit
def highest(
    row,
    near,
    extra,
    begin,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    LIST: tl.constexpr,
):
    """Return the lowest token with the highest logit."""
    chosen = tl.full([], 0x7FFFFFFF, tl.int32)
    for at in range(0, near, EIGHTS // 16):
        z, token, _ = dense_chunk(row, near, at, EIGHTS)
        chosen = tl.minimum(chosen, tl.min(tl.where(z == 0, token, 0x7FFFFFFF)))
    if LISTED:
        for at in range(begin, extra[0], LIST):
            value, token = listed_chunk(extra, at, END, LIST)
            chosen = tl.minimum(chosen, tl.min(tl.where(value == row[7], token, 0x7FFFFFFF)))
    return chosen


@jit
def choose(
    row,
    extra,
    begin,
    reach,
    rules,
    SCORED: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    LIST: tl.constexpr,
    GROUPS: tl.constexpr,
):
    """Return the token of a row, the distance within which tokens were kept, and the length of the
    list of their groups. `rules`: temperature, top-k, top-p, the least distance that min-p drops
    from, seed and position. Tokens further away than 32 can't be drawn and have no mass; the scores
    count them."""
    temperature, top_k, top_p, least, seed, position = rules
    bound = tl.full([], 0x7F800000 if SCORED else 0x42000000, tl.int32)
    if temperature == 0:
        near = shorten(reach, 0, row[6], GROUPS)
        chosen = highest(row, near, extra, begin, LISTED, END, EIGHTS, LIST)
        bound = tl.full([], 0, tl.int32)
    else:
        if top_k > 0:
            bound = kth_group(reach, bound, top_k)
        if top_p >= 1:
            bound = tl.minimum(bound, least)
        near = shorten(reach, bound, row[6], GROUPS)
        if top_k > 0:
            bound, near = threshold(
                row,
                near,
                extra,
                begin,
                reach,
                bound,
                top_k.to(tl.float64),
                False,
                LISTED,
                END,
                EIGHTS,
                LIST,
                GROUPS,
            )
        if top_p < 1:
            whole, _, _ = amount(row, near, extra, begin, bound, True, LISTED, END, EIGHTS, LIST)
            bound, near = threshold(
                row,
                near,
                extra,
                begin,
                reach,
                bound,
                whole * top_p,
                True,
                LISTED,
                END,
                EIGHTS,
                LIST,
                GROUPS,
            )
        bound = tl.minimum(bound, least)
        chosen = draw(row, near, extra, begin, bound, seed, position, LISTED, END, EIGHTS, LIST)
    return chosen, bound, near


@jit
def total_mass(
    stats,
    extra,
    begin,
    listed,
    tiles,
    LISTED: tl.constexpr,
    TILES: tl.constexpr,
    LIST: tl.constexpr,
):
    """Return the logarithm of the mass of a whole row, from the statistics of its tiles (`stats`:
    each one's highest logit, then the masses) and from its `listed` logits; float64."""
    tile = tl.arange(0, TILES)
    tops = tl.load(stats + tile, mask=tile < tiles, other=float("-inf"))
    masses = tl.load(stats + tiles + tile, mask=tile < tiles, other=0.0)
    top = tl.max(tops)
    if LISTED:
        for at in range(begin, extra[0], LIST):
            index = at + tl.arange(0, LIST)
            value = tl.load(listed + index, mask=index < extra[0], other=float("-inf"))
            top = tl.maximum(top, tl.max(value))
    total = tl.sum(masses * tl.exp(tops - top)).to(tl.float64)
    if LISTED:
        for at in range(begin, extra[0], LIST):
            index = at + tl.arange(0, LIST)
            value = tl.load(listed + index, mask=index < extra[0], other=float("-inf"))
            total += tl.sum(tl.exp(value - top)).to(tl.float64)
    return top.to(tl.float64) + tl.log(total)


@jit
def value_of(chosen, extra, begin, listed, dense, LIST: tl.constexpr):
    """Return the value of the token `chosen` in `listed`, or `dense` if it isn't listed."""
    value = dense
    for at in range(begin, extra[0], LIST):
        index = at + tl.arange(0, LIST)
        token = tl.load(extra[1] + index, mask=index < extra[0], other=-1)
        own = tl.load(listed + index, mask=token == chosen, other=float("-inf"))
        value = tl.maximum(value, tl.max(own))
    return value


@jit
def select_kernel(
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
    near_groups,
    temperature,
    top_k,
    top_p,
    least,
    only_listed,
    seeds,
    positions,
    starts,
    tokens,
    flags,
    values,
    raw,
    masked,
    stats,
    tiles,
    out,
    scores,
    counts,
    SCORED: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EMPTY: tl.constexpr,
    NOT_FINITE: tl.constexpr,
    STATS: tl.constexpr,
    EIGHTS: tl.constexpr,
    LIST: tl.constexpr,
    GROUPS: tl.constexpr,
    TILES: tl.constexpr,
):
    """Choose the token of one row. `near_groups`: int32 `[rows, groups]`, for the list. `scores`:
    float32 `[rows, 4]` gets raw, masked, kept and processed, and `counts`: int32 `[rows, 2]` gets
    support and allowed."""
    number = tl.program_id(0)
    lane = tl.arange(0, GROUPS)
    tops = tl.load(peaks + number * groups + lane, mask=lane < groups, other=float("-inf"))
    tops = tl.where(tl.load(only_listed + number) != 0, float("-inf"), tops)
    peak = tl.max(tops)
    begin = 0
    extra = (0,)
    if LISTED:
        begin, end = tl.load(starts + number), tl.load(starts + number + 1)
        others = listed_peak((end, tokens, flags, values, 1), begin, END, LIST)
        every = listed_peak((end, tokens, flags, values, 0), begin, END, LIST)
        withheld = tl.where(tl.maximum(peak, others) > float("-inf"), 1, 0)
        peak = tl.maximum(peak, tl.where(withheld != 0, others, every))
        extra = (end, tokens, flags, values, withheld)
    if peak == float("inf"):
        tl.store(out + number, NOT_FINITE)
    elif peak == float("-inf"):
        tl.store(out + number, EMPTY)
    else:
        heat = tl.load(temperature + number)
        divisor = tl.where(heat > 0, heat, 1.0)
        mask = tl.load(mask_rows + number)
        words = table + tl.maximum(mask, 0).to(tl.int64) * table_stride
        own = logits + number.to(tl.int64) * stride
        near_groups += number * groups
        row = (own, words, vocab, readable, mask_bytes, mask, near_groups, peak, divisor)
        drop = distance(tl.load(least + number))
        kept, share = tl.load(top_k + number), tl.load(top_p + number)
        rules = (heat, kept, share, drop, tl.load(seeds + number), tl.load(positions + number))
        reach = distance(tl.div_rn(tops - peak, divisor))
        chosen, bound, near = choose(
            row, extra, begin, reach, rules, SCORED, LISTED, END, EIGHTS, LIST, GROUPS
        )
        tl.store(out + number, chosen.to(tl.int64))
        if SCORED:
            stats += number * STATS * tiles
            whole = total_mass(stats, extra, begin, raw, tiles, LISTED, TILES, LIST)
            legal = total_mass(stats + 2 * tiles, extra, begin, masked, tiles, LISTED, TILES, LIST)
            dense = tl.load(own + chosen).to(tl.float32)
            logit, value = dense, dense
            if LISTED:
                logit = value_of(chosen, extra, begin, raw, dense, LIST)
                value = value_of(chosen, extra, begin, values, dense, LIST)
            z = tl.div_rn(value - peak, divisor).to(tl.float64)
            mass, _, _ = amount(row, near, extra, begin, bound, True, LISTED, END, EIGHTS, LIST)
            support, _, _ = amount(row, near, extra, begin, bound, False, LISTED, END, EIGHTS, LIST)
            scores += number * 4
            tl.store(scores, (logit.to(tl.float64) - whole).to(tl.float32))
            tl.store(scores + 1, (logit.to(tl.float64) - legal).to(tl.float32))
            tl.store(scores + 2, tl.exp(tl.minimum(legal - whole, 0.0)).to(tl.float32))
            tl.store(scores + 3, tl.where(heat > 0, z - tl.log(mass), 0.0).to(tl.float32))
            tile = tl.arange(0, TILES)
            allowed = tl.load(stats + 4 * tiles + tile, mask=tile < tiles, other=0.0)
            tl.store(counts + number * 2, tl.where(heat > 0, support.to(tl.int32), 1))
            tl.store(counts + number * 2 + 1, tl.sum(allowed).to(tl.int32))
