"""The last sampling kernel: from the candidates of all tiles to the token, a program for each row.

The threshold of top-k or top-p is the least distance within which lie k tokens, or the mass p. It
is found by a ladder: one pass over the tokens sums what lies within each of four rungs between two
bounds, and the bounds move to the rungs next to the threshold, and to tokens next to those.

Candidates are some thousands, and suffice if the threshold lies nearer than any token that isn't
one (the `horizon`). In a row so flat that it doesn't, the same ladder goes over all tiles of the
row instead.

The draw computes Gumbel noise in float32 first. Where a score could be the highest, and only there,
it is computed again in float64 as the CPU does; that is about one token of a row.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from maskwright.kernels.device import await_earlier, jit, tl
from maskwright.kernels.sample_draw import (
    distance,
    exponential,
    extra_of,
    row_of,
    rules_of,
    tokens_of_tile,
    values_of_tile,
    words_of,
)

# In what follows, `source` is a tuple of what tokens are read from: a row and its listed tokens
# (see `sample_draw.py`), whether only these may be chosen, the candidates and how many each tile
# has, the highest logit and the divisor, and how many tiles count. `whole` says whether all tiles
# are read, or candidates.


@jit
def chunks_of(source, whole, EIGHTS: tl.constexpr, SLOTS: tl.constexpr):
    """Return in how many chunks all tokens are read."""
    of_slots = EIGHTS * 8 // SLOTS
    return tl.where(whole != 0, source[7], (source[7] + of_slots - 1) // of_slots)


@jit
def load_slots(source, chunk, EIGHTS: tl.constexpr, SLOTS: tl.constexpr):
    """Return the candidates of some tiles, with the value -inf where there is none, and their
    tokens; both `[EIGHTS, 8]`."""
    lane = tl.arange(0, EIGHTS)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tile = chunk * (EIGHTS * 8 // SLOTS) + lane // SLOTS
    count = tl.load(source[4] + tile, mask=tile < source[7], other=0)
    there = lane % SLOTS < count
    slot = tl.load(source[3] + chunk * (EIGHTS * 8) + lane, mask=there, other=0)
    value = (slot >> 32).to(tl.int32).to(tl.float32, bitcast=True)
    return tl.where(there, value, float("-inf")), (slot & 0x7FFFFFFF).to(tl.int32)


@jit
def load_chunk(
    source,
    whole,
    chunk,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
):
    """Return the scaled logits of a chunk and the tokens; both `[EIGHTS, 8]`."""
    if whole != 0:
        row, extra, lane = source[0], source[1], tl.arange(0, EIGHTS)
        value = values_of_tile(row, extra, chunk, lane, source[2], LISTED, END, EIGHTS)
        token = tokens_of_tile(row, extra, chunk, lane, LISTED, EIGHTS)
    else:
        value, token = load_slots(source, chunk, EIGHTS, SLOTS)
    return tl.div_rn(value - source[5], source[6]), token


@jit
def amount(
    source,
    whole,
    bound,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
):
    """Return how many tokens lie within the distance `bound`, and their mass, the sum of `exp(z)`;
    both in float64."""
    count, mass = tl.full([], 0.0, tl.float64), tl.full([], 0.0, tl.float64)
    for chunk in range(chunks_of(source, whole, EIGHTS, SLOTS)):
        z, _ = load_chunk(source, whole, chunk, LISTED, END, EIGHTS, SLOTS)
        within = (distance(z) <= bound) & (z > float("-inf"))
        count += tl.sum(within.to(tl.float32)).to(tl.float64)
        mass += tl.sum(tl.where(within, tl.exp(z), 0.0)).to(tl.float64)
    return count, mass


@jit
def rung(low, high, number, RUNGS: tl.constexpr):
    """Return the distance of a rung between two distances, not below `low` and below `high`: evenly
    by z. `number`: one or several, whose fractions are exact since `RUNGS` is a power of two."""
    near, far = low.to(tl.float32, bitcast=True), high.to(tl.float32, bitcast=True)
    z = near + (far - near) * ((number + 1.0) * (1.0 / RUNGS))
    return tl.minimum(tl.maximum(z.to(tl.int32, bitcast=True), low), high - 1)


@jit
def ladder(
    source,
    whole,
    low,
    high,
    by_mass,
    RUNGS: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
):
    """Return what lies within each rung between two distances, tokens or, `by_mass`, their mass,
    float64 `[RUNGS]`; and of the tokens between the two distances the least and the largest one."""
    step = tl.arange(0, RUNGS)[None, :]
    sums = tl.zeros([EIGHTS, RUNGS], tl.float32)
    least = tl.full([EIGHTS], 0x7FFFFFFF, tl.int32)
    most = tl.full([EIGHTS], 0, tl.int32)
    for chunk in range(chunks_of(source, whole, EIGHTS, SLOTS)):
        z, _ = load_chunk(source, whole, chunk, LISTED, END, EIGHTS, SLOTS)
        far = distance(z)
        part = tl.exp(z) if by_mass != 0 else (z > float("-inf")).to(tl.float32)
        for number in tl.static_range(RUNGS):
            within = tl.sum(tl.where(far <= rung(low, high, number, RUNGS), part, 0.0), 1)
            sums = tl.where(step == number, sums + within[:, None], sums)
        least = tl.minimum(least, tl.min(tl.where(far >= low, far, 0x7FFFFFFF), 1))
        most = tl.maximum(most, tl.max(tl.where(far <= high, far, 0), 1))
    return tl.sum(sums.to(tl.float64), 0), tl.min(least), tl.max(most)


@jit
def threshold(
    source,
    whole,
    low,
    high,
    target,
    by_mass,
    RUNGS: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
):
    """Return the least distance from `low` on within which the amount of tokens reaches `target`,
    at most `high`. Bounds move to distances that tokens have, so that the search ends when one is
    left between them."""
    number = tl.arange(0, RUNGS)
    while low < high:
        sums, least, most = ladder(
            source, whole, low, high, by_mass, RUNGS, LISTED, END, EIGHTS, SLOTS
        )
        rungs = rung(low, high, number, RUNGS)
        reached = sums >= target
        first = tl.min(tl.where(reached, rungs, 0x7FFFFFFF))
        last = tl.max(tl.where(reached, -1, rungs))
        high = tl.where(first < 0x7FFFFFFF, tl.minimum(first, most), high)
        low = tl.minimum(tl.maximum(tl.maximum(last + 1, low), least), high)
    return high


@jit
def better(z, word, token, best, chosen):
    """Return the best score so far in float64, and its token, after those of a chunk. Of equal
    scores the lowest token counts."""
    rough = z - tl.log(exponential(word))  # with an error below 1e-4 for |z| < 32
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
    source,
    whole,
    bound,
    seed,
    position,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
):
    """Return the token with the highest score among those within the distance `bound`."""
    best = tl.full([], float("-inf"), tl.float64)
    chosen = tl.full([], 0x7FFFFFFF, tl.int32)
    for chunk in range(chunks_of(source, whole, EIGHTS, SLOTS)):
        z, token = load_chunk(source, whole, chunk, LISTED, END, EIGHTS, SLOTS)
        z = tl.where(distance(z) <= bound, z, float("-inf"))
        if tl.max(z).to(tl.float64) + 23.0 >= best:  # no noise exceeds 22.9
            best, chosen = better(z, words_of(token, seed, position), token, best, chosen)
    return chosen


@jit
def choose(
    source,
    horizon,
    mass,
    rules,
    SCORED: tl.constexpr,
    RUNGS: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
):
    """Return the token of a row that is drawn, the distance within which tokens were kept, and
    whether all tiles were read for that. `horizon`: the least distance of a token that is no
    candidate; `mass`: of the whole row. Tokens further away than 32 can't be drawn and have no
    mass; the scores count them."""
    top_k, top_p, drop, seed, position = rules
    furthest = tl.full([], 0x7F7FFFFF if SCORED else 0x42000000, tl.int32)
    bound = tl.minimum(furthest, horizon - 1)
    whole = tl.full([], 0, tl.int32)
    low = tl.full([], 0, tl.int32)
    if horizon <= furthest:
        count, near = amount(source, 0, bound, LISTED, END, EIGHTS, SLOTS)
        if top_k > 0:
            enough = (count >= top_k) | ((drop <= bound) & (top_p >= 1))
        else:
            enough = (drop <= bound) | ((top_p < 1) & (near >= mass * top_p))
        if not enough:
            whole = low + 1
            low = tl.maximum(bound + 1, 0)
            bound = furthest
    for by_mass in range(2):  # top-k, and top-p of what it keeps
        if by_mass == 0:
            target = top_k.to(tl.float64)
            used = top_k > 0
        else:
            target = mass * top_p
            used = top_p < 1
        if used:
            bound = threshold(
                source, whole, low, bound, target, by_mass, RUNGS, LISTED, END, EIGHTS, SLOTS
            )
            low = low * 0
            if (by_mass == 0) & (top_p < 1):
                _, mass = amount(source, whole, bound, LISTED, END, EIGHTS, SLOTS)
    bound = tl.minimum(bound, drop)
    return draw(source, whole, bound, seed, position, LISTED, END, EIGHTS, SLOTS), bound, whole


@jit
def tiles_that_count(tops, tile, every, ends, LISTED: tl.constexpr):
    """Return how many tiles count: of all, those from `ends` on, with tokens that end the answer,
    do if all others are empty. `tops`: the highest values of the tiles."""
    length = every
    if LISTED:
        others = tl.max(tl.where(tile < ends, tops, float("-inf")))
        length = tl.where(others > float("-inf"), ends, every)
    return length


@jit
def total_mass(peaks, masses, there):
    """Return the logarithm of the mass of a whole row in float64, from where its tiles' highest
    logits are, and the masses relative to them."""
    tops = tl.load(peaks, mask=there, other=float("-inf"))
    top = tl.max(tops)
    parts = tl.load(masses, mask=there, other=0.0) * tl.exp(tops - top)
    return top.to(tl.float64) + tl.log(tl.sum(parts).to(tl.float64))


@jit
def value_of(chosen, extra, listed, dense, LIST: tl.constexpr):
    """Return the value of the token `chosen` in `listed`, or `dense` if it isn't listed."""
    value = dense
    for at in range(extra[0], extra[1], LIST):
        index = at + tl.arange(0, LIST)
        token = tl.load(extra[2] + index, mask=index < extra[1], other=-1)
        own = tl.load(listed + index, mask=token == chosen, other=float("-inf"))
        value = tl.maximum(value, tl.max(own))
    return value


