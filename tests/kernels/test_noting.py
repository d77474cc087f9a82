"""Launches that are noted and made again: for a GPU that isn't there, with programs of Triton's own
compiler."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from maskwright.kernels import noting
from maskwright.kernels.device import INTERPRETED, compile_ahead, jit, tl
from maskwright.kernels.few_rows import product
from maskwright.kernels.noting import Noted, noted
from tests.kernels.launches import Launches

triton = pytest.importorskip("triton", reason="needs triton, of the extra gpu")
compiles = pytest.mark.skipif(INTERPRETED, reason="the interpreter compiles nothing")

LONGEST: Final = 2**40


@partial(jit, do_not_specialize=["module"])
def scaled_kernel(
    source, target, number, factor, module, SIZE: tl.constexpr, HALVES: tl.constexpr = False
):
    lane = tl.arange(0, SIZE)
    numbers = tl.load(source + lane).to(tl.float32) * factor + number + module
    if target is not None:
        tl.store(target + lane, numbers / 2 if HALVES else numbers)


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Launches]:
    driver = Launches()
    monkeypatch.setattr(triton.runtime.driver, "_active", driver)
    yield driver
    scaled_kernel.device_caches.clear()


def at(offset: int, dtype: torch.dtype) -> Tensor:
    """Memory that begins so many numbers after a multiple of 64 bytes."""
    return torch.zeros(256 + offset, dtype=dtype)[offset:]


OFFSETS: Final = st.sampled_from([0, 1, 8])
CALLS: Final = st.tuples(
    st.sampled_from([torch.bfloat16, torch.float32]),
    st.sampled_from([1, 7, 32, LONGEST]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 40),
)


@compiles
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(CALLS, st.lists(st.tuples(OFFSETS, OFFSETS), min_size=2, max_size=4), st.integers(0, 40))
def test_a_launch_is_repeated_by_the_program_that_triton_would_choose(
    launches: Launches,
    call: tuple[torch.dtype, int, bool, bool, int],
    offsets: list[tuple[int, int]],
    shift: int,
) -> None:
    """Or isn't, if the addresses of other tensors are multiples of 16 bytes where those of the
    first ones are not, or the other way round."""
    dtype, number, halves, stores, module = call

    def launch(source: Tensor, target: Tensor | None, module: int) -> tuple[Tensor, ...]:
        options: dict[str, Any] = {"HALVES": True} if halves else {}
        scaled_kernel[3, 2](
            *(source, target, number, 0.5, module), SIZE=128, num_warps=2, **options
        )
        return (source,)

    tensors = [
        (at(one, dtype), at(other, torch.float32) if stores else None) for one, other in offsets
    ]
    first = Noted(lambda: launch(*tensors[0], module), tensors[0])
    ends = [[each is not None and each.data_ptr() % 16 for each in pair] for pair in tensors]
    for pair, end in zip(tensors, ends, strict=True):
        launches.found.clear()
        repeated = first.repeat(pair, shift)
        assert repeated == (end == ends[0])
        found = launches.found.copy()
        launches.found.clear()
        launch(*pair, module + shift)
        assert found == (launches.found if repeated else [])


@compiles
def test_what_is_only_compiled_is_not_repeated(launches: Launches) -> None:
    source, made = at(0, torch.float32), list[Noted]()

    def launch() -> tuple[Tensor, ...]:
        scaled_kernel[(1,)](source, None, 7, 0.5, 0, SIZE=128)
        return (source,)

    compile_ahead(lambda: made.append(Noted(launch, [source])))
    assert not made[0].repeat([source])
    assert launches.found == []
    assert Noted(launch, [source]).repeat([source])
    assert len(launches.found) == 2


def test_products_are_repeated_into_the_memory_of_the_first() -> None:
    """Also if a result is what the next one begins with."""
    generator = torch.Generator().manual_seed(0)
    weights = [torch.randn(8, 8, generator=generator) for _ in range(3)]
    biases = [torch.randn(8, generator=generator) for _ in range(3)]
    x = torch.randn(5, 8, generator=generator)

    def layer(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
        return (noted(product, noted(product, x, weight, bias), weight, None),)

    expected = x
    for weight, bias in zip(weights, biases, strict=True):
        (expected,) = layer(expected, weight, bias)
    first = Noted(lambda: layer(x, weights[0], biases[0]), [x, weights[0], biases[0]])
    (result,) = first.results
    begin = result.data_ptr()
    for weight, bias in zip(weights[1:], biases[1:], strict=True):
        assert first.repeat([result, weight, bias])
    assert torch.equal(result, expected)
    assert result.data_ptr() == begin


def test_nothing_is_noted_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        Noted(lambda: (torch.zeros(1 // 0),), [])
    assert not noting.is_noting()
