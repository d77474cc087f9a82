"""The sampling kernel that reads the logits, once: of each tile, what the choice can depend on.

A program knows its own tile alone, and writes the tile's highest logit and `SLOTS` candidates at
most:

- in a greedy row the token with that logit;
- in a row without top-k, top-p and min-p, whose draw is the highest score: the token with the
  highest score of the tile, and those of which a cheap bound doesn't say that they are below it;
- in other rows its likeliest tokens, as many as there is room for, and the highest logit of those
  that were left out. From that, `finish_kernel` knows which thresholds are right.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from maskwright.kernels.device import await_earlier, jit, tl
from maskwright.kernels.sample_draw import (
    exponential,
    extra_of,
    listed_tile,
    load_logits,
    row_of,
    rules_of,
    tokens_of_tile,
    values_of_tile,
    words_of_tile,
)

STATS = 6
"""Statistics of a tile, for scores: the highest raw logit, the mass relative to it, both of these
of allowed tokens, how many tokens the mask allows, and how many have a value above -inf."""


@jit
def mass_below(values):
    """Return the highest of `values` and the sum of `exp(value - highest)`; 0 if all are -inf."""
    highest = tl.max(values)
    base = tl.where(highest > float("-inf"), highest, 0.0)
    return highest, tl.sum(tl.exp(values - base))


@jit
def scored_logits(row, tile, lane):
    """Return the raw logits of a tile, those that the mask allows, and how many it allows."""
    logit, keep = load_logits(row, tile, lane, 0, True)
    token = tokens_of_tile(row, (0,), tile, lane, False, 0)
    raw = tl.where(token < row[2], logit, float("-inf"))
    return raw, tl.where(keep, logit, float("-inf")), tl.sum(keep.to(tl.float32))


@jit
def scored_listed(row, extra, raw, masked, tile, lane, END: tl.constexpr, EIGHTS: tl.constexpr):
    """Return the same of a tile of listed tokens, which are counted among the others."""
    raw = listed_tile(row, extra, tile, lane, raw, END, EIGHTS)
    masked = listed_tile(row, extra, tile, lane, masked, END, EIGHTS)
    return raw, masked, tl.full([], 0.0, tl.float32)


@jit
def note_scores(
    row,
    extra,
    raw,
    masked,
    tile,
    lane,
    value,
    place,
    every,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
):
    """Write the statistics of a tile to each `every`-th place from `place` on. `raw`, `masked`: the
    logits of the listed tokens."""
    if LISTED:
        if tile < row[6]:
            logits, legal, allowed = scored_logits(row, tile, lane)
        else:
            logits, legal, allowed = scored_listed(row, extra, raw, masked, tile, lane, END, EIGHTS)
    else:
        logits, legal, allowed = scored_logits(row, tile, lane)
    highest, mass = mass_below(logits)
    tl.store(place, highest)
    tl.store(place + every, mass)
    highest, mass = mass_below(legal)
    tl.store(place + 2 * every, highest)
    tl.store(place + 3 * every, mass)
    tl.store(place + 4 * every, allowed)
    tl.store(place + 5 * every, tl.sum((value > float("-inf")).to(tl.float32)))


@jit
def count_from(gap, cut):
    """Return how many of `gap`, of any shape, are at least `cut`."""
    return tl.sum((gap >= cut).to(tl.int32))


@jit
def cut_of(gap, floor, reach, SLOTS: tl.constexpr, STEPS: tl.constexpr):
    """Return from which gap on there are as many as have room in the slots, and how many they are:
    all from `floor` on, below which none matters, or nearly as many as there are slots. `gap`: from
    the highest logit of the tile; `reach`: below it hardly any matters. The cut is 1 where not even
    the least gaps have room."""
    cut, count = floor, count_from(gap, floor)
    if count > SLOTS:
        lowest = tl.min(tl.where(gap > float("-inf"), gap, 0.0))
        under, over = tl.maximum(tl.maximum(lowest, reach), floor), reach * 0.0
        cut, count, step = over + 1.0, count * 0, 0
        while (count < SLOTS // 4 * 3) & (step < STEPS):
            middle = (under + over) * 0.5
            found = count_from(gap, middle)
            if found > SLOTS:
                under = middle
            else:
                over = middle
                cut, count = middle, found
            step += 1
    return cut, count


@jit
def near_the_best(inverse, word):
    """Return which groups of eight tokens can have the highest score of a tile, `z - log(E)` with
    `E = -log(1 - u)`: that is where `E * exp(-z)` is least. `inverse`: `exp(-z)`. Since `E >= u`,
    no token counts whose `u * exp(-z)` is above that measure of another one, for which the one with
    the least bound stands. So one logarithm suffices for the tile. A thousandth is far more than
    all errors."""
    bound = (word.to(tl.float32) + 0.5) * inverse
    least = tl.min(bound)
    best = tl.max(tl.where(bound == least, word, 0))
    ratio = exponential(best) * 4294967296.0 / (best.to(tl.float32) + 0.5)
    return tl.min(bound, 1) <= least * ratio * 1.001


@jit
def take_candidates(
    here,
    chosen,
    count,
    floor,
    MOST: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
    STEPS: tl.constexpr,
):
    """Write tokens of the `count` groups of eight that are `chosen`, at most `MOST`, as candidates:
    all from the gap `floor` on or as many as there is room for, in order, the bits of the value
    above the token. Return how many they are, and the highest value of the others. The groups are
    spread over all threads through the memory of the candidates. `here`: the memory, the row, its
    listed tokens, whether only these count, the tile, its peak, and a gap below which hardly any
    token matters."""
    slots, row, extra, only, tile, peak, reach = here
    number = tl.arange(0, MOST)
    place = tl.cumsum(chosen.to(tl.int32)) - 1
    tl.store(slots + place, tl.arange(0, EIGHTS).to(tl.int64), mask=chosen)
    tl.debug_barrier()
    lane = tl.load(slots + number, mask=number < count, other=0).to(tl.int32)
    tl.debug_barrier()
    value = values_of_tile(row, extra, tile, lane, only, LISTED, END, EIGHTS)
    token = tokens_of_tile(row, extra, tile, lane, LISTED, EIGHTS)
    value = tl.where((number < count)[:, None], value, float("-inf"))
    cut, found = cut_of(value - peak, floor, reach, SLOTS, STEPS)
    keep = value - peak >= cut
    taken = keep.to(tl.int32)
    of_eight = tl.sum(taken, 1)
    before = tl.cumsum(of_eight) - of_eight
    place = before[:, None] + tl.cumsum(taken, 1) - taken
    bits = value.to(tl.int32, bitcast=True).to(tl.int64)
    tl.store(slots + place, (bits << 32) | token.to(tl.int64), mask=keep)
    return found, tl.max(tl.where(keep, float("-inf"), value))


@jit
def take_likeliest(
    here,
    tops,
    floor,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
    STEPS: tl.constexpr,
):
    """Write the likeliest tokens of a tile as candidates, from the gap `floor` on; `tops`: the
    highest value of each group of eight. Return how many they are, and the highest value of the
    others."""
    peak, reach = here[5], here[6]
    cut, count = cut_of(tops - peak, floor, reach, SLOTS, STEPS)
    chosen = tops - peak >= cut
    count, rest = take_candidates(
        here, chosen, count, cut, SLOTS, LISTED, END, EIGHTS, SLOTS, STEPS
    )
    return count, tl.maximum(rest, tl.max(tl.where(chosen, float("-inf"), tops)))


@jit
def take_best(
    here,
    chosen,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
    STEPS: tl.constexpr,
):
    """Write the tokens of the groups of eight that are `chosen` as candidates. Return how many they
    are, and -inf; or 0 and +inf if there is no room for them."""
    count = tl.sum(chosen.to(tl.int32))
    room = count <= SLOTS // 8
    count, _ = take_candidates(
        here,
        chosen & room,
        tl.where(room, count, 0),
        here[6],
        SLOTS // 8,
        LISTED,
        END,
        EIGHTS,
        SLOTS,
        STEPS,
    )
    return count, tl.where(room, float("-inf"), float("inf"))


@jit
def gather_kernel(
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
    SCORED: tl.constexpr,
    LISTED: tl.constexpr,
    END: tl.constexpr,
    STATS: tl.constexpr,
    EIGHTS: tl.constexpr,
    SLOTS: tl.constexpr,
    STEPS: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Gather the candidates of one tile of a row. The results are `[rows, tiles]`, of all tiles:
    `peaks`, float32, gets the highest value, +inf if one is NaN; `rests`, float32, the highest
    value that was left out, +inf if candidates may be missing; `masses`, float32, the sum of
    `exp((value - peak) / temperature)`; `counts`, int32, how many candidates there are;
    `slots`, int64 `[rows, tiles, SLOTS]`, the candidates: the bits of the value above the token;
    `stats`, float32 `[rows, STATS, tiles]` if `SCORED`."""
    await_earlier(OVERLAPS)
    number, tile = tl.program_id(0), tl.program_id(1)
    every = 2 * ends - tiles
    masks, sizes = (table, table_stride, mask_rows), (vocab, readable, mask_bytes)
    row = row_of(number, (logits, stride), masks, sizes, tiles)
    extra = extra_of(number, starts, tokens, flags, values, ends - tiles, LISTED)
    only, lane = tl.load(only_listed + number), tl.arange(0, EIGHTS)
    value = values_of_tile(row, extra, tile, lane, only, LISTED, END, EIGHTS)
    value = tl.where(value != value, float("inf"), value)
    tops = tl.max(value, 1)
    peak = tl.max(tops)
    place = number * every + tile
    tl.store(peaks + place, peak)
    if SCORED:
        at = stats + number * STATS * every + tile
        note_scores(row, extra, raw, masked, tile, lane, value, at, every, LISTED, END, EIGHTS)
    heat, kept, share, drop, dropping = rules_of(number, temperature, top_k, top_p, least, vocab)
    slots += place.to(tl.int64) * SLOTS
    if heat == 0:
        first = tl.min(tl.where(tops == peak, lane, EIGHTS - 1)) + tl.arange(0, 1)
        near = values_of_tile(row, extra, tile, first, only, LISTED, END, EIGHTS)
        token = tokens_of_tile(row, extra, tile, first, LISTED, EIGHTS)
        tl.store(slots, tl.min(tl.where(near == peak, token, 0x7FFFFFFF)).to(tl.int64))
    elif (peak == float("-inf")) | (peak == float("inf")):
        tl.store(rests + place, float("-inf"))
        tl.store(masses + place, 0.0)
        tl.store(counts + place, 0)
    else:
        gap, reach = value - peak, heat * -33.0
        scale = tl.minimum(tl.div_rn(1.4426950408889634, heat), 3e38)  # of powers of two
        if dropping | SCORED:
            tl.store(masses + place, tl.sum(tl.sum(tl.exp2(gap * scale), 1)))
        here = (slots, row, extra, only, tile, peak, reach)
        if dropping:
            floor = tl.full([], -3.4028234663852886e38, tl.float32) if SCORED else reach
            if (kept == 0) | (share >= 1):  # no mass is needed of what min-p drops
                floor = tl.maximum(floor, heat * drop * 1.000002)
            count, rest = take_likeliest(here, tops, floor, LISTED, END, EIGHTS, SLOTS, STEPS)
        else:
            seed, position = tl.load(seeds + number), tl.load(positions + number)
            word = words_of_tile(row, extra, tile, lane, seed, position, LISTED, EIGHTS)
            best = near_the_best(tl.exp2(gap * -scale), word)
            count, rest = take_best(here, best, LISTED, END, EIGHTS, SLOTS, STEPS)
        tl.store(rests + place, rest)
        tl.store(counts + place, count)
