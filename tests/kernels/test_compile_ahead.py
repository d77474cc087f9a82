"""Kernels that are compiled before their first launch: for a GPU that isn't there, by Triton's own
compiler."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from maskwright.kernels import device
from maskwright.kernels.device import (
    INTERPRETED,
    await_earlier,
    compile_ahead,
    jit,
    launches_overlap,
    tl,
)

triton = pytest.importorskip("triton", reason="needs triton, of the extra gpu")
pytestmark = pytest.mark.skipif(INTERPRETED, reason="the interpreter compiles nothing")


@jit
def added_kernel(source, target, number, SIZE: tl.constexpr):
    lane = tl.arange(0, SIZE)
    tl.store(target + lane, tl.load(source + lane) + number)


@jit
def halved_kernel(source, target, SIZE: tl.constexpr):
    lane = tl.arange(0, SIZE)
    tl.store(target + lane, tl.load(source + lane) / 2)


@jit
def wrong_kernel(source, SIZE: tl.constexpr):
    tl.store(source + tl.arange(0, SIZE), "text")


@jit
def awaiting_kernel(source, SIZE: tl.constexpr, OVERLAPS: tl.constexpr = False):
    await_earlier(OVERLAPS)
    tl.store(source + tl.arange(0, SIZE), 0.0)


class Driver:
    """A GPU of the generation sm_90 that can't launch anything."""

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return device

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget  # noqa: PLC0415  (optional)

        return GPUTarget("cuda", 90, 32)


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str]]]:
    """The names of compiled kernels and of the threads that compiled them."""
    found: list[tuple[str, str]] = []

    def note(src: Any, **_: object) -> None:
        found.append((src.name, threading.current_thread().name))

    monkeypatch.setattr(triton.runtime.driver, "_active", Driver())
    with triton.knobs.cache.scope(), triton.knobs.compilation.scope():
        triton.knobs.cache.dir = str(tmp_path)
        triton.knobs.compilation.listener = note
        yield found
    for kernel in (added_kernel, halved_kernel, wrong_kernel, awaiting_kernel):
        kernel.device_caches.clear()


def test_all_kernels_of_a_function_are_compiled_once_and_none_runs(
    compiled: list[tuple[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    """One for each combination of types, constants and alignments, in threads of their own."""
    source, target = torch.ones(256), torch.zeros(256)

    def launch() -> None:
        for number in (7, 7, 16, 23, 32):  # multiples of 16 are one kernel, others another
            added_kernel[(1,)](source, target, number, SIZE=128)
            halved_kernel[(1,)](source, target, SIZE=128)
        halved_kernel[(1,)](source.bfloat16(), target, SIZE=128)
        halved_kernel[(1,)](source[1:], target, SIZE=128)
        halved_kernel[(1,)](source, target, SIZE=64, num_warps=2)

    compile_ahead(launch)
    assert caplog.messages == []
    names = [name for name, _ in compiled]
    assert (names.count("added_kernel"), names.count("halved_kernel")) == (2, 4)
    assert all(thread.startswith("compile-kernels") for _, thread in compiled)
    assert not target.any()
    for kernel, count in ((added_kernel, 2), (halved_kernel, 4)):
        ready = kernel.device_caches[0][0]
        assert len(ready) == count
        assert all("cubin" in program.asm for program in ready.values())
    compiled.clear()
    compile_ahead(launch)
    assert compiled == []


def test_kernels_of_an_earlier_start_are_read(compiled: list[tuple[str, str]]) -> None:
    source = torch.ones(256)

    def launch() -> None:
        halved_kernel[(1,)](source, source, SIZE=128)

    compile_ahead(launch)
    made = dict(halved_kernel.device_caches[0][0])
    halved_kernel.device_caches.clear()
    compile_ahead(launch)
    assert len(compiled) == 2, "asked for twice"
    [again], [first] = halved_kernel.device_caches[0][0].values(), made.values()
    assert again.hash == first.hash


def test_a_kernel_that_does_not_compile_is_left_to_its_launch(
    compiled: list[tuple[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    source = torch.ones(256)

    def launch() -> None:
        wrong_kernel[(1,)](source, SIZE=128)
        halved_kernel[(1,)](source, source, SIZE=128)

    compile_ahead(launch)
    assert [name for name, _ in compiled] == ["halved_kernel"]
    [message] = caplog.messages
    assert message.startswith("A kernel is compiled at its first launch: ")
    assert "tl.store" in message
    with pytest.raises(Exception, match=r"wrong_kernel|text"):
        wrong_kernel[(1,)](source, SIZE=128)


@pytest.mark.parametrize("generations", [[], [8], [9, 8], [9], [10, 9]])
def test_only_kernels_that_wait_are_launched_early(
    compiled: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch, generations: list[int]
) -> None:
    """And only where all GPUs know such launches."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(generations))
    monkeypatch.setattr(device, "generation_of", lambda gpu: generations[gpu.index])
    launches_overlap.cache_clear()
    source = torch.ones(256)

    def launch() -> None:
        awaiting_kernel[(1,)](source, SIZE=128)
        halved_kernel[(1,)](source, source, SIZE=128)

    compile_ahead(launch)
    launches_overlap.cache_clear()
    assert len(compiled) == 2
    early = min(generations, default=0) >= 9
    for kernel, begins in ((awaiting_kernel, early), (halved_kernel, False)):
        [program] = kernel.device_caches[0][0].values()
        assert program.metadata.launch_pdl is begins
        for instruction in ("griddepcontrol.wait", "griddepcontrol.launch_dependents"):
            assert (instruction in program.asm["ptx"]) is begins


def test_no_garbage_is_collected_meanwhile(compiled: list[tuple[str, str]]) -> None:
    """It would mix up the syntax trees of two threads on Python 3.11."""
    del compiled
    collected: list[bool] = []
    compile_ahead(lambda: collected.append(gc.isenabled()))
    assert (collected, gc.isenabled()) == ([False], True)


def test_an_error_of_the_function_ends_it(compiled: list[tuple[str, str]]) -> None:
    del compiled
    with pytest.raises(ZeroDivisionError):
        compile_ahead(lambda: 1 // 0)
    assert (device._ahead.get(), gc.isenabled()) == (None, True)
    compile_ahead(lambda: None)


def test_without_compiled_kernels_nothing_is_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise AssertionError("launched")

    monkeypatch.setattr(device, "INTERPRETED", True)
    compile_ahead(fail)
    monkeypatch.setattr(device, "INTERPRETED", False)
    monkeypatch.setattr(device, "triton", None)
    compile_ahead(fail)
