"""Compiled attention against its torch twin."""

import random

import pytest
import torch

from maskwright.kernels.kv_pool import KvPool, store_kv
from maskwright.kernels.reference import Span, pad_rows, paged_attention, plan_attention
from maskwright.models.compiled.layers import attend, store
from maskwright.models.runs import plan_compiled

SCALE = 0.3


@pytest.mark.parametrize("block_size", [4, 16, 64])
@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize(
    ("heads", "kv_heads", "width"),
    [(4, 4, 8), (6, 2, 32), (5, 1, 24), (4, 2, 2), (4, 4, 6), (2, 1, 12), (6, 3, 50)],
)
def test_attention_equals_the_torch_twin(
    block_size: int, window: int | None, heads: int, kv_heads: int, width: int
) -> None:
    layers, layer = 2, 1
    rng = random.Random(block_size)
    work = [(0, 1), (5, 1), (63, 1), (64, 1), (130, 1), (0, 3), (60, 10), (0, 140)]
    count = sum(n for _, n in work)
    blocks = list(range(1, 1 + sum((start + n) // block_size + 1 for start, n in work)))
    rng.shuffle(blocks)
    shape = (len(blocks) + 1, layers, 2, block_size, kv_heads, width)
    pools = KvPool(torch.zeros(shape)), KvPool(torch.full(shape, float("nan")))
    qkv = torch.randn(pad_rows(count), heads + 2 * kv_heads, width)
    spans: list[Span] = []
    for start, n in work:
        table = [blocks.pop() for _ in range((start + n - 1) // block_size + 1)]
        spans.append(Span(sum(span.count for span in spans), start, n, table))
        before = torch.randn(2, start, kv_heads, width)
        positions = torch.arange(start)
        for pool in pools:  # the twin reads positions not yet written, with no weight
            homes = torch.tensor(table)[positions // block_size]
            store_kv(pool, layer, homes, positions % block_size, *before)
    twin, ours = pools
    positions = torch.cat([torch.arange(span.start, span.start + span.count) for span in spans])
    homes = [torch.tensor(s.table)[torch.arange(s.start, s.start + s.count) // block_size]
             for s in spans]  # fmt: skip
    keys, values = qkv[:count, -2 * kv_heads :].chunk(2, dim=1)
    store_kv(twin, layer, torch.cat(homes), positions % block_size, keys, values)
    expected = paged_attention(
        qkv[:, :heads], twin, layer, plan_attention(spans, block_size), scale=SCALE, window=window
    )
    got = torch.zeros_like(expected)
    plan = plan_compiled(spans, block_size)
    numbers, read = ours.data.numpy(), (plan.positions, plan.starts, plan.tables)
    store(qkv.numpy(), numbers, layer, *read)
    attend(qkv.numpy(), numbers, layer, *read, SCALE, window or 0, got.numpy())
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
    written = ~ours.data.isnan()
    assert torch.equal(ours.data[written], twin.data[written])
    assert not written[:, 0].any(), "another layer was written to"
