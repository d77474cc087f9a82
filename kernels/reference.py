"""The kernels in plain torch: the oracle of each, and the code that the CPU engine runs.

The bits of a query do not depend on the rest of the batch, if callers pad the number of rows to a
multiple of `ROW_MULTIPLE` (below it, matrix products on a CPU sum in another order). Attention
reads keys in tiles of `TILE` positions, counted from position 0: each product has a fixed inner
shape, the running maximum is exact in any order, and a tile after the end of a shorter sequence
adds exact zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from maskwright.kernels.kv_pool import KvPool, read_blocks

ROW_MULTIPLE = 4
"""Rows of a matrix product are padded to a multiple of this number; below it, libraries sum in
another order."""

TILE = 64
"""Key positions in a tile, a multiple of every block size."""

PREFILL_SPAN = 128
"""Most queries of one sequence that are computed together, which bounds the matrix of scores."""

SPLIT = 8
"""Up to this number, the queries of a sequence are computed like those of different sequences. So a
sampled token and the draft tokens after it are part of the products of all decodes."""


def pad_rows(count: int) -> int:
    """Round `count` up to a multiple of `ROW_MULTIPLE`."""
    return -(-count // ROW_MULTIPLE) * ROW_MULTIPLE


# Paged attention --------------------------------------------------------------------------------


@dataclass(slots=True)  # not frozen, which takes three times as long to make
class Span:
    """The queries of one sequence in a batch: rows `first .. first+count`, at positions
    `start .. start+count`; `table` lists the sequence's blocks in order of position."""

    first: int
    start: int
    count: int
    table: Sequence[int]


@dataclass(frozen=True, slots=True)
class PrefillPlan:
    """At most `PREFILL_SPAN` queries of one sequence. `blocks`: int64, whole tiles of blocks."""

    first: int
    start: int
    count: int
    blocks: Tensor


@dataclass(frozen=True, slots=True)
class DecodePlan:
    """The queries of all sequences with few queries, each treated as a sequence of its own: `n`
    queries with `t` tiles in all, without padding.

    - `rows`: the batch row of each query: a slice if they are consecutive, else int64 [n].
    - `owner`: int64 [t], the query of each tile.
    - `blocks`: int64 [t * blocks in a tile].
    - `relative`: int64 [t, 1, TILE], key positions relative to the query: 0 is the query itself,
      earlier ones are negative.
    - `bias`: float32 [t, 1, TILE], -inf for positions after the query, else 0.
    - `gather`: int64 [n, most tiles], tile numbers padded with t; None if all queries have equally
      many tiles.
    """

    rows: slice | Tensor
    owner: Tensor
    blocks: Tensor
    relative: Tensor
    bias: Tensor
    gather: Tensor | None


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """What the queries of one step read. It is made once for each step, and used by all layers."""

    decode: DecodePlan | None
    prefill: tuple[PrefillPlan, ...]


def plan_attention(spans: Sequence[Span], block_size: int) -> AttentionPlan:
    """Return the plan for `spans`. `block_size` must divide `TILE`."""
    if TILE % block_size:
        raise ValueError(f"block size {block_size} does not divide the tile of {TILE} positions")
    singles = [
        Span(span.first + number, span.start + number, 1, span.table)
        for span in spans
        if span.count <= SPLIT
        for number in range(span.count)
    ]
    prefill = [
        PrefillPlan(
            span.first + begin,
            span.start + begin,
            min(PREFILL_SPAN, span.count - begin),
            torch.tensor(
                _whole_tiles(
                    span.table, span.start + min(begin + PREFILL_SPAN, span.count), block_size
                )
            ),
        )
        for span in spans
        if span.count > SPLIT
        for begin in range(0, span.count, PREFILL_SPAN)
    ]
    return AttentionPlan(_plan_decode(singles, block_size) if singles else None, tuple(prefill))


