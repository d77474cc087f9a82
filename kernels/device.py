"""What decides whether an operation runs as a Triton kernel or as its twin in plain torch.

Triton is optional (the extra `gpu`), and takes 70 MB and up to half a second to import, so a
process without a GPU leaves it alone. Without it, `jit` leaves a function as it is, and nothing
calls it. With TRITON_INTERPRET=1 in the environment, kernels run on the CPU in Triton's
interpreter, which tests use; Triton reads the variable when a kernel is defined. A program that has
imported Triton before has kernels as well, which it may compile for GPUs of other machines.

A kernel is compiled for each combination of types, constants and alignments that it is launched
with, which takes seconds. `compile_ahead` does it for all launches of a function at once.
"""

# Triton is untyped, and absent on many machines.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from maskwright.kernels.noting import SHIFTED, NotedStep, is_noting, note

INSTALLED = find_spec("triton") is not None
"""Whether Triton is installed."""

INTERPRETED = INSTALLED and os.environ.get("TRITON_INTERPRET") == "1"
"""Whether kernels run in Triton's interpreter."""

AVAILABLE = INSTALLED and (INTERPRETED or "triton" in sys.modules or torch.cuda.is_available())
"""Whether this process has kernels."""

if AVAILABLE:
    import triton
    import triton.language as language
    from triton import knobs
else:
    triton = language = knobs = None

LOGIT_MULTIPLE: Final = 16
"""Rows of logits begin at multiples of so many numbers, which Triton compiles kernels for."""

UPLOAD_MULTIPLE: Final = 16
"""Columns of an upload begin at multiples of so many bytes, which kernels are compiled for."""

tl: Any = language
"""Triton's language, in which kernels are written; None without Triton."""


log = logging.getLogger(__name__)

MOST_COMPILERS: Final = 16
"""The most threads that compile kernels at once. Each takes some hundred megabytes meanwhile."""

OVERLAPPING: Final = 9
"""The first generation of GPUs whose launches may overlap."""

_ahead: ContextVar[set[object] | None] = ContextVar("_ahead", default=None)
"""The launches that are compiled in `compile_ahead`; None outside of it."""

