"""What a start on a GPU compiles, without a GPU: the kernels of all steps of a model, for sm_90."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple
from unittest.mock import Mock, patch

from benchmarks.gpu import static
from benchmarks.gpu.decode_step import BLOCK, COMMON, SHAPES, RandomWeights
from benchmarks.gpu.launching import NoDriver, choosing_kernels
from maskwright.engine.step import runner
from maskwright.kernels import device, paged_attention
from maskwright.models.config import parse_config
from maskwright.models.dense import DenseDecoder
from maskwright.models.graphs import DecodeGraphs

ROWS: Final = 256
POSITIONS: Final = 8192


class Start(NamedTuple):
    """Of a start: how many programs were compiled or read, the processor seconds of all that leads
    to them, and of the one that took longest."""

    programs: int
    processor: float
    longest: float


def starts() -> tuple[Start, Start]:
    """Return a first start and a later one, which finds in a folder what the first compiled."""
    with TemporaryDirectory() as folder:
        first, later = (_in_a_process(Path(folder)) for _ in range(2))
    return first, later


def _in_a_process(folder: Path) -> Start:
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(compile_kernels, folder).result()


def compile_kernels(folder: Path) -> Start:
    """Compile into `folder` what a server of the 8B shape does, one program at a time, or read it
    from there."""
    ends: list[float] = []

    def note(**_: object) -> None:
        ends.append(compiling_seconds())

    config = parse_config({**COMMON, **SHAPES["8B"]})
    weights = RandomWeights(config, static.META, static.BF16)
    decoder = DenseDecoder(config, weights, static.BF16, compiled=False, device=static.META)
    knobs: Any = device.knobs  # untyped
    knobs.cache.dir = str(folder)
    knobs.compilation.listener = note
    with (
        choosing_kernels(NoDriver()),
        patch.object(paged_attention, "generation_of", return_value=9),
        patch.object(device, "MOST_COMPILERS", 1),
        patch.object(runner, "find_recorder", Mock()),
        patch.object(DecodeGraphs, "record_largest"),
        patch.object(runner.Runner, "sample"),
    ):
        server = runner.Runner(decoder, 2, BLOCK)
        server.open_graphs(ROWS, POSITIONS, in_a_row=True)
        begins = processor_seconds(), compiling_seconds()
        server.warm_up(POSITIONS, lambda _: None)
        taken = processor_seconds() - begins[0]
    longest = max(later - sooner for sooner, later in pairwise([begins[1], *ends]))
    return Start(len(ends), taken, longest)


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it started and that ended."""
    return sum(os.times()[:4])


def compiling_seconds() -> float:
    """Return the same without the main thread, which goes on launching meanwhile."""
    main = time.pthread_getcpuclockid(threading.main_thread().ident or 0)
    return processor_seconds() - time.clock_gettime(main)