def _whole_tiles(table: Sequence[int], length: int, block_size: int) -> list[int]:
    """Return the blocks of the first `length` positions, padded with block 0 to whole tiles."""
    blocks = list(table[: -(-length // block_size)])
    return blocks + [0] * (-len(blocks) % (TILE // block_size))


def _plan_decode(spans: Sequence[Span], block_size: int) -> DecodePlan:
    blocks: list[int] = []
    owner: list[int] = []
    starts: list[int] = []
    tiles: list[range] = []
    for number, span in enumerate(spans):
        blocks += _whole_tiles(span.table, span.start + 1, block_size)
        count = span.start // TILE + 1
        tiles.append(range(len(owner), len(owner) + count))
        starts += range(0, count * TILE, TILE)
        owner += [number] * count
    most = max(len(group) for group in tiles)
    owners = torch.tensor(owner)
    queries = torch.tensor([span.start for span in spans])
    keys = torch.tensor(starts)[:, None] + torch.arange(TILE)
    relative = (keys - queries[owners][:, None])[:, None, :]
    rows = [span.first for span in spans]
    uniform = len(owner) == most * len(spans)
    return DecodePlan(
        rows=slice(rows[0], rows[0] + len(rows))
        if rows == list(range(rows[0], rows[0] + len(rows)))
        else torch.tensor(rows),
        owner=owners,
        blocks=torch.tensor(blocks),
        relative=relative,
        bias=torch.zeros(relative.shape).masked_fill_(relative > 0, float("-inf")),
        gather=None
        if uniform
        else torch.tensor([[*group, *[len(owner)] * (most - len(group))] for group in tiles]),
    )


def paged_attention(
    query: Tensor,
    pool: KvPool,
    layer: int,
    plan: AttentionPlan,
    *,
    scale: float,
    window: int | None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Compute causal attention of `query` `[rows, heads, head_dim]` over the pool; the result has
    this shape too.

    Padding rows, which belong to no span, get zeros. `window`: a query at position p reads only
    keys at positions above `p - window`. `softcap` bounds scores smoothly: `cap * tanh(s / cap)`.
    `sinks` `[heads]`: an additional score in the softmax of each head, without a value.
    """
    scoring = Scoring(scale, window, softcap, None if sinks is None else sinks.float())
    out = torch.zeros_like(query, memory_format=torch.contiguous_format)
    if plan.decode is not None:
        _attend_decode(query, pool, layer, plan.decode, scoring, out)
    for part in plan.prefill:
        _attend_prefill(query, pool, layer, part, scoring, out)
    return out


@dataclass(frozen=True, slots=True)
class Scoring:
    """The parameters of a layer's scores; see `paged_attention`."""

    scale: float
    window: int | None
    softcap: float | None
    sinks: Tensor | None

    def scores(
        self, packed: Tensor, keys: Tensor, bias: Tensor, out: Tensor | None = None
    ) -> Tensor:
        """Compute `packed @ keys`, scaled and capped, plus `bias`, which is 0 or -inf."""
        if self.softcap is None:
            return torch.baddbmm(bias, packed, keys, alpha=self.scale, out=out)
        alpha = self.scale / self.softcap
        scores = torch.baddbmm(bias, packed, keys, beta=0, alpha=alpha, out=out)
        return scores.tanh_().mul_(self.softcap).add_(bias)


def _attend_decode(
    query: Tensor,
    pool: KvPool,
    layer: int,
    plan: DecodePlan,
    scoring: Scoring,
    out: Tensor,
) -> None:
    kv_heads, width = pool.data.shape[4:]
    queries = query[plan.rows]
    tiles, sequences, heads = len(plan.owner), *queries.shape[:2]
    group = heads // kv_heads
    rows = pad_rows(group)
    bias = plan.bias
    if scoring.window is not None:
        bias = bias.masked_fill(plan.relative <= -scoring.window, float("-inf"))

    keys, values = (
        read_blocks(pool, layer, part, plan.blocks, query.dtype).view(tiles, TILE, kv_heads, width)
        for part in (0, 1)
    )
    # [kv_heads, tiles, rows, width]: the queries that share a key head, repeated for each tile
    packed = queries.view(sequences, kv_heads, group, width).transpose(0, 1)
    packed = F.pad(packed, (0, 0, 0, rows - group)).index_select(1, plan.owner)

    scores = torch.empty(kv_heads, tiles, rows, TILE, dtype=query.dtype)
    bias = bias.to(query.dtype).expand(tiles, rows, TILE)
    for head in range(kv_heads):
        scoring.scores(packed[head], keys[:, :, head].transpose(1, 2), bias, out=scores[head])
    scores = scores.float()
    peak = _by_sequence(scores.amax(dim=-1), plan, sequences, float("-inf")).amax(dim=2)
    sinks = scoring.sinks
    if sinks is not None:
        sinks = F.pad(sinks.view(kv_heads, 1, group), (0, rows - group))
        peak = peak.maximum(sinks)
    weights = scores.sub_(peak.index_select(1, plan.owner)[..., None]).exp_()
    mass = _by_sequence(weights.sum(dim=-1), plan, sequences, 0.0).sum(dim=2)
    if sinks is not None:
        mass += (sinks - peak).exp_()

    weights = weights.to(query.dtype)
    partial = torch.empty(kv_heads, tiles, rows, width, dtype=query.dtype)
    for head in range(kv_heads):
        torch.bmm(weights[head], values[:, :, head], out=partial[head])
    total = _by_sequence(partial, plan, sequences, 0.0).sum(dim=2).div_(mass[..., None])
    mixed = total[:, :, :group].transpose(0, 1).reshape(sequences, heads, width)
    out[plan.rows] = mixed.to(query.dtype)


def _by_sequence(tiles: Tensor, plan: DecodePlan, sequences: int, fill: float) -> Tensor:
    """Rearrange `[heads, tiles, ...]` to `[heads, sequences, most tiles, ...]`, with padding."""
    if plan.gather is None:
        return tiles.unflatten(1, (sequences, -1))
    edge = torch.full_like(tiles[:, :1], fill)
    return torch.cat((tiles, edge), dim=1)[:, plan.gather]


def _attend_prefill(
    query: Tensor,
    pool: KvPool,
    layer: int,
    plan: PrefillPlan,
    scoring: Scoring,
    out: Tensor,
) -> None:
    block_size, kv_heads, width = pool.data.shape[3:]
    heads, count = query.shape[1], plan.count
    group = heads // kv_heads
    rows = pad_rows(count * group)
    tiles = len(plan.blocks) * block_size // TILE
    end = plan.start + count

    keys, values = (
        read_blocks(pool, layer, part, plan.blocks, query.dtype).view(tiles, TILE, kv_heads, width)
        for part in (0, 1)
    )

    position = torch.arange(plan.start, end).repeat_interleave(group)
    position = F.pad(position, (0, rows - count * group), value=end - 1)[:, None]
    key = torch.arange(tiles * TILE).view(tiles, 1, TILE)
    hidden = key > position
    if scoring.window is not None:
        hidden |= key <= position - scoring.window
    bias = torch.zeros(hidden.shape, dtype=query.dtype).masked_fill_(hidden, float("-inf"))

    own = slice(plan.first, plan.first + count)
    for head in range(kv_heads):
        served = slice(head * group, (head + 1) * group)
        packed = query[own, served].reshape(count * group, width)
        packed = F.pad(packed, (0, 0, 0, rows - count * group)).expand(tiles, rows, width)
        transposed = keys[:, :, head].transpose(1, 2)
        scores = scoring.scores(packed, transposed, bias).float()
        peak = scores.amax(dim=-1).amax(dim=0)
        sinks = scoring.sinks
        if sinks is not None:
            sinks = F.pad(sinks[served].repeat(count), (0, rows - count * group))
            peak = peak.maximum(sinks)
        weights = scores.sub_(peak[:, None]).exp_()
        mass = weights.sum(dim=-1).sum(dim=0)
        if sinks is not None:
            mass += (sinks - peak).exp_()
        partial = torch.bmm(weights.to(query.dtype), values[:, :, head])
        total = partial.sum(dim=0) / mass[:, None]
        out[own, served] = total[: count * group].view(count, group, width).to(query.dtype)


# Norm, rope, activation -------------------------------------------------------------------------


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Return the root-mean-square norm over the last dimension, in float32, scaled by `weight`."""
    if x.dtype == torch.float32:
        return F.rms_norm(x, (x.shape[-1],), weight, eps)
    return weight * F.rms_norm(x.float(), (x.shape[-1],), None, eps).to(x.dtype)


def rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate `x` `[rows, heads, head_dim]` by half-split rope.

    `cos`, `sin` `[rows, 1, head_dim]`, the first half of `sin` already negated.
    """
    return x * cos + x.roll(x.shape[-1] // 2, dims=-1) * sin


def silu_mul(gate_up: Tensor) -> Tensor:
    """Return `silu(gate) * up` for `gate_up` `[rows, 2 * width]`, gate first."""
    width = gate_up.shape[-1] // 2
    return F.silu(gate_up[:, :width]) * gate_up[:, width:]


# Sampling ---------------------------------------------------------------------------------------


def allowed_tokens(words: Tensor, vocab_size: int) -> Tensor:
    """Return the masks `words`, int32 `[rows, words]`, as bool `[rows, vocab_size]`.

    Bit i of word w allows token `32 * w + i`. Tokens that the words don't reach are forbidden.
    """
    # Made on the device: for a copy of numbers from here, the host would wait.
    bit = torch.arange(32, dtype=torch.int32, device=words.device)
    bits = (words[:, :, None] >> bit) & 1
    allowed = bits.flatten(1)[:, :vocab_size].bool()
    return F.pad(allowed, (0, vocab_size - allowed.shape[1]))


def apply_mask(logits: Tensor, words: Tensor) -> None:
    """Set the logits `[rows, vocab]` of tokens that the masks `words` forbid to -inf, in place."""
    logits.masked_fill_(~allowed_tokens(words, logits.shape[1]), float("-inf"))


def apply_mask_by_row(logits: Tensor, table: Tensor, rows: Tensor) -> None:
    """Set the logits `[rows, vocab]` of tokens that a row's mask forbids to -inf, in place. `rows`:
    int32 `[rows]`, numbers of masks in `table` int32 `[masks, words]`, or -1 for no mask."""
    chosen = torch.nonzero(rows >= 0).flatten()
    allowed = allowed_tokens(table[rows[chosen].long()], logits.shape[1])
    logits[chosen] = logits[chosen].masked_fill_(~allowed, float("-inf"))


def apply_penalties(
    logits: Tensor, rows: Tensor, tokens: Tensor, multiplier: Tensor, shift: Tensor
) -> None:
    """For each (`rows`, `tokens`), divide a positive logit by `multiplier`, multiply a negative one
    by it, and then subtract `shift`. The four vectors have equal lengths; no pair occurs twice."""
    old = logits[rows, tokens]
    new = torch.where(old > 0, old / multiplier, old * multiplier) - shift
    logits[rows, tokens] = new


def keep_at_least(logits: Tensor, threshold: Tensor) -> None:
    """Set logits below the `threshold` `[rows]` of their row to -inf, in place; equal ones are
    kept."""
    logits.masked_fill_(logits < threshold[:, None], float("-inf"))


def top_k_threshold(logits: Tensor, top_k: Tensor) -> Tensor:
    """Return the `top_k`-th highest logit of each row, float32 `[rows]`. `top_k`: int64 `[rows]`,
    at least 1; above the size of the vocabulary it means all tokens."""
    most = min(int(top_k.max()), logits.shape[1])
    highest = logits.topk(most, dim=-1).values
    return highest.gather(1, (top_k.clamp(max=most) - 1)[:, None])[:, 0]


def top_p_threshold(logits: Tensor, top_p: Tensor) -> Tensor:
    """Return the lowest logit in the nucleus of each row, float32 `[rows]`. `top_p`: float64
    `[rows]`.

    The nucleus consists of the fewest most probable tokens whose probability reaches `top_p`. It
    always contains the most probable token.
    """
    ordered = logits.sort(dim=-1, descending=True).values
    mass = (ordered - ordered[:, :1]).double().exp_()
    reached = mass.cumsum(dim=-1)
    before = reached - mass
    count = (before < top_p[:, None] * reached[:, -1:]).sum(dim=-1, keepdim=True).clamp_(min=1)
    return ordered.gather(1, count - 1)[:, 0]


def min_p_threshold(logits: Tensor, min_p: Tensor) -> Tensor:
    """Return the logit of a token that is `min_p` times as probable as the most probable one,
    float64 `[rows]`, so that 1.0 keeps that token. `min_p`: float64 `[rows]`, above 0."""
    return logits.amax(dim=-1).double() + min_p.log()


# Draws ------------------------------------------------------------------------------------------


def random_words(seeds: Tensor, positions: Tensor, vocab_size: int, stream: int = 0) -> Tensor:
    """Return a random word below 2**32 for every token, int64 `[rows, vocab_size]`, by
    Philox4x32-10 (Salmon et al., SC'11). `seeds`: int64 with the bits of a 64-bit number;
    `positions`: int64 `[rows]`. The key is the seed, the counter (token >> 2, position, stream, 0),
    and token & 3 selects the word."""
    low = 0xFFFFFFFF
    groups = torch.arange(-(-vocab_size // 4), device=seeds.device).expand(len(seeds), -1)
    a, b = groups, positions[:, None].expand_as(groups)
    c, d = torch.full_like(groups, stream), torch.zeros_like(groups)
    key_0, key_1 = (seeds & low)[:, None], ((seeds >> 32) & low)[:, None]
    for _ in range(10):
        first, second = a * 0xD2511F53, c * 0xCD9E8D57  # 64 bits, of which the sign is one
        a, b, c, d = (
            ((second >> 32) & low) ^ b ^ key_0,
            second & low,
            ((first >> 32) & low) ^ d ^ key_1,
            first & low,
        )
        key_0, key_1 = (key_0 + 0x9E3779B9) & low, (key_1 + 0xBB67AE85) & low
    return torch.stack((a, b, c, d), dim=-1).flatten(1)[:, :vocab_size]


def gumbel_noise(seeds: Tensor, positions: Tensor, vocab_size: int) -> Tensor:
    """Return `-log(-log(1 - u))` for every token, float64 `[rows, vocab_size]`, with
    `u = (word + 0.5) / 2**32` and the words of `random_words`."""
    uniform = (random_words(seeds, positions, vocab_size).double() + 0.5) * 2.0**-32
    return -torch.log(-torch.log1p(-uniform))


def draw(
    logits: Tensor, words: Tensor, temperatures: Tensor, seeds: Tensor, positions: Tensor
) -> Tensor:
    """Draw a token for each row of `logits`, float32 `[rows, vocab]`, among those that its mask
    `words` allows; returns int64 `[rows]`. At temperature 0 (`temperatures`: float32 `[rows]`) it
    is the token with the highest logit, otherwise the one with the highest sum of
    `(logit - highest) / temperature` and Gumbel noise `-log(-log(1 - (word + 0.5) / 2**32))`, in
    float64. Ties go to the lowest token id. The result is -1 if no token is left, -2 if an allowed
    logit is +inf or NaN."""
    masked = logits.clone()
    apply_mask(masked, words)
    peak = masked.amax(dim=-1, keepdim=True)
    greedy = (temperatures == 0)[:, None]
    scaled = (masked - peak) / torch.where(greedy, 1.0, temperatures[:, None])
    noise = gumbel_noise(seeds, positions, logits.shape[1])
    chosen = torch.where(greedy, masked.double(), scaled.double() + noise).argmax(dim=-1)
    chosen[peak[:, 0] == float("-inf")] = -1
    chosen[peak[:, 0].isnan() | (peak[:, 0] == float("inf"))] = -2
    return chosen