@jit
def write_scores(
    scores,
    supports,
    tiles,
    source,
    choice,
    kept,
    LISTED: tl.constexpr,
    LIST: tl.constexpr,
    TILES: tl.constexpr,
):
    """Write the scores of a token. `tiles`: the statistics of the row's tiles and how many there
    are; `source`: the row, its listed tokens, and their raw logits; `choice`: the token, the
    highest logit, the divisor, and whether the row is greedy; `kept`: how many tokens were kept,
    and their mass."""
    stats, every = tiles
    row, extra, raw = source
    chosen, peak, divisor, greedy = choice
    support, mass = kept
    tile = tl.arange(0, TILES)
    there = tile < every
    at = stats + tile
    every_mass = total_mass(at, at + every, there)
    legal = total_mass(at + 2 * every, at + 3 * every, there)
    allowed = tl.sum(tl.load(at + 4 * every, mask=there, other=0.0))
    logit = tl.load(row[0] + chosen).to(tl.float32)
    value = logit
    if LISTED:
        value = value_of(chosen, extra, extra[4], logit, LIST)
        logit = value_of(chosen, extra, raw, logit, LIST)
    z = tl.div_rn(value - peak, divisor).to(tl.float64)
    tl.store(scores, (logit.to(tl.float64) - every_mass).to(tl.float32))
    tl.store(scores + 1, (logit.to(tl.float64) - legal).to(tl.float32))
    tl.store(scores + 2, tl.exp(tl.minimum(legal - every_mass, 0.0)).to(tl.float32))
    tl.store(scores + 3, tl.where(greedy, 0.0, z - tl.log(mass)).to(tl.float32))
    tl.store(supports, tl.where(greedy, 1, support.to(tl.int32)))
    tl.store(supports + 1, allowed.to(tl.int32))


