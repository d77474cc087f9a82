"""Records what a function launches on a GPU, so that it can be launched again as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import torch

WARM_UPS: Final = 2
"""Calls before a function is recorded. In the first, Triton compiles kernels and libraries get
their memory, which must not happen while it is recorded."""


class Recorder(Protocol):
    """Records functions that read nothing back to the host."""

    def record(self, function: Callable[[], object]) -> Callable[[], object]:
        """Return a function that does again, to the memory that `function` used, what `function`
        does now. `function` is called."""
        ...


class CudaRecorder:
    """Records CUDA graphs on `device`. They share the memory of what they compute in between, so
    only what a function writes to memory that was there before remains."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._memory = torch.cuda.graph_pool_handle()

    def record(self, function: Callable[[], object]) -> Callable[[], object]:
        """See `Recorder`. Other threads may use the GPU meanwhile. Raises `RuntimeError` for what
        can't be recorded."""
        with torch.cuda.device(self._device):
            self._stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._stream):
                for _ in range(WARM_UPS):
                    function()
            torch.cuda.current_stream().wait_stream(self._stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(
                graph, self._memory, self._stream, capture_error_mode="thread_local"
            ):
                function()
        return graph.replay


def find_recorder(device: torch.device) -> Recorder | None:
    """Return what records functions on a device; None for one that isn't a GPU."""
    return CudaRecorder(device) if device.type == "cuda" else None
