"""Attention over blocks on a GPU, beside torch's over keys and values without blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.gpu.flashinfer_peer import decode, flashinfer_us
from benchmarks.gpu.timing import Bench
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.kernels.kv_pool import KvPool, new_pool
from maskwright.kernels.paged_attention import Scores, Sequences, paged_decode, paged_prefill

BLOCK: Final = 16
MOST_BYTES: Final = 24 << 30
"""The most bytes of keys and values of a case; torch's are a second copy."""


@dataclass(frozen=True)
class Heads:
    """The heads of a model's attention."""

    queries: int
    keys: int
    width: int


SHAPES: Final = {
    "8B": Heads(32, 8, 128),
    "0.6B": Heads(16, 8, 128),
    "256 wide": Heads(8, 4, 256),
}
KINDS: Final[tuple[KvDtype, ...]] = ("auto", "int8")
TINY: Final = {"tiny": Heads(4, 2, 16)}


def sequences_of(bench: Bench, count: int, start: int, length: int) -> tuple[Sequences, int]:
    """Return `count` sequences of `length` queries after `start` positions, whose blocks lie in
    random order, and the number of blocks."""
    each = -(-(start + length) // BLOCK)
    order = torch.randperm(count * each, generator=torch.Generator().manual_seed(0))
    tables = (1 + order).view(count, each).int()
    first = torch.arange(count, dtype=torch.int32) * length
    columns = (first, torch.full_like(first, start), torch.full_like(first, length), tables)
    placed = [column.contiguous().to(bench.device) for column in columns]
    sequences = Sequences(*placed, most=length, longest=start + length, least=length)
    return sequences, 1 + count * each


def pool_of(bench: Bench, blocks: int, heads: Heads, kind: KvDtype = "auto") -> KvPool:
    """Return a pool of one layer with random numbers or codes."""
    dtype = torch.float32 if bench.tiny else torch.bfloat16
    pool = new_pool((blocks, 1, 2, BLOCK, heads.keys, heads.width), dtype, kind, bench.device)
    if pool.scales is None:
        pool.data.normal_()
    elif pool.data.dtype == torch.int8:
        pool.data.random_(-127, 128)
        pool.scales.fill_(0.01)
    return pool


def dense(bench: Bench, heads: Heads, count: int, queries: int, length: int) -> list[Tensor]:
    """Return queries, keys and values as torch's attention takes them."""
    query = bench.numbers(count, heads.queries, queries, heads.width)
    return [query, *(bench.numbers(count, heads.keys, length, heads.width) for _ in range(2))]


def measure_decode(bench: Bench) -> None:
    """Time one new token of each sequence. The share of reading's bandwidth counts one read of keys
    and values."""
    for name, heads in (TINY if bench.tiny else SHAPES).items():
        for count in bench.sizes((1, 8, 64, 256), (2,)):
            for length in bench.sizes((512, 4096, 32_768), (40,)):
                if count * length * 4 * heads.keys * heads.width <= MOST_BYTES:
                    _time_decode(bench, name, heads, count, length)


def _time_decode(bench: Bench, name: str, heads: Heads, count: int, length: int) -> None:
    sequences, blocks = sequences_of(bench, count, length - 1, 1)
    query = bench.numbers(count, heads.queries, heads.width)
    scores = Scores(heads.width**-0.5)
    theirs = _torch_decode(bench, heads, count, length)
    for kind in KINDS:
        pool = pool_of(bench, blocks, heads, kind)
        us = bench.by_graph(partial(paged_decode, query, pool, 0, sequences, scores))
        peer = {}
        if kind == "auto":
            peer = flashinfer_us(bench, decode(query, pool.data[:, 0], sequences, length))
        of_position = 2 * pool.data[0, 0, 0, 0].nbytes
        if pool.scales is not None:
            of_position += 2 * pool.scales[0, 0, 0, 0].nbytes
        read = count * length * of_position
        bench.add(
            f"decode, {name}" + ("" if kind == "auto" else f", {kind}"),
            sequences=count,
            positions=length,
            MB=read / 1e6,
            us=us,
            **{"read_bandwidth_%": bench.share(read, us)},
            torch_us=theirs,
            **peer,
        )


def _torch_decode(bench: Bench, heads: Heads, count: int, length: int) -> float:
    """Time torch's attention; its keys and values are released afterwards."""
    query, keys, values = dense(bench, heads, count, 1, length)
    return bench.by_graph(
        lambda: F.scaled_dot_product_attention(query, keys, values, enable_gqa=True)
    )


def measure_prefill(bench: Bench) -> None:
    """Time a piece of one prompt after a prefix that is in the pool."""
    for name, heads in (TINY if bench.tiny else SHAPES).items():
        for prefix in bench.sizes((0, 8192, 32_768), (0, 24)):
            for length in bench.sizes((256, 2048, 8192), (40,)):
                _time_prefill(bench, name, heads, prefix, length)


def _time_prefill(bench: Bench, name: str, heads: Heads, prefix: int, length: int) -> None:
    from torch.nn.attention.bias import causal_lower_right  # noqa: PLC0415  (five seconds)

    sequences, blocks = sequences_of(bench, 1, prefix, length)
    query = bench.numbers(length, heads.queries, heads.width)
    pool, scores = pool_of(bench, blocks, heads), Scores(heads.width**-0.5)
    us = bench.by_graph(lambda: paged_prefill(query, pool, 0, sequences, scores))
    query_all, keys, values = dense(bench, heads, 1, length, prefix + length)
    # Torch's fused attention takes as many heads of keys as of queries with this mask.
    group = heads.queries // heads.keys
    keys, values = (part.repeat_interleave(group, 1) for part in (keys, values))
    mask = causal_lower_right(length, prefix + length)
    theirs = bench.by_graph(
        lambda: F.scaled_dot_product_attention(query_all, keys, values, attn_mask=mask)
    )
    seen = length * prefix + length * (length + 1) / 2
    operations = 4 * seen * heads.queries * heads.width
    bench.add(
        f"prefill, {name}",
        prefix=prefix,
        tokens=length,
        us=us,
        TFLOP_per_s=operations / us / 1e6,
        torch_us=theirs,
        **{"torch_rate_%": 100 * theirs / us},
    )
