"""Attention of queries to keys and values in the blocks of the pool.

`paged_decode` is for at most eight new tokens of each sequence, `paged_prefill` for pieces of
prompts. Both launch one kernel. A program of it takes some query tokens of one sequence with all
heads that share a head of keys, as the rows of one matrix, and reads the keys and values of one
split of the sequence in tiles, with a running maximum and sum (Milakov and Gimelshein,
arXiv:1805.02867; Dao et al., arXiv:2205.14135). Decodes are split, so that few long sequences fill
a GPU too, and a second kernel joins what the splits found (Dao et al., "Flash-Decoding", 2023). A
split has a fixed length and not a share of the sequence, and where there are few, a program has
only one tile of it, which that kernel then adds as the program of a whole split would. The keys of
short pieces of prompts are divided so far that each piece fills a GPU by itself. So the order of
sums, and with it the bits of the result, depends on the sequence and its piece alone.
"""

# Triton is untyped.
# pyright: reportInvalidTypeForm=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

import torch
from torch import Tensor

from maskwright.kernels import reference
from maskwright.kernels.attention.codes import CODES, as_numbers, scales_of
from maskwright.kernels.attention.tiles import (
    Kind,
    Tiles,
    decode_tiles,
    decodes_at_once,
    power_of_two,
    prefill_tiles,
)
from maskwright.kernels.device import (
    INTERPRETED,
    await_earlier,
    generation_of,
    jit,
    runs_kernels,
    tl,
)
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.reference import Span

MOST_DECODES: Final = 8
"""The most query tokens of a sequence in `paged_decode`: a sampled token and drafts after it."""

SPLIT: Final = 1024
"""Positions in a split of `paged_decode`, whose tiles are added one after another."""

MERGED: Final = 8
"""Splits that are joined at once."""

FEW_PROGRAMS: Final = 264
"""If whole splits made so many programs or fewer, each tile has a program of its own. These are two
for each multiprocessor of an H200."""

PROMPT_PROGRAMS: Final = 132
"""The keys of a piece of a prompt are divided among programs as long as it has at most so many.
They are the multiprocessors of an H200, each of which has room for one such program."""

LEAST_PIECE: Final = 512
"""The fewest positions that a program of a divided piece reads, unless they are the last ones."""

MOST_FOUND: Final = 256 << 20
"""Bytes for what programs of prompts find. Further sequences are computed afterwards."""

LOG2_E: Final = 1.4426950408889634


@dataclass(frozen=True, slots=True)
class Sequences:
    """The sequences of a batch, each with a run of consecutive query rows. All tensors are int32,
    on the device of the queries, and contiguous.

    - `first` `[n]`: the batch row of the first query.
    - `start` `[n]`: the position of the first query.
    - `count` `[n]`: how many queries there are; none for a place of the batch that is unused.
    - `tables` `[n, blocks]`: the blocks of each sequence in order of position.
    - `most`: a bound for `count`; `longest`: a bound for `start + count`; `least`: no sequence has
      fewer queries, unless it has none. The host knows these without reading from the device;
      launches are as large as these say.
    """

    first: Tensor
    start: Tensor
    count: Tensor
    tables: Tensor
    most: int
    longest: int
    least: int = 1

    def part(self, begin: int, end: int) -> Sequences:
        """Return the sequences from place `begin` to `end`."""
        columns = (self.first, self.start, self.count, self.tables)
        first, start, count, tables = (column[begin:end] for column in columns)
        return Sequences(first, start, count, tables, self.most, self.longest, self.least)


@dataclass(frozen=True, slots=True)
class Scores:
    """How a layer scores keys: products of queries and keys times `scale`; `window`: the query
    reads that many positions, itself included; `softcap`: scores are `softcap * tanh(score /
    softcap)`; `sinks` float32 `[heads]`: the score of a key without value, for each head."""

    scale: float
    window: int | None = None
    softcap: float | None = None
    sinks: Tensor | None = None