if AVAILABLE:
    _Base: Any = (
        getattr(import_module("triton.runtime.interpreter"), "InterpretedFunction")  # noqa: B009
        if INTERPRETED
        else getattr(triton, "JITFunction")  # noqa: B009  (untyped)
    )

    Program: Any = getattr(import_module("triton.compiler"), "CompiledKernel")  # noqa: B009

    class Kernel(_Base):
        """A kernel whose launches only compile it within `compile_ahead`. Where the GPU can, those
        of a kernel that has the argument `OVERLAPS` begin before what was launched earlier ends, up
        to where the kernel waits for it (`await_earlier`). Launches are noted where such are (see
        `noting.py`)."""

        def run(self, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> Any:
            """Launch, unless `warmup`; see `triton.JITFunction`."""
            if not INTERPRETED and "OVERLAPS" in self.arg_names and launches_overlap():
                options |= {"OVERLAPS": True, "launch_pdl": True}
            seen = _ahead.get()
            if seen is None:
                program = super().run(*arguments, grid=grid, warmup=warmup, **options)
                if is_noting():
                    note(self._step(program, grid, arguments, options))
                return program
            note(None)
            # Each layer and many shapes launch the same, and Triton looks for it much longer.
            launch = self.fn, *map(_likeness, arguments), *options.items()
            if launch not in seen:
                seen.add(launch)
                super().run(*arguments, grid=grid, warmup=True, **options)
            return None

        def _step(
            self,
            program: Any,
            grid: tuple[int, ...],
            arguments: tuple[Any, ...],
            options: dict[str, Any],
        ) -> NotedStep | None:
            """Return the launch of a `program` that has been launched, to make it again. A compiled
            program is launched without being looked for, with all arguments of the kernel in order,
            constants too."""
            shifted = None
            if SHIFTED in self.arg_names:
                place = self.arg_names.index(SHIFTED)
                shifted = place, arguments[place]
            if INTERPRETED:
                again = partial(self.run, grid=grid, warmup=False, **options)
                return NotedStep(again, [*arguments], shifted=shifted)
            if not isinstance(program, Program):
                return None
            known = {name: options[name] for name in options if name in self.arg_names}
            bound = self.signature.bind(*arguments, **known)
            bound.apply_defaults()
            again = program[(*grid, 1, 1)[:3]]
            return NotedStep(again, [*bound.args], by_address=True, shifted=shifted)


def _likeness(argument: Any) -> object:
    """Return what is equal of arguments of one program."""
    if isinstance(argument, Tensor):
        return argument.dtype, argument.data_ptr() % UPLOAD_MULTIPLE
    return argument


def jit(function: Any, **options: Any) -> Any:
    """Make a kernel of `function`, if Triton is installed."""
    return function if triton is None else Kernel(function, **options)


@jit
def await_earlier(OVERLAPS: tl.constexpr):
    """Wait until all that earlier launches do is done, and let the next launch begin meanwhile,
    which then waits for this one. A kernel calls this before anything else, so that it reads and
    writes no memory before. Nothing is done if launches don't overlap: then GPUs do the same."""
    if OVERLAPS:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()


def constant(value: Any) -> Any:
    """Make of `value` what kernels may read of their module, if Triton is installed."""
    return value if triton is None else tl.constexpr(value)


def compile_ahead(launch: Callable[[], object]) -> None:
    """Compile the kernels that `launch` launches, several at a time, so that their first launches
    find them ready. None of them runs, so `launch` must read nothing of what they would write. One
    that doesn't compile is left to its first launch, and why is logged. Nothing is done where
    kernels are not compiled."""
    if triton is None or INTERPRETED:
        return
    threads = min(MOST_COMPILERS, os.cpu_count() or 1)
    seen = _ahead.set(set())
    try:
        with (
            _without_collections(),
            ThreadPoolExecutor(threads, "compile-kernels") as pool,
            triton.AsyncCompileMode(pool, ignore_errors=True) as mode,
        ):
            launch()
    finally:
        _ahead.reset(seen)
    for error in filter(None, (future.exception() for future in mode.raw_futures)):
        log.warning("A kernel is compiled at its first launch: %s", error)


@contextmanager
def _without_collections() -> Generator[None]:
    """Collect no garbage meanwhile. A collection while one thread makes a syntax tree may let
    others continue theirs, and Python 3.11, which counts the depth of all trees in one place, then
    fails: "AST constructor recursion depth mismatch"."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


def keep_compiled(folder: Path) -> None:
    """Have Triton keep what it compiles in `folder`, where the next start finds it, unless the
    environment says where (TRITON_CACHE_DIR, TRITON_HOME) or the folder can't be written."""
    if knobs is None or any(name in os.environ for name in ("TRITON_CACHE_DIR", "TRITON_HOME")):
        return
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if os.access(folder, os.W_OK):
        knobs.cache.dir = str(folder)


def runs_kernels(tensor: Tensor) -> bool:
    """Whether kernels can work on `tensor`: it is on a GPU or kernels are interpreted."""
    return kernels_run_on(tensor.device)


def kernels_run_on(device: torch.device) -> bool:
    """Whether kernels can work on tensors of `device`."""
    return AVAILABLE and (device.type == "cuda" or INTERPRETED)


@cache
def generation_of(device: torch.device) -> int:
    """Return the generation of a GPU, the major number of its compute capability. What isn't one is
    taken for one of the eldest that kernels are made for."""
    return torch.cuda.get_device_capability(device)[0] if device.type == "cuda" else 8


@cache
def launches_overlap() -> bool:
    """Whether all GPUs here know launches that begin before the one before them ends: those of
    NVIDIA since compute capability 9.0 do."""
    gpus = range(torch.cuda.device_count())
    return len(gpus) > 0 and all(
        generation_of(torch.device("cuda", gpu)) >= OVERLAPPING for gpu in gpus
    )


def numbered(device: torch.device) -> torch.device:
    """Return the device that tensors on `device` say they are on: "cuda" alone means the thread's
    current GPU, and equals none that has a number."""
    if device.type != "cuda" or device.index is not None:
        return device
    return torch.device("cuda", torch.cuda.current_device())


def new_logits(
    rows: int, vocab: int, device: torch.device, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Return memory for logits `[rows, vocab]`, with any contents, of which kernels read whole rows
    in wide steps: rows begin at multiples of `LOGIT_MULTIPLE` numbers, and there is memory up to
    the next one after the last row as well."""
    width = -(-vocab // LOGIT_MULTIPLE) * LOGIT_MULTIPLE
    return torch.empty(rows, width, dtype=dtype, device=device)[:, :vocab]


def as_logits(numbers: Tensor) -> Tensor:
    """Return `numbers` `[rows, vocab]` in float32, laid out as `new_logits` does where kernels
    run."""
    return laid_out(numbers, torch.float32) if runs_kernels(numbers) else numbers.float()


def laid_out(logits: Tensor, dtype: torch.dtype) -> Tensor:
    """Return `logits` `[rows, vocab]` in `dtype`, as `new_logits` lays them out: themselves if they
    are so already, else a copy."""
    begins = (logits.storage_offset(), logits.stride(0), readable_tokens(logits))
    if logits.dtype == dtype and all(begin % LOGIT_MULTIPLE == 0 for begin in begins):
        return logits
    rows, vocab = logits.shape
    return new_logits(rows, vocab, logits.device, dtype).copy_(logits)


def readable_tokens(logits: Tensor) -> int:
    """Return up to where kernels may read each row of `logits` `[rows, vocab]`: to a multiple of
    `LOGIT_MULTIPLE` if rows begin at such ones and that lies in the memory that they are in, else
    only to the end of the vocabulary."""
    rows, vocab = logits.shape
    width = -(-vocab // LOGIT_MULTIPLE) * LOGIT_MULTIPLE
    end = logits.storage_offset() + (rows - 1) * logits.stride(0) + width
    fits = end * logits.element_size() <= logits.untyped_storage().nbytes()
    return width if fits and logits.stride(0) % LOGIT_MULTIPLE == 0 else vocab


def staging(*shape: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return memory of the host from which `device` copies by itself, with any contents. Torch
    doesn't use it for anything else before such copies are done."""
    return torch.empty(*shape, dtype=dtype, pin_memory=device.type == "cuda")


def upload(columns: Sequence[Tensor], device: torch.device) -> list[Tensor]:
    """Return the tensors `columns`, which are on the host, on `device`: contiguous, and in memory
    of their own. They go there in one copy from pinned memory, for which the host doesn't wait: a
    copy from other memory makes it wait until the device has done all its work so far."""
    sizes = [-(-column.nbytes // UPLOAD_MULTIPLE) * UPLOAD_MULTIPLE for column in columns]
    begins = list(accumulate(sizes, initial=0))
    host = staging(begins[-1], dtype=torch.uint8, device=device)
    for begin, column in zip(begins, columns, strict=False):
        packed = host[begin : begin + column.nbytes].view(column.dtype)
        packed.view(column.shape).copy_(column)
    moved = host.to(device, non_blocking=True)
    return [
        moved[begin : begin + column.nbytes].view(column.dtype).view(column.shape)
        for begin, column in zip(begins, columns, strict=False)
    ]


class Download:
    """A copy of `numbers` from their device to the host, made once what has been launched so far is
    done. Nothing that is launched later holds it up."""

    def __init__(self, numbers: Tensor) -> None:
        self._host = staging(*numbers.shape, dtype=numbers.dtype, device=numbers.device)
        self._host.copy_(numbers, non_blocking=True)
        self._copied: torch.cuda.Event | None = None
        if numbers.device.type == "cuda":
            self._copied = torch.cuda.Event()
            self._copied.record(torch.cuda.current_stream(numbers.device))

    def read(self) -> list[Any]:
        """Wait for the copy, and return the numbers as `Tensor.tolist` does."""
        if self._copied is not None:
            self._copied.synchronize()
        return self._host.tolist()