@jit
def finish_kernel(
    logits,
    stride,
    table,
    table_stride,
    mask_rows,
    vocab,
    readable,
    mask_bytes,
    tiles,
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
    ends,
    raw,
    masked,
    peaks,
    rests,
    masses,
    counts,
    slots,
    stats,
    out,
    scores,
    supports,
    SCORED: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EMPTY: tl.constexpr,
    NOT_FINITE: tl.constexpr,
    STATS: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
    RUNGS: tl.constexpr,
    LIST: tl.constexpr,
    TILES: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Choose the token of one row from what `gather_kernel` wrote. `scores`: float32 `[rows, 4]`
    gets raw, masked, kept and processed, and `supports`: int32 `[rows, 2]` gets support and
    allowed."""
    await_earlier(OVERLAPS)
    number = tl.program_id(0)
    every = 2 * ends - tiles
    first = number * every
    tile = tl.arange(0, TILES)
    there = tile < every
    tops = tl.load(peaks + first + tile, mask=there, other=float("-inf"))
    length = tiles_that_count(tops, tile, every, ends, LISTED)
    counted = tile < length
    tops = tl.where(counted, tops, float("-inf"))
    peak = tl.max(tops)
    if peak == float("inf"):
        tl.store(out + number, NOT_FINITE)
    elif peak == float("-inf"):
        tl.store(out + number, EMPTY)
    else:
        heat, kept, share, drop, dropping = rules_of(
            number, temperature, top_k, top_p, least, vocab
        )
        divisor = tl.where(heat > 0, heat, 1.0)
        masks, sizes = (table, table_stride, mask_rows), (vocab, readable, mask_bytes)
        row = row_of(number, (logits, stride), masks, sizes, tiles)
        extra = extra_of(number, starts, tokens, flags, values, ends - tiles, LISTED)
        slots += first.to(tl.int64) * SLOTS
        only = tl.load(only_listed + number)
        source = (row, extra, only, slots, counts + first, peak, divisor, length)
        mass, bound = tl.full([], 0.0, tl.float64), tl.full([], 0, tl.int32)
        whole = bound
        if heat == 0:
            likeliest = tl.load(slots + tile * SLOTS, mask=tops == peak, other=0x7FFFFFFF)
            chosen = tl.min(likeliest).to(tl.int32)
        else:
            parts_of_mass = tl.load(masses + first + tile, mask=counted, other=0.0)
            mass = tl.sum((parts_of_mass * tl.exp((tops - peak) / heat)).to(tl.float64))
            rest = tl.max(tl.load(rests + first + tile, mask=counted, other=float("-inf")))
            horizon = distance(tl.minimum(tl.div_rn(rest - peak, divisor), 0.0))
            seed, position = tl.load(seeds + number), tl.load(positions + number)
            rules = (kept, share, distance(drop), seed, position)
            chosen, bound, whole = choose(
                source, horizon, mass, rules, SCORED, RUNGS, LISTED, END, EIGHTS, SLOTS
            )
        tl.store(out + number, chosen.to(tl.int64))
        if SCORED:
            stats += number * STATS * every
            finite = tl.load(stats + 5 * every + tile, mask=counted, other=0.0)
            support = tl.sum(finite).to(tl.float64)
            if dropping & (heat > 0):
                support, mass = amount(source, whole, bound, LISTED, END, EIGHTS, SLOTS)
            write_scores(
                scores + number * 4,
                supports + number * 2,
                (stats, every),
                (row, extra, raw),
                (chosen, peak, divisor, heat == 0),
                (support, mass),
                LISTED,
                LIST,
                TILES,
            )
