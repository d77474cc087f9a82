"""Times of operations on a GPU, and the ceilings that they are held against.

What reads is held against reading, by a kernel that does nothing else: a copy moves fewer bytes in
the same time, since half of them are written.

A `Bench` without a GPU computes on the CPU, in the sizes that a test can afford: it shows that the
scripts work, and its times mean nothing.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import torch
from torch import Tensor

from benchmarks.gpu.reading import TILE, TILES, read_all
from maskwright.cli.output.tables import Figure
from maskwright.kernels.device import numbered

T = TypeVar("T")
WARM_UPS: Final = 3
REPEATS: Final = 30
FLUSHED_BYTES: Final = 256 << 20
"""Bytes that are written before each measurement: more than any cache of a GPU holds."""


@dataclass
class Bench:
    """Where operations are timed, and the rows found so far."""

    device: torch.device
    rows: list[dict[str, Figure]] = field(default_factory=list[dict[str, Figure]])
    bytes_per_us: float = 1.0
    """Bytes read in a microsecond at best, measured by `measure_ceilings`."""

    def __post_init__(self) -> None:
        self.device = numbered(self.device)

    @property
    def tiny(self) -> bool:
        """Whether this only shows that the scripts work."""
        return self.device.type == "cpu"

    def sizes(self, whole: Sequence[T], tiny: Sequence[T]) -> Sequence[T]:
        """Return the sizes to measure here."""
        return tiny if self.tiny else whole

    def add(self, case: str, **row: Figure) -> None:
        """Keep a row."""
        self.rows.append({"case": case, **row})

    def share(self, moved: float, us: float) -> float:
        """Return the percentage of the bandwidth of reading at which `moved` bytes take `us`."""
        return 100 * moved / us / self.bytes_per_us

    def numbers(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """Return normally distributed numbers, by default in the type that is measured."""
        if dtype is None:
            dtype = torch.float32 if self.tiny else torch.bfloat16
        return torch.empty(shape, dtype=dtype, device=self.device).normal_()

    def pinned(self, tensor: Tensor) -> Tensor:
        """Return the tensor in memory from which a GPU copies by itself."""
        return tensor if self.tiny else tensor.pin_memory()

    def by_graph(self, function: Callable[[], object]) -> float:
        """Return the median time of `function` in microseconds, recorded as a CUDA graph: without
        what Python and launching cost. Caches are flushed before each call."""
        if self.tiny:
            return self.by_launches(function)
        self._warm_up(function)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            function()
        return self.by_launches(graph.replay)

    def by_launches(self, function: Callable[[], object]) -> float:
        """Return the median time in microseconds between the beginning and the end of the work of
        `function` on the device. Caches are flushed before each call."""
        if self.tiny:
            return self.to_end(function)
        self._warm_up(function)
        flushed = torch.empty(FLUSHED_BYTES, dtype=torch.int8, device=self.device)
        times: list[float] = []
        for _ in range(REPEATS):
            flushed.zero_()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            function()
            end.record()
            end.synchronize()
            times.append(1000 * begin.elapsed_time(end))
        return statistics.median(times)

    def to_end(self, function: Callable[[], object]) -> float:
        """Return the median time of `function` in microseconds as the host sees it, until the
        device has done the work."""
        self._warm_up(function)
        times: list[float] = []
        for _ in range(1 if self.tiny else REPEATS):
            self.synchronize()
            begin = time.perf_counter()
            function()
            self.synchronize()
            times.append(1e6 * (time.perf_counter() - begin))
        return statistics.median(times)

    def synchronize(self) -> None:
        """Wait until the device has done its work."""
        if not self.tiny:
            torch.cuda.synchronize(self.device)

    def _warm_up(self, function: Callable[[], object]) -> None:
        """Call `function` so often that kernels are compiled and clocks are up."""
        for _ in range(0 if self.tiny else WARM_UPS):
            function()
        self.synchronize()


def measure_ceilings(bench: Bench) -> dict[str, Figure]:
    """Measure what the device can do at best, and keep the bandwidth of reading in `bench`."""
    (size,) = bench.sizes((1 << 29,), (1 << 12,))
    source = torch.zeros(size, dtype=torch.int32, device=bench.device)
    parts = max(1, size // (TILE * TILES))
    sums = torch.empty(parts, dtype=torch.int32, device=bench.device)
    bench.bytes_per_us = source.nbytes / bench.by_graph(lambda: read_all(source, sums))
    half, target = source[: size // 2], torch.empty_like(source[: size // 2])
    copied = 2 * half.nbytes / bench.by_graph(lambda: target.copy_(half))
    (width,) = bench.sizes((8192,), (16,))
    left, right = bench.numbers(width, width), bench.numbers(width, width)
    multiplied = bench.by_graph(lambda: left @ right)
    buffer = torch.zeros(1, device=bench.device)
    return {
        "read_TB_per_s": round(bench.bytes_per_us / 1e6, 6),
        "copy_TB_per_s": round(copied / 1e6, 6),
        "product_TFLOP_per_s": round(2 * width**3 / multiplied / 1e6, 6),
        "least_launch_us": round(bench.by_graph(lambda: buffer.add_(1)), 2),
    }
