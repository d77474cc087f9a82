"""Every kernel against its twin in plain torch, on a GPU in the shapes of models, and in the
interpreter in small ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from types import ModuleType

import pytest
import torch
from torch import Tensor

from benchmarks.gpu.attention import BLOCK, SHAPES, TINY, Heads, pool_of, sequences_of
from benchmarks.gpu.fp8_product import multiplies_fp8
from benchmarks.gpu.low_rank import ENDS, AdaptedRows
from benchmarks.gpu.next_rows import rows_of, table_of
from benchmarks.gpu.sampling import inputs_of, mask_table
from benchmarks.gpu.timing import Bench
from maskwright.kernels import (
    apply_mask,
    norm_rope,
    paged_attention,
    sample,
    silu_mul,
    store_kv,
)
from maskwright.kernels.attention import tiles
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.fp8 import product
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_attention import Scores
from maskwright.kernels.steps import next_rows
from tests.kernels.launches import kernels_of_the_package, launched

CHECKED = {
    "test_masks": {"mask_kernel"},
    "test_draws": {"edit_kernel", "scan_kernel", "select_kernel"},
    "test_attention": {"attend_kernel", "merge_kernel"},
    "test_storing": {"store_kernel"},
    "test_norms_and_activation": {"add_norm_kernel", "silu_mul_kernel"},
    "test_rotated_heads": {"norm_rope_kernel"},
    "test_updates_of_adapters": {"shrink_kernel", "expand_kernel"},
    "test_products_in_fp8": {"encode_rows_kernel"},
    "test_next_rows": {"advance_kernel"},
}
"""The kernels that each test holds to their twins."""

KINDS: tuple[KvDtype, ...] = ("auto", "int8", "fp8")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def bench(request: pytest.FixtureRequest) -> Bench:
    if request.param == "cpu" and not INTERPRETED:
        pytest.skip("needs TRITON_INTERPRET=1; test_interpreter.py sets it")
    return Bench(torch.device(request.param))


LAUNCHED: dict[str, set[str]] = {}
"""What each test has launched so far, in all of its cases."""


@pytest.fixture(autouse=True)
def _note_launches(request: pytest.FixtureRequest) -> Iterator[None]:
    with launched() as names:
        yield
    LAUNCHED.setdefault(request.function.__name__, set()).update(names)


@pytest.fixture(autouse=True, scope="module")
def _each_test_launches_its_kernels() -> Iterator[None]:
    """A test that launches none would compare a twin with itself."""
    yield
    for test, names in LAUNCHED.items():
        assert names <= CHECKED.get(test, set()), test
    if any(LAUNCHED.values()) and LAUNCHED.keys() >= CHECKED.keys():  # all tests have run
        assert {test: LAUNCHED[test] for test in CHECKED} == CHECKED


def twin(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    """From here on, the functions of `module` run the twin."""
    monkeypatch.setattr(module, "runs_kernels", lambda tensor: False)


def assert_near(found: Tensor, expected: Tensor, tolerance: float) -> None:
    """Hold numbers to each other by the size of the largest."""
    largest = expected.float().abs().max()
    assert largest > 0
    assert (found.float() - expected.float()).abs().max() <= tolerance * largest


def test_masks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for vocab in bench.sizes((128_256, 50_257, 262_144), (203,)):
        table = mask_table(vocab, bench.device)
        numbers = (torch.arange(70, dtype=torch.int32, device=bench.device) % 9) - 1
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            found = bench.numbers(70, vocab, dtype=dtype)
            expected = found.clone()
            apply_mask.apply_mask_by_row(found, table, numbers)
            with monkeypatch.context() as patch:
                twin(patch, apply_mask)
                apply_mask.apply_mask_by_row(expected, table, numbers)
            assert found.equal(expected)
            assert found.isinf().any()


@pytest.mark.parametrize("chain", ["mixed", "greedy", "top-p"])
def test_draws(bench: Bench, chain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for rows, vocab in bench.sizes(((64, 128_256), (8, 262_144)), ((6, 300),)):
        inputs = inputs_of(bench, rows, vocab, chain)
        logits = 4 * bench.numbers(rows, vocab)
        found = sample.sample_rows(logits.clone(), inputs, scored=True)
        with monkeypatch.context() as patch:
            twin(patch, sample)
            expected = sample.sample_rows(logits.clone(), inputs, scored=True)
        assert found.tokens.min() >= 0
        # The one difference that is allowed is a sum of probabilities that lies at top-p.
        assert (found.tokens == expected.tokens).float().mean() >= (
            1 if chain == "greedy" or bench.tiny else 0.98
        )
        assert found.raw is not None
        assert expected.raw is not None
        same = found.tokens == expected.tokens
        assert_near(found.raw[same], expected.raw[same], 1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["decode", "drafts", "prefill"])
def test_attention(bench: Bench, name: str, kind: KvDtype, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = {"decode": (8, 2999, 1), "drafts": (4, 1500, 5), "prefill": (2, 700, 300)}
    small = {"decode": (2, 20, 1), "drafts": (2, 17, 3), "prefill": (1, 5, 12)}
    count, start, length = (small if bench.tiny else cases)[name]
    function = "paged_prefill" if name == "prefill" else "paged_decode"
    if bench.tiny:  # so that even a short sequence is read in splits
        monkeypatch.setattr(tiles, "TILE", 16)
        monkeypatch.setattr(paged_attention, "SPLIT", 16)
    for heads in (TINY if bench.tiny else SHAPES).values():
        sequences, blocks = sequences_of(bench, count, start, length)
        pool = filled_pool(bench, blocks, heads, kind)
        query = bench.numbers(count * length, heads.queries, heads.width)
        call = (query, pool, 0, sequences, Scores(heads.width**-0.5, window=4 * BLOCK))
        found = getattr(paged_attention, function)(*call)
        with monkeypatch.context() as patch:
            twin(patch, paged_attention)
            expected = getattr(paged_attention, function)(*call)
        assert_near(found, expected, 1e-5 if bench.tiny else 2e-2)


def filled_pool(bench: Bench, blocks: int, heads: Heads, kind: KvDtype) -> KvPool:
    """Return a pool in whose blocks numbers were stored by the twin."""
    pool = pool_of(bench, blocks, heads, kind)
    slots = torch.arange(blocks * BLOCK, device=bench.device)
    numbers = [bench.numbers(blocks * BLOCK, heads.keys, heads.width) for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        twin(patch, store_kv)
        store_kv.store_kv(pool, 0, slots // BLOCK, slots % BLOCK, *numbers)
    return pool


@pytest.mark.parametrize("kind", KINDS)
def test_storing(bench: Bench, kind: KvDtype, monkeypatch: pytest.MonkeyPatch) -> None:
    for heads in (TINY if bench.tiny else SHAPES).values():
        pools = [filled_pool(bench, 9, heads, kind) for _ in range(2)]
        for part in ("data", "scales"):
            if getattr(pools[0], part) is not None:
                getattr(pools[1], part).copy_(getattr(pools[0], part))
        slots = torch.randperm(8 * BLOCK, device=bench.device)[:50] + BLOCK
        numbers = [bench.numbers(50, heads.keys, heads.width) for _ in range(2)]
        arguments = (0, slots // BLOCK, slots % BLOCK, *numbers)
        store_kv.store_kv(pools[0], *arguments)
        with monkeypatch.context() as patch:
            twin(patch, store_kv)
            store_kv.store_kv(pools[1], *arguments)
        bits = [pool.data.view(torch.uint8) for pool in pools]
        assert bits[0].equal(bits[1])
        if pools[0].scales is not None and pools[1].scales is not None:
            assert pools[0].scales.equal(pools[1].scales)


def test_norms_and_activation(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for rows, width in bench.sizes(((64, 4096), (3, 1024)), ((3, 40),)):
        hidden, mixed = bench.numbers(rows, width), bench.numbers(rows, width)
        weight, inner = bench.numbers(width), bench.numbers(rows, 2 * width)
        found = [
            *norm_rope.add_norm(hidden, mixed, weight, 1e-6),
            silu_mul.silu_mul(inner),
        ]
        with monkeypatch.context() as patch:
            twin(patch, norm_rope)
            twin(patch, silu_mul)
            expected = [
                *norm_rope.add_norm(hidden, mixed, weight, 1e-6),
                silu_mul.silu_mul(inner),
            ]
        for ours, theirs in zip(found, expected, strict=True):
            assert_near(ours, theirs, 1e-6 if bench.tiny else 1e-2)


def test_rotated_heads(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for heads, width in bench.sizes(((40, 128), (24, 64)), ((6, 16),)):
        numbers = bench.numbers(50, heads + 8, width)[:, :heads]
        angles = torch.arange(300)[:, None] / torch.arange(1, width // 2 + 1)
        cos, sin = (angles.cos().to(numbers), angles.sin().to(numbers))
        tables = torch.cat((cos, cos), -1)[:, None], torch.cat((-sin, sin), -1)[:, None]
        positions = torch.randint(300, (50,)).to(bench.device)
        norms = bench.numbers(width), bench.numbers(width)
        call = (numbers, heads // 2, tables, positions, norms, 1e-6)
        found = norm_rope.norm_rope(*call)
        with monkeypatch.context() as patch:
            twin(patch, norm_rope)
            expected = norm_rope.norm_rope(*call)
        assert_near(found, expected, 1e-5 if bench.tiny else 2e-2)


def test_updates_of_adapters(bench: Bench) -> None:
    for rows, adapters, rank in bench.sizes(((64, 9, 16), (300, 2, 64)), ((7, 3, 5),)):
        (inputs,), (ends,) = bench.sizes((14_336,), (40,)), bench.sizes((ENDS,), ((9, 20, 33),))
        subject = AdaptedRows(
            bench, rows=rows, adapters=adapters, rank=rank, inputs=inputs, ends=ends
        )
        found = bench.numbers(rows, ends[-1])
        expected = found.clone()
        subject.by_kernels(found)
        subject.by_torch(expected)
        assert_near(found, expected, 1e-5 if bench.tiny else 2e-2)


def test_products_in_fp8(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes and scales are equal; the product is that of its twin in float32, from the codes."""
    cases = ((64, 4096, 6144), (5, 14_336, 4096))
    for rows, inputs, outputs in bench.sizes(cases, ((3, 40, 7),)):
        x, weight = bench.numbers(rows, inputs), bench.numbers(outputs, inputs)
        found = [*product.encode_rows(x), *product.encode_rows(weight)]
        with monkeypatch.context() as patch:
            twin(patch, product)
            expected = [*product.encode_rows(x), *product.encode_rows(weight)]
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.view(torch.uint8).equal(theirs.view(torch.uint8))
        if multiplies_fp8(bench):
            codes, row_scales, of_weight, scales = (part.cpu() for part in expected)
            sums = codes.float() @ of_weight.float().t()
            assert_near(
                product.multiply(x, *found[2:]).cpu(),
                sums * row_scales[:, None] * scales,
                1e-5 if bench.tiny else 2e-2,
            )


def test_next_rows(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight steps, after which some rows have stopped and others have not."""
    for count, states, vocab in bench.sizes(((256, 2048, 128_256), (3, 500, 1000)), ((9, 5, 60),)):
        table = table_of(bench, states, min(vocab, 1000), vocab)
        found, expected = (rows_of(bench, count, states, vocab) for _ in range(2))
        generator = torch.Generator().manual_seed(0)
        for _ in range(8):
            drawn = torch.randint(0, vocab, (count,), generator=generator).to(bench.device)
            out, theirs = torch.empty_like(drawn), torch.empty_like(drawn)
            next_rows.advance_rows(found, table, drawn, out, BLOCK)
            with monkeypatch.context() as patch:
                twin(patch, next_rows)
                next_rows.advance_rows(expected, table, drawn, theirs, BLOCK)
            assert out.equal(theirs)
            for field in fields(found):
                assert getattr(found, field.name).equal(getattr(expected, field.name)), field.name
        assert 0 < (found.states >= 0).sum() < count


def test_every_kernel_is_held_to_its_twin() -> None:
    assert set.union(*CHECKED.values()) == kernels_of_the_package()
