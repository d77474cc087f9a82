"""Every kernel against its twin in plain torch, on a GPU in the shapes of models, and in the
interpreter in small ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import fields, is_dataclass
from functools import partial
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from benchmarks.gpu import reading
from benchmarks.gpu.attention import BLOCK, SHAPES, TINY, Heads, pool_of, sequences_of
from benchmarks.gpu.fp8_product import multiplies_fp8
from benchmarks.gpu.low_rank import ENDS, AdaptedRows
from benchmarks.gpu.next_rows import rows_of, table_of
from benchmarks.gpu.sampling import inputs_of, mask_table
from benchmarks.gpu.timing import Bench
from maskwright.kernels import (
    apply_mask,
    few_rows,
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
    "test_draws": {"edit_kernel", "finish_kernel", "gather_kernel"},
    "test_attention": {"attend_kernel", "merge_kernel"},
    "test_storing": {"store_kernel"},
    "test_norms_and_activation": {"add_norm_kernel", "silu_mul_kernel"},
    "test_rotated_heads": {"norm_rope_store_kernel"},
    "test_updates_of_adapters": {"shrink_kernel", "expand_kernel"},
    "test_products_in_fp8": {"encode_rows_kernel"},
    "test_products_of_few_rows": {"encode_rows_kernel", "few_rows_kernel"},
    "test_next_rows": {"advance_kernel"},
    "test_reading": {"read_kernel"},
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


def by_twin(modules: list[ModuleType], function: Callable[..., Any], *args: Any) -> list[Any]:
    """Call `function` where the functions of `modules` run the twin, with copies of the arguments
    on the CPU: on a GPU, torch itself rounds otherwise, and so would the twin. Returns these
    copies, which may have been written to, and then what the function returns."""
    copies = [on_cpu(each) for each in args]
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            patch.setattr(module, "runs_kernels", runs_none)
        return [*copies, function(*copies)]


def runs_none(_: Tensor) -> bool:
    return False


def on_cpu(value: Any) -> Any:
    """Return a copy with all its tensors on the CPU."""
    match value:
        case Tensor():
            return value.detach().to("cpu", copy=True)
        case tuple() | list():
            parts = map(on_cpu, value)
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        case _ if is_dataclass(value) and not isinstance(value, type):
            copied = copy(value)
            for field in fields(value):
                object.__setattr__(copied, field.name, on_cpu(getattr(value, field.name)))
            return copied
        case _:
            return value


def assert_near(found: Tensor, expected: Tensor, tolerance: float) -> None:
    """Hold numbers to each other by the size of the largest."""
    largest = expected.float().abs().max()
    assert largest > 0
    assert (found.cpu().float() - expected.float()).abs().max() <= tolerance * largest


def test_masks(bench: Bench) -> None:
    for vocab in bench.sizes((128_256, 50_257, 262_144), (203,)):
        table = mask_table(vocab, bench.device)
        numbers = (torch.arange(70, dtype=torch.int32, device=bench.device) % 9) - 1
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            found = bench.numbers(70, vocab, dtype=dtype)
            (expected, *_) = by_twin(
                [apply_mask], apply_mask.apply_mask_by_row, found, table, numbers
            )
            apply_mask.apply_mask_by_row(found, table, numbers)
            assert found.cpu().equal(expected)
            assert found.isinf().any()


@pytest.mark.parametrize("chain", ["mixed", "greedy", "top-p"])
def test_draws(bench: Bench, chain: str) -> None:
    for rows, vocab in bench.sizes(((64, 128_256), (8, 262_144)), ((6, 300),)):
        inputs = inputs_of(bench, rows, vocab, chain)
        logits = 4 * bench.numbers(rows, vocab)
        draw = partial(sample.sample_rows, scored=True)
        *_, expected = by_twin([sample], draw, logits, inputs)
        found = draw(logits, inputs)
        assert found.tokens.min() >= 0
        # The one difference that is allowed is a sum of probabilities that lies at top-p.
        same = found.tokens.cpu() == expected.tokens
        assert same.float().mean() >= (1 if chain == "greedy" or bench.tiny else 0.98)
        assert found.raw is not None
        assert_near(found.raw.cpu()[same], expected.raw[same], 1e-4)


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
        *_, expected = by_twin([paged_attention], getattr(paged_attention, function), *call)
        assert_near(found, expected, 1e-5 if bench.tiny else 2e-2)


def filled_pool(bench: Bench, blocks: int, heads: Heads, kind: KvDtype) -> KvPool:
    """Return a pool in whose blocks numbers were stored by the twin."""
    pool = pool_of(bench, blocks, heads, kind)
    slots = torch.arange(blocks * BLOCK, device=bench.device)
    numbers = [bench.numbers(blocks * BLOCK, heads.keys, heads.width) for _ in range(2)]
    call = (pool, 0, slots // BLOCK, slots % BLOCK, *numbers)
    stored, *_ = by_twin([store_kv], store_kv.store_kv, *call)
    pool.data.view(torch.uint8).copy_(stored.data.view(torch.uint8))
    if pool.scales is not None:
        pool.scales.copy_(stored.scales)
    return pool


@pytest.mark.parametrize("kind", KINDS)
def test_storing(bench: Bench, kind: KvDtype) -> None:
    for heads in (TINY if bench.tiny else SHAPES).values():
        pool = filled_pool(bench, 9, heads, kind)
        slots = torch.randperm(8 * BLOCK, device=bench.device)[:50] + BLOCK
        numbers = [bench.numbers(50, heads.keys, heads.width) for _ in range(2)]
        call = (pool, 0, slots // BLOCK, slots % BLOCK, *numbers)
        expected, *_ = by_twin([store_kv], store_kv.store_kv, *call)
        store_kv.store_kv(*call)
        assert pool.data.view(torch.uint8).cpu().equal(expected.data.view(torch.uint8))
        if pool.scales is not None:
            assert pool.scales.cpu().equal(expected.scales)


def test_norms_and_activation(bench: Bench) -> None:
    for rows, width in bench.sizes(((64, 4096), (3, 1024)), ((3, 40),)):
        hidden, mixed = bench.numbers(rows, width), bench.numbers(rows, width)
        weight, inner = bench.numbers(width), bench.numbers(rows, 2 * width)
        call = (hidden, mixed, weight, inner)
        *_, expected = by_twin([norm_rope, silu_mul], norm_and_activate, *call)
        found = norm_and_activate(*call)
        for ours, theirs in zip(found, expected, strict=True):
            assert_near(ours, theirs, 1e-6 if bench.tiny else 1e-2)


def norm_and_activate(hidden: Tensor, mixed: Tensor, weight: Tensor, inner: Tensor) -> list[Tensor]:
    return [*norm_rope.add_norm(hidden, mixed, weight, 1e-6), silu_mul.silu_mul(inner)]


@pytest.mark.parametrize("kind", KINDS)
def test_rotated_heads(bench: Bench, kind: KvDtype) -> None:
    """Queries nearly; what is stored of values to the bit, and codes as their twin makes them of
    what a pool of numbers gets."""
    for heads in (TINY if bench.tiny else SHAPES).values():
        width = heads.width
        numbers = bench.numbers(50, heads.queries + 2 * heads.keys, width)
        angles = torch.arange(300)[:, None] / torch.arange(1, width // 2 + 1)
        cos, sin = (angles.cos().to(numbers), angles.sin().to(numbers))
        tables = torch.cat((cos, cos), -1)[:, None], torch.cat((-sin, sin), -1)[:, None]
        positions = torch.randint(300, (50,)).to(bench.device)
        norms = bench.numbers(width), bench.numbers(width)
        at = torch.randperm(8 * BLOCK, device=bench.device)[:47] + BLOCK
        slots = at // BLOCK, at % BLOCK
        rotate = partial(norm_rope.norm_rope_store, numbers, tables, positions)
        more = (0, slots, norms, 1e-6)
        pool, plain = (pool_of(bench, 9, heads, each) for each in (kind, "auto"))
        found = rotate(plain, *more)
        call = (numbers, tables, positions, plain, *more)
        copies = by_twin([norm_rope, store_kv], norm_rope.norm_rope_store, *call)
        for ours, theirs in ((found, copies[-1]), (plain.data, copies[3].data)):
            assert_near(ours, theirs, 1e-5 if bench.tiny else 2e-2)
        assert rotate(pool, *more).equal(found)
        keys, values = (plain.data[slots[0], 0, part, slots[1]] for part in (0, 1))
        assert values.equal(numbers[:47, -heads.keys :])
        stored, *_ = by_twin([store_kv], store_kv.store_kv, pool, 0, *slots, keys, values)
        assert pool.data.view(torch.uint8).cpu().equal(stored.data.view(torch.uint8))
        if pool.scales is not None:
            assert pool.scales.cpu().equal(stored.scales)


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


def test_products_in_fp8(bench: Bench) -> None:
    """Codes and scales are equal; the product is that of its twin in float32, from the codes."""
    cases = ((64, 4096, 6144), (9, 14_336, 4096))
    for rows, inputs, outputs in bench.sizes(cases, ((3, 40, 7),)):
        x, weight = bench.numbers(rows, inputs), bench.numbers(outputs, inputs)
        found = [*product.encode_rows(x), *product.encode_rows(weight)]
        expected = [
            part
            for each in (x, weight)
            for part in by_twin([product], product.encode_rows, each)[-1]
        ]
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.cpu().view(torch.uint8).equal(theirs.view(torch.uint8))
        if multiplies_fp8(bench):
            codes, row_scales, of_weight, scales = expected
            sums = codes.float() @ of_weight.float().t()
            assert_near(
                product.multiply(x, *found[2:]).cpu(),
                sums * row_scales[:, None] * scales,
                1e-5 if bench.tiny else 2e-2,
            )


def test_products_of_few_rows(bench: Bench) -> None:
    """Of the shapes of models, with and without an activation; in fp8 those of the codes."""
    cases = ((1, 4096, 6144), (8, 14_336, 4096), (4, 2048, 1024), (8, 1024, 6144))
    for rows, inputs, outputs in bench.sizes(cases, ((3, 64, 40),)):
        shapes = (rows, inputs), (outputs, inputs), (outputs,)
        x, weight, bias = (bench.numbers(*shape, dtype=torch.bfloat16) for shape in shapes)
        products = few_rows.linear, few_rows.linear_silu_mul
        for function in products:
            *_, expected = by_twin([few_rows, silu_mul], function, x, weight, bias)
            found = function(x, weight, bias)
            assert_near(found, expected, 2e-2)
        if multiplies_fp8(bench):
            codes = product.encode_rows(weight)
            modules = [few_rows, product, silu_mul]
            *_, expected = by_twin(modules, product.multiply, x, *codes, bias)
            found = product.multiply(x, *codes, bias)
            assert_near(found, expected, 2e-2)


def test_next_rows(bench: Bench) -> None:
    """Eight steps, after which of many rows some have stopped and others have not."""
    for count, states, vocab in bench.sizes(((256, 2048, 128_256), (3, 500, 1000)), ((9, 5, 60),)):
        table = table_of(bench, states, min(vocab, 1000), vocab)
        rows = rows_of(bench, count, states, vocab)
        generator = torch.Generator().manual_seed(0)
        for _ in range(8):
            drawn = torch.randint(0, vocab, (count,), generator=generator).to(bench.device)
            call = (rows, table, drawn, torch.empty_like(drawn), BLOCK)
            expected, _, _, theirs, *_ = by_twin([next_rows], next_rows.advance_rows, *call)
            next_rows.advance_rows(*call)
            assert call[3].cpu().equal(theirs)
            for field in fields(rows):
                ours = getattr(rows, field.name).cpu()
                assert ours.equal(getattr(expected, field.name)), field.name
        assert count < 9 or 0 < (rows.states >= 0).sum() < count


def test_reading(bench: Bench) -> None:
    """That of the benchmarks, whose kernel is not the package's."""
    for size, parts in bench.sizes(((1 << 24, 256),), ((1 << 13, 1), (256, 8))):
        numbers = torch.arange(size, dtype=torch.int32, device=bench.device) % 1009
        sums = torch.empty(parts, dtype=torch.int32, device=bench.device)
        reading.read_all(numbers, sums)
        assert sums.cpu().equal(numbers.cpu().view(parts, -1).sum(-1, dtype=torch.int32))


def test_every_kernel_is_held_to_its_twin() -> None:
    assert set.union(*CHECKED.values()) == kernels_of_the_package() | {"read_kernel"}