@jit
def columns(numbers, CODES: tl.constexpr):
    """Return `numbers` `[rows, width]` as `as_numbers` does: a tuple of one matrix, or of the even
    and the odd columns."""
    if CODES is None:
        parts = (numbers,)
    else:
        parts = tl.split(tl.reshape(numbers, [numbers.shape[0], numbers.shape[1] // 2, 2]))
    return parts


@jit
def joined(parts):
    """Return the matrix of which `columns` would make `parts`."""
    numbers = parts[0]
    if len(parts) == 2:
        shape: tl.constexpr = [numbers.shape[0], numbers.shape[1] * 2]
        numbers = tl.reshape(tl.join(numbers, parts[1]), shape)
    return numbers


@jit
def attend_tiles(
    top,
    mass,
    mixed,
    begin,
    end,
    packed,
    position,
    keys,
    values,
    key_scales,
    value_scales,
    block_stride,
    slot_stride,
    scale_block_stride,
    scale_slot_stride,
    table,
    last,
    factor,
    window,
    softcap,
    WIDTH: tl.constexpr,
    WIDTH_2: tl.constexpr,
    BLOCK: tl.constexpr,
    TILE: tl.constexpr,
    CODES: tl.constexpr,
    MASKED: tl.constexpr,
    APART: tl.constexpr = False,
):
    """Add the tiles of keys from `begin` to `end` to what `attend_kernel` keeps of each row: the
    highest score (`top`), the sum of weights (`mass`) and of weighted values (`mixed`). Scores are
    exponents of two. Keys from `last` on don't exist. `packed` and `mixed` are tuples, see
    `columns`. `CODES`, `APART`: see `attend_kernel`. `MASKED`: not every row sees every key."""
    PARTS: tl.constexpr = len(packed)
    kind: tl.constexpr = packed[0].dtype
    lane = tl.arange(0, WIDTH_2 // PARTS)
    for tile in range(begin, end, TILE):
        key = tile + tl.arange(0, TILE)
        exists = key < last
        block = tl.load(table + key // BLOCK, mask=exists, other=0).to(tl.int64)
        place = (block * block_stride + key % BLOCK * slot_stride)[:, None] + lane[None, :]
        inside = exists[:, None] & (lane < WIDTH // PARTS)[None, :]
        parts = as_numbers(tl.load(keys + place, mask=inside, other=0), kind, CODES)
        scores = tl.dot(packed[0], tl.trans(parts[0]), input_precision="ieee")
        if PARTS == 2:
            scores = tl.dot(packed[1], tl.trans(parts[1]), scores, input_precision="ieee")
        scores *= factor
        if key_scales is not None:
            scale_place = block * scale_block_stride + key % BLOCK * scale_slot_stride
            scores *= scales_of(key_scales, scale_place, exists, CODES)[None, :]
        if softcap is not None:
            # tanh by an exponential, whose overflow to infinity gives 1. 1.4427 is log2(e).
            scores = 1 - 2 / (tl.exp(2 * scores) + 1)
            scores *= softcap * 1.4426950408889634
        if MASKED:
            seen = (key[None, :] <= position[:, None]) & exists[None, :]
            if window is not None:
                seen &= key[None, :] > position[:, None] - window
            scores = tl.where(seen, scores, float("-inf"))
        higher = tl.max(scores, 1) if APART else tl.maximum(top, tl.max(scores, 1))
        # A row that has seen no key yet has -inf here, and -inf - -inf is NaN.
        base = tl.where(higher == float("-inf"), 0.0, higher)
        shrink = tl.exp2(top - base)
        weights = tl.exp2(scores - base[:, None])
        sums = tl.sum(weights, 1)
        if value_scales is not None:
            scale_place = block * scale_block_stride + key % BLOCK * scale_slot_stride
            weights *= scales_of(value_scales, scale_place, exists, CODES)[None, :]
        parts = as_numbers(tl.load(values + place, mask=inside, other=0), kind, CODES)
        if APART:
            parts = weighted_sums(weights.to(kind), parts)
            top, mass, mixed = add_state((top, mass, mixed), (higher, sums, parts))
        else:
            top, mass = higher, mass * shrink + sums
            mixed = add_values(mixed, shrink[:, None], weights.to(kind), parts)
    return top, mass, mixed


@jit
def add_values(mixed, shrink, weights, parts):
    """Return the sums of values `mixed` times `shrink`, with `parts` times `weights` added."""
    first = tl.dot(weights, parts[0], mixed[0] * shrink, input_precision="ieee")
    if len(parts) == 1:
        sums = (first,)
    else:
        sums = first, tl.dot(weights, parts[1], mixed[1] * shrink, input_precision="ieee")
    return sums


@jit
def weighted_sums(weights, parts):
    """Return the sums of the values `parts` times `weights`."""
    first = tl.dot(weights, parts[0], input_precision="ieee")
    if len(parts) == 1:
        sums = (first,)
    else:
        sums = first, tl.dot(weights, parts[1], input_precision="ieee")
    return sums


@jit
def add_state(state, more):
    """Return the highest scores, the sums of weights and the tuple of weighted values of `state`
    with those of further keys. Every step rounds alike in each kernel that calls this."""
    top, mass, mixed = state
    higher = tl.maximum(top, more[0])
    base = tl.where(higher == float("-inf"), 0.0, higher)
    shrink, share = tl.exp2(top - base), tl.exp2(more[0] - base)
    mass = tl.fma(mass, shrink, more[1] * share)
    first = tl.fma(mixed[0], shrink[:, None], more[2][0] * share[:, None])
    if len(mixed) == 1:
        sums = (first,)
    else:
        sums = first, tl.fma(mixed[1], shrink[:, None], more[2][1] * share[:, None])
    return higher, mass, sums


@jit
def division(
    begun,
    queries,
    window,
    heads,
    TOKENS: tl.constexpr,
    TILE: tl.constexpr,
    PIECE: tl.constexpr,
    FILL: tl.constexpr,
    LEAST: tl.constexpr,
):
    """Return how a sequence is divided among programs: in how many parts of `TOKENS` queries, from
    which key on, and how many keys each program reads: `PIECE`, or if that is 0, all that the
    queries see, divided by `FILL` and `LEAST` as `PROMPT_PROGRAMS` and `LEAST_PIECE` say."""
    parts, bottom, piece = 1, 0, PIECE
    if PIECE == 0:
        parts = tl.maximum(tl.cdiv(queries, TOKENS), 1)
        if window is not None:
            bottom = tl.maximum(begun + 1 - window, 0) // TILE * TILE
        piece = begun + queries - bottom
        if FILL > 0:
            piece = tl.cdiv(piece, tl.maximum(FILL // (parts * heads), 1))
            piece = tl.maximum(tl.cdiv(piece, TILE) * TILE, LEAST)
    return parts, bottom, piece


@jit
def keys_of(position, last, window, low, high, TOKENS: tl.constexpr, TILE: tl.constexpr):
    """Return where the keys begin and end, from `low` to `high`, that `TOKENS` queries from
    `position` on see. The begin is that of a tile."""
    if window is not None:
        low = tl.maximum(low, tl.maximum(position + 1 - window, 0) // TILE * TILE)
    return low, tl.minimum(high, tl.minimum(last, position + TOKENS))


@jit
def weighted_mean(top, mass, mixed, sinks, head):
    """Return the result of each row, `head` being its head, from what `attend_tiles` has added."""
    if sinks is not None:
        sink = tl.load(sinks + head) * 1.4426950408889634
        higher = tl.maximum(top, sink)
        shrink = tl.exp2(top - higher)
        mass = mass * shrink + tl.exp2(sink - higher)
        mixed *= shrink[:, None]
    return mixed / mass[:, None]


@jit
def keep(
    found,
    found_mixed,
    top,
    mass,
    mixed,
    real,
    inside,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
    WIDTH_2: tl.constexpr,
):
    """Write what `attend_tiles` has added where `merge_kernel` reads it: of the rows that are
    `real`, and of sums those `inside`."""
    row, lane = tl.arange(0, ROWS), tl.arange(0, WIDTH_2)
    program = (tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)).to(tl.int64)
    begin = (program * tl.num_programs(2) + tl.program_id(2)) * ROWS
    tl.store(found + 2 * begin + row, top, mask=real)
    tl.store(found + 2 * begin + ROWS + row, mass, mask=real)
    tl.store(found_mixed + (begin + row)[:, None] * WIDTH + lane[None, :], mixed, mask=inside)


@jit
def attend_kernel(
    query,
    query_stride,
    query_head_stride,
    pool,
    block_stride,
    part_stride,
    slot_stride,
    head_stride,
    scales,
    scale_block_stride,
    scale_part_stride,
    scale_slot_stride,
    scale_head_stride,
    first,
    start,
    count,
    tables,
    table_stride,
    sinks,
    factor,
    window,
    softcap,
    out,
    out_stride,
    out_head_stride,
    found,
    found_mixed,
    GROUP: tl.constexpr,
    WIDTH: tl.constexpr,
    WIDTH_2: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
    TILE: tl.constexpr,
    PIECE: tl.constexpr,
    FILL: tl.constexpr,
    LEAST: tl.constexpr,
    BULK: tl.constexpr,
    CODES: tl.constexpr,
    APART: tl.constexpr,
    UPCAST: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Attend from one sequence (axis 0 of the grid) with the heads that share a head of keys (axis
    1). Axis 2: some of its queries and of its keys, see `division`. The programs with the most keys
    come first, so that none of them begins when the others end. If a program has all keys that
    its queries see, the result goes to `out`; else, and if `PIECE` is not 0, what it found goes to
    `found`, float32 `[sequences, KV heads, programs, 2, ROWS]` with the highest score and the sum
    of weights, and `found_mixed`, float32 `[sequences, KV heads, programs, ROWS, WIDTH]`.

    `GROUP`: heads that share a head of keys. `BULK`: tiles that all rows see are read without
    masks. `CODES`: "int8", "fp8", or None if `pool` holds numbers; codes are int16 there, pairs of
    neighbours, since Triton then reads values in accesses of 128 bits; strides count codes.
    `APART`, not with `BULK`: a tile is summed by itself, then added, as `merge_kernel` does it if a
    piece is one tile. `UPCAST`: compute in float32, since the interpreter can't in bfloat16."""
    await_earlier(OVERLAPS)
    TOKENS: tl.constexpr = ROWS // GROUP
    sequence, head = tl.program_id(0), tl.program_id(1)
    queries, begun = tl.load(count + sequence), tl.load(start + sequence)
    last = begun + queries
    divided = (begun, queries, window, tl.num_programs(1))
    query_parts, bottom, piece = division(*divided, TOKENS, TILE, PIECE, FILL, LEAST)
    before = (query_parts - 1 - tl.program_id(2) % query_parts) * TOKENS
    low = bottom + tl.program_id(2) // query_parts * piece
    low, high = keys_of(begun + before, last, window, low, low + piece, TOKENS, TILE)
    if (before < queries) & (low < high):
        row, lane = tl.arange(0, ROWS), tl.arange(0, WIDTH_2)
        token = before + row // GROUP
        real = (row < TOKENS * GROUP) & (token < queries)
        inside = real[:, None] & (lane < WIDTH)[None, :]
        of_head = head * GROUP + row % GROUP
        batch_row = (tl.load(first + sequence) + token).to(tl.int64)
        place = batch_row * query_stride + of_head * query_head_stride
        packed = tl.load(query + place[:, None] + lane[None, :], mask=inside, other=0)
        packed = columns(packed.to(tl.float32) if UPCAST else packed, CODES)
        nothing = tl.zeros([ROWS], tl.float32)
        unmixed = columns(tl.zeros([ROWS, WIDTH_2], tl.float32), CODES)
        state = (nothing + float("-inf"), nothing, unmixed)
        if CODES is not None:
            block_stride, part_stride = block_stride // 2, part_stride // 2
            slot_stride, head_stride = slot_stride // 2, head_stride // 2
        keys = pool + head * head_stride
        key_scales, value_scales = None, None
        if scales is not None:
            key_scales = scales + head * scale_head_stride
            value_scales = key_scales + scale_part_stride
        table = tables + sequence.to(tl.int64) * table_stride
        read = (packed, begun + token, keys, keys + part_stride, key_scales, value_scales)
        by = (block_stride, slot_stride, scale_block_stride, scale_slot_stride)
        how = (table, last, factor, window, softcap)
        if BULK:
            # Up to `whole`, keys are not after the first query; from `near` on, in every window.
            whole = tl.minimum(tl.maximum((begun + before + 1) // TILE * TILE, low), high)
            near = low
            if window is not None:
                end = tl.minimum(last, begun + before + TOKENS)
                near = (tl.maximum(end - window, 0) + TILE - 1) // TILE * TILE
                near = tl.minimum(tl.maximum(near, low), whole)
                state = attend_tiles(
                    *state, low, near, *read, *by, *how, WIDTH, WIDTH_2, BLOCK, TILE, CODES, True
                )
            state = attend_tiles(
                *state, near, whole, *read, *by, *how, WIDTH, WIDTH_2, BLOCK, TILE, CODES, False
            )
            low = whole
        state = attend_tiles(
            *state, low, high, *read, *by, *how, WIDTH, WIDTH_2, BLOCK, TILE, CODES, True, APART
        )
        top, mass, mixed = state[0], state[1], joined(state[2])
        if (PIECE == 0) & (piece >= last - bottom):
            result = weighted_mean(top, mass, mixed, sinks, of_head).to(out.dtype.element_ty)
            of_row = batch_row * out_stride + of_head * out_head_stride
            tl.store(out + of_row[:, None] + lane[None, :], result, mask=inside)
        elif (PIECE > 0) | (FILL > 0):
            keep(found, found_mixed, top, mass, mixed, real, inside, ROWS, WIDTH, WIDTH_2)


@jit
def merge_kernel(
    found,
    found_mixed,
    programs,
    first,
    start,
    count,
    sinks,
    window,
    out,
    out_stride,
    out_head_stride,
    GROUP: tl.constexpr,
    WIDTH: tl.constexpr,
    WIDTH_2: tl.constexpr,
    ROWS: tl.constexpr,
    TILE: tl.constexpr,
    PIECE: tl.constexpr,
    FILL: tl.constexpr,
    LEAST: tl.constexpr,
    PIECES: tl.constexpr,
    SPLITS: tl.constexpr,
    OVERLAPS: tl.constexpr = False,
):
    """Join what `attend_kernel` found in the pieces of one sequence (axis 0) for one head (axis 1)
    of one query (axis 2), unless one program had all its keys. `PIECES` pieces are a split, and are
    added one after another; then `SPLITS` splits are joined at a time. `programs`: their number in
    `found`, of each sequence and head of keys."""
    await_earlier(OVERLAPS)
    TOKENS: tl.constexpr = ROWS // GROUP
    sequence, head, token = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    queries, begun = tl.load(count + sequence), tl.load(start + sequence)
    heads = tl.num_programs(1) // GROUP
    divided = (begun, queries, window, heads)
    query_parts, bottom, length = division(*divided, TOKENS, TILE, PIECE, FILL, LEAST)
    if (token < queries) & ((PIECE > 0) | (length < begun + queries - bottom)):
        end = (begun + token - bottom) // length + 1
        part = token // TOKENS
        low = 0
        if window is not None:
            low = tl.maximum(begun + part * TOKENS + 1 - window, 0) // TILE * TILE
            low = (low - bottom) // length
        row = token % TOKENS * GROUP + head % GROUP
        lane = tl.arange(0, WIDTH_2)
        place = (sequence * heads + head // GROUP).to(tl.int64) * programs
        place += query_parts - 1 - part
        top = tl.full([1], float("-inf"), tl.float32)
        mass = tl.zeros([1], tl.float32)
        mixed = tl.zeros([1, WIDTH_2], tl.float32)
        for group in range(low // PIECES, (end + PIECES - 1) // PIECES, SPLITS):
            split = group + tl.arange(0, SPLITS)
            masses = tl.zeros([SPLITS], tl.float32)
            state = (masses + float("-inf"), masses, (tl.zeros([SPLITS, WIDTH_2], tl.float32),))
            for number in tl.static_range(PIECES):
                piece = split * PIECES + number
                inside = (piece >= low) & (piece < end)
                at = (place + piece * query_parts) * ROWS
                tops = tl.load(found + 2 * at + row, mask=inside, other=float("-inf"))
                masses = tl.load(found + 2 * at + ROWS + row, mask=inside, other=0)
                at = (at + row)[:, None] * WIDTH + lane[None, :]
                parts = inside[:, None] & (lane < WIDTH)[None, :]
                parts = tl.load(found_mixed + at, mask=parts, other=0)
                state = add_state(state, (tops, masses, (parts,)))
            tops, masses, parts = state[0], state[1], state[2][0]
            higher = tl.maximum(top, tl.max(tops, 0))
            base = tl.where(higher == float("-inf"), 0.0, higher)
            shrink = tl.exp2(top - base)
            weights = tl.exp2(tops - base)
            top = higher
            mass = mass * shrink + tl.sum(masses * weights, 0)
            mixed = mixed * shrink + tl.sum(parts * weights[:, None], 0)[None, :]
        result = weighted_mean(top, mass, mixed, sinks, head).to(out.dtype.element_ty)
        batch_row = (tl.load(first + sequence) + token).to(tl.int64)
        place = batch_row * out_stride + head * out_head_stride
        lanes = lane[None, :]
        tl.store(out + place + lanes, result, mask=lanes < WIDTH)


def paged_decode(
    query: Tensor,
    pool: KvPool,
    layer: int,
    sequences: Sequences,
    scores: Scores,
    out: Tensor | None = None,
) -> Tensor:
    """Return the attention of `query` `[rows, heads, head_dim]`, at most `MOST_DECODES` rows of
    each sequence, over `layer` of the pool, in the type and shape of `query`. `out`: where it is
    written; rows of no sequence stay as they are there, and are undefined otherwise. Raises
    `ValueError` for other shapes, types and counts."""
    _check(query, pool, sequences)
    if sequences.most > MOST_DECODES:
        raise ValueError(f"a decode has at most {MOST_DECODES} queries of each sequence")
    if not runs_kernels(query):
        return _by_twin(query, pool, layer, sequences, scores, out)
    queries = sequences.most * (query.shape[1] // pool.data.shape[4])
    kind = _kind(query, pool)
    if not decodes_at_once(kind, queries):
        return paged_prefill(query, pool, layer, sequences, scores, out)
    tiles = decode_tiles(kind, queries)
    out = _room(query) if out is None else out
    launch = _Launch(query, pool, layer, sequences, scores, out, tiles)
    places = (len(sequences.first), pool.data.shape[4])
    few = prod(places) * -(-sequences.longest // SPLIT) <= FEW_PROGRAMS
    piece = tiles.tile if few else SPLIT
    pieces = -(-sequences.longest // piece)
    if pieces == 1:
        launch.attend(1)
        return out
    found = query.new_empty(*places, pieces, 2, tiles.rows, dtype=torch.float32)
    mixed = query.new_empty(*places, pieces, tiles.rows, query.shape[2], dtype=torch.float32)
    launch.attend(pieces, found, mixed, PIECE=piece)
    launch.merge(found, mixed, sequences.most, PIECE=piece)
    return out


def paged_prefill(
    query: Tensor,
    pool: KvPool,
    layer: int,
    sequences: Sequences,
    scores: Scores,
    out: Tensor | None = None,
) -> Tensor:
    """Return what `paged_decode` does, for any number of queries of each sequence."""
    _check(query, pool, sequences)
    if not runs_kernels(query):
        return _by_twin(query, pool, layer, sequences, scores, out)
    heads = pool.data.shape[4]
    group = query.shape[1] // heads
    tiles = prefill_tiles(_kind(query, pool), group)
    out = _room(query) if out is None else out
    tokens = tiles.rows // group
    parts = -(-sequences.most // tokens)
    least_parts, most_parts = -(-sequences.least // tokens), PROMPT_PROGRAMS // (2 * heads)
    if least_parts > most_parts or sequences.longest <= LEAST_PIECE:
        _Launch(query, pool, layer, sequences, scores, out, tiles).attend(parts)
        return out
    # Odd, and sequences at multiples of 16 bytes: Triton compiles anew for what is a multiple of 16
    # and what is not.
    programs = max(parts, PROMPT_PROGRAMS // heads) | 1
    at_once = MOST_FOUND // (heads * programs * tiles.rows * query.shape[2] * 4)
    at_once = max(at_once // 4, 1) * 4
    for begin in range(0, len(sequences.first), at_once):
        some = sequences.part(begin, begin + at_once)
        places = (len(some.first), heads, programs)
        found = query.new_empty(*places, 2, tiles.rows, dtype=torch.float32)
        mixed = query.new_empty(*places, tiles.rows, query.shape[2], dtype=torch.float32)
        launch = _Launch(query, pool, layer, some, scores, out, tiles)
        launch.attend(programs, found, mixed, FILL=PROMPT_PROGRAMS)
        launch.merge(found, mixed, min(sequences.most, most_parts * tokens), FILL=PROMPT_PROGRAMS)
    return out


@dataclass(frozen=True, slots=True)
class _Launch:
    """The arguments that the kernels of one call share."""

    query: Tensor
    pool: KvPool
    layer: int
    sequences: Sequences
    scores: Scores
    out: Tensor
    tiles: Tiles

    def attend(
        self,
        programs: int,
        found: Tensor | None = None,
        mixed: Tensor | None = None,
        *,
        PIECE: int = 0,
        FILL: int = 0,
    ) -> None:
        """Launch `attend_kernel` with `programs` programs for each sequence and head of keys."""
        query, out, sequences, scores = self.query, self.out, self.sequences, self.scores
        data, scales = self.pool.data[:, self.layer], self.pool.scales
        if scales is not None:
            scales = scales[:, self.layer]
        block, heads, width = data.shape[2:]
        strides, codes = data.stride()[:4], CODES.get(data.dtype)
        if codes is not None:
            data = data.view(torch.int16)
        softcap = scores.softcap
        attend_kernel[len(sequences.first), heads, programs](
            *(query, *query.stride()[:2]),
            *(data, *strides),
            *((None, 0, 0, 0, 0) if scales is None else (scales, *scales.stride())),
            *(sequences.first, sequences.start, sequences.count),
            *(sequences.tables, sequences.tables.stride(0)),
            scores.sinks,
            scores.scale * LOG2_E if softcap is None else scores.scale / softcap,
            scores.window,
            softcap,
            *(out, *out.stride()[:2]),
            *(found, mixed),
            GROUP=query.shape[1] // heads,
            WIDTH=width,
            WIDTH_2=max(16 if codes is None else 32, power_of_two(width)),
            BLOCK=block,
            ROWS=self.tiles.rows,
            TILE=self.tiles.tile,
            PIECE=PIECE,
            FILL=FILL,
            LEAST=LEAST_PIECE,
            BULK=self.tiles.bulk,
            CODES=codes,
            APART=self.tiles.apart,
            UPCAST=INTERPRETED and query.dtype == torch.bfloat16,
            num_warps=self.tiles.warps,
            enable_fp_fusion=True,
        )

    def merge(
        self, found: Tensor, mixed: Tensor, tokens: int, *, PIECE: int = 0, FILL: int = 0
    ) -> None:
        """Launch `merge_kernel` for the first `tokens` queries of each sequence."""
        out, sequences = self.out, self.sequences
        heads, width = out.shape[1:]
        width_2 = power_of_two(width)
        merge_kernel[len(sequences.first), heads, tokens](
            *(found, mixed, found.shape[2]),
            *(sequences.first, sequences.start, sequences.count),
            self.scores.sinks,
            self.scores.window,
            *(out, *out.stride()[:2]),
            GROUP=heads // found.shape[1],
            WIDTH=width,
            WIDTH_2=width_2,
            ROWS=self.tiles.rows,
            TILE=self.tiles.tile,
            PIECE=PIECE,
            FILL=FILL,
            LEAST=LEAST_PIECE,
            PIECES=SPLIT // PIECE if PIECE else 1,
            SPLITS=MERGED,
            # Eight numbers a thread: with four, heads of 64 spilled on sm_80.
            num_warps=max(1, min(4, MERGED * width_2 // 256)),
            enable_fp_fusion=True,
        )


def _kind(query: Tensor, pool: KvPool) -> Kind:
    float32, codes = query.dtype == torch.float32, pool.scales is not None
    return Kind(query.shape[2], float32, codes, generation_of(query.device))


def _check(query: Tensor, pool: KvPool, sequences: Sequences) -> None:
    heads, width = pool.data.shape[4:]
    if query.ndim != 3 or query.shape[2] != width or query.shape[1] % heads or query.stride(2) != 1:
        raise ValueError(
            f"queries must be [rows, heads, {width}], with a multiple of {heads} heads and a stride"
            " of 1 between dimensions"
        )
    if pool.scales is None and pool.data.dtype != query.dtype:
        raise ValueError(f"queries of {query.dtype} can't read a pool of {pool.data.dtype}")
    if pool.scales is not None and width % 2 and runs_kernels(query):
        raise ValueError("kernels read heads of codes only if their width is even")
    columns = (sequences.first, sequences.start, sequences.count)
    if any(column.dtype != torch.int32 or column.ndim != 1 for column in columns):
        raise ValueError("rows, positions and counts of sequences must be int32 vectors")
    if sequences.tables.dtype != torch.int32 or sequences.tables.stride(1) != 1:
        raise ValueError("tables must be int32 [sequences, blocks], with a stride of 1")


def _room(query: Tensor) -> Tensor:
    """Return a tensor for a result, in contiguous memory."""
    return torch.empty(query.shape, dtype=query.dtype, device=query.device)


def _by_twin(
    query: Tensor,
    pool: KvPool,
    layer: int,
    sequences: Sequences,
    scores: Scores,
    out: Tensor | None,
) -> Tensor:
    """The twin takes the same numbers from the host."""
    columns = (sequences.first, sequences.start, sequences.count, sequences.tables)
    spans = [
        Span(first, start, count, table)
        for first, start, count, table in zip(*(column.tolist() for column in columns), strict=True)
        if count
    ]
    result = reference.paged_attention(
        query,
        pool,
        layer,
        reference.plan_attention(spans, pool.data.shape[3]),
        scale=scores.scale,
        window=scores.window,
        softcap=scores.softcap,
        sinks=scores.sinks,
    )
    if out is None:
        return result
    for span in spans:
        own = slice(span.first, span.first + span.count)
        out[own] = result[own]
    return out
