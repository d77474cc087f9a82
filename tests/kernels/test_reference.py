"""The plain-torch kernels against the obvious way to write each."""

import math
import random
from itertools import product

import pytest
import torch

from maskwright.kernels.kv_pool import KvPool, clear_blocks, store_kv
from maskwright.kernels.reference import (
    Span,
    allowed_tokens,
    apply_mask,
    apply_penalties,
    min_p_threshold,
    pad_rows,
    paged_attention,
    plan_attention,
    rope,
    top_k_threshold,
    top_p_threshold,
)
from tests.walks.samples import sampled


@pytest.mark.parametrize(("count", "padded"), [(0, 0), (1, 4), (4, 4), (5, 8)])
def test_pad_rows(count: int, padded: int) -> None:
    assert pad_rows(count) == padded


EXTRAS = ((), ("softcap",), ("sinks",), ("softcap", "sinks"))
WAYS = [
    pytest.param(block_size, window, heads, kv_heads, extras)
    for block_size, window, (heads, kv_heads), extras in product(
        (4, 16, 64), (None, 7), ((4, 4), (6, 2), (5, 1)), EXTRAS
    )
]


@pytest.mark.parametrize(("block_size", "window", "heads", "kv_heads", "extras"), sampled(WAYS, 24))
def test_paged_attention_equals_plain_attention(
    block_size: int, window: int | None, heads: int, kv_heads: int, extras: tuple[str, ...]
) -> None:
    softcap = 0.5 if "softcap" in extras else None
    sinks = torch.randn(heads) if "sinks" in extras else None
    rng = random.Random(block_size)
    width, layers, layer, scale = 8, 2, 1, 0.3
    work = [(0, 1), (5, 1), (63, 1), (64, 1), (130, 1), (0, 3), (60, 10), (0, 140)]
    rng.shuffle(work)
    count = sum(n for _, n in work)
    blocks = list(range(1, 1 + sum((start + n) // block_size + 1 for start, n in work)))
    data = torch.full((len(blocks) + 1, layers, 2, block_size, kv_heads, width), float("nan"))
    data[0] = 0
    pool = KvPool(data)
    rng.shuffle(blocks)
    query = torch.randn(pad_rows(count), heads, width)
    spans, expected, row = [], [], 0
    for start, n in work:
        length = start + n
        table = [blocks.pop() for _ in range(-(-length // block_size))]
        clear_blocks(pool, table)
        keys, values = torch.randn(2, length, kv_heads, width)
        positions = torch.arange(length)
        homes = torch.tensor([table[p // block_size] for p in range(length)])
        store_kv(pool, layer, homes, positions % block_size, keys, values)
        spans.append(Span(row, start, n, table))
        expected.append(
            plain(query[row : row + n], keys, values, start, scale, window, softcap, sinks)
        )
        row += n
    got = paged_attention(
        query,
        pool,
        layer,
        plan_attention(spans, block_size),
        scale=scale,
        window=window,
        softcap=softcap,
        sinks=sinks,
    )
    torch.testing.assert_close(got[:row], torch.cat(expected), atol=1e-5, rtol=1e-5)
    assert got[row:].eq(0).all()
    assert not data[:, 0][data[:, 0] == data[:, 0]].any(), "another layer was written to"


def plain(query, keys, values, start, scale, window, softcap=None, sinks=None):
    group = query.shape[1] // keys.shape[1]
    keys, values = (t.repeat_interleave(group, dim=1) for t in (keys, values))
    scores = torch.einsum("qhd,khd->hqk", query, keys) * scale
    if softcap is not None:
        scores = (scores / softcap).tanh() * softcap
    at = torch.arange(start, start + len(query))[:, None]
    key = torch.arange(len(keys))[None]
    hidden = key > at
    if window is not None:
        hidden |= key <= at - window
    scores = scores.masked_fill(hidden, float("-inf"))
    if sinks is not None:
        scores = torch.cat((scores, sinks[:, None, None].expand(-1, len(query), 1)), dim=-1)
    weights = scores.softmax(dim=-1)[..., : len(keys)]
    return torch.einsum("hqk,khd->qhd", weights, values)


def test_a_block_size_that_does_not_divide_the_tile_is_refused() -> None:
    with pytest.raises(ValueError, match="block size 24"):
        plan_attention([Span(0, 0, 1, [1])], 24)


def test_rope_turns_pairs_by_the_angle() -> None:
    x = torch.randn(3, 2, 4)
    angle = torch.randn(3, 1, 2)
    cos, sin = angle.cos(), angle.sin()
    got = rope(x, torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1))
    turned = torch.view_as_complex(torch.stack((x[..., :2], x[..., 2:]), -1)) * torch.polar(
        torch.ones_like(angle), angle
    )
    torch.testing.assert_close(got, torch.cat((turned.real, turned.imag), -1))


@pytest.mark.parametrize("vocab_size", [1, 31, 32, 33, 100])
def test_apply_mask_reads_bit_i_of_word_w(vocab_size: int) -> None:
    rng = random.Random(vocab_size)
    words = [[rng.getrandbits(32) for _ in range(-(-vocab_size // 32))] for _ in range(5)]
    words[0] = [0] * len(words[0])
    words[1] = [2**32 - 1] * len(words[1])
    packed = torch.tensor([[w - 2**32 if w >= 2**31 else w for w in row] for row in words])
    packed = packed.to(torch.int32)
    logits = torch.randn(5, vocab_size)
    before = logits.clone()
    apply_mask(logits, packed)
    for row in range(5):
        for token in range(vocab_size):
            allowed = words[row][token // 32] >> (token % 32) & 1
            assert bool(allowed_tokens(packed, vocab_size)[row, token]) == bool(allowed)
            assert logits[row, token] == (before[row, token] if allowed else float("-inf"))


def test_penalties_push_down_whatever_the_sign() -> None:
    logits = torch.tensor([[2.0, -2.0, 1.0], [4.0, 4.0, 4.0]])
    rows, tokens = torch.tensor([0, 0, 1]), torch.tensor([0, 1, 2])
    apply_penalties(logits, rows, tokens, torch.tensor([2.0, 2.0, 1.0]), torch.tensor([0.0, 0, 3]))
    assert logits.tolist() == [[1.0, -4.0, 1.0], [4.0, 4.0, 1.0]]


def rows_with_ties_and_masks(rng: random.Random, rows: int, width: int) -> torch.Tensor:
    values = torch.tensor(
        [[rng.choice([-3.0, -1.0, 0.0, 0.5, 2.0]) for _ in range(width)] for _ in range(rows)]
    )
    values += torch.randn(rows, width) * (torch.rand(rows, 1) < 0.5)
    hidden = torch.rand(rows, width) < torch.rand(rows, 1)
    hidden[:, 3] = False
    return values.masked_fill(hidden, float("-inf"))


def test_thresholds_equal_sorting_row_by_row() -> None:
    rng = random.Random(5)
    torch.manual_seed(5)
    logits = rows_with_ties_and_masks(rng, 300, 37)
    k = torch.tensor([rng.randint(1, 60) for _ in range(300)])
    p = torch.tensor([rng.choice([0.0, 0.1, 0.5, 0.9, 0.999, 1.0]) for _ in range(300)]).double()
    m = torch.tensor([rng.choice([1e-9, 0.01, 0.3, 1.0]) for _ in range(300)]).double()
    for row, got in enumerate(
        zip(
            top_k_threshold(logits, k),
            top_p_threshold(logits, p),
            min_p_threshold(logits, m),
            strict=True,
        )
    ):
        ordered = sorted(logits[row].tolist(), reverse=True)
        masses = [math.exp(value - ordered[0]) for value in ordered]
        assert got[0] == ordered[min(int(k[row]), 37) - 1]
        reached, last = 0.0, ordered[0]
        for value, mass in zip(ordered, masses, strict=True):
            if reached >= float(p[row]) * sum(masses) - 1e-12:
                break
            reached, last = reached + mass, value
        assert got[1] == last
        kept = [
            v for v, mass in zip(ordered, masses, strict=True) if mass >= float(m[row]) * 0.999999
        ]
        assert sum(v >= float(got[2]) for v in ordered) == len(kept)
