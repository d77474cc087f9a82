"""Where blocks are copied between the model's pool and the host's: a stream, and events of ends.

On a CPU, copies are made at once. On a GPU they have a stream of their own beside that of the
steps, and memory of the host from which the GPU copies by itself, so that neither the host nor a
step waits for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch

from maskwright.engine.schedule.transfer import CopyEvent


class CopyStream(Protocol):
    """Makes copies. `beside_steps`: they may still run when `begin` returns, and copies of two
    calls may end in any order."""

    @property
    def beside_steps(self) -> bool: ...

    def begin(self, copy: Callable[[], object]) -> CopyEvent:
        """Make the copies that `copy` asks torch for, after what the steps so far have launched."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """Copies that took `seconds` and have ended."""

    seconds: float

    def done(self) -> bool:
        """True."""
        return True

    def wait(self) -> None:
        """Return at once."""


class HostStream:
    """Copies at once."""

    beside_steps = False

    def begin(self, copy: Callable[[], object]) -> CopyEvent:
        """See `CopyStream`."""
        begun = time.perf_counter()
        copy()
        return Ended(time.perf_counter() - begun)


class CudaStream:
    """Copies on a stream of their own on a GPU, call by call."""

    beside_steps = True

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)

    def begin(self, copy: Callable[[], object]) -> CopyEvent:
        """See `CopyStream`."""
        begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self._stream.wait_stream(torch.cuda.current_stream(self._stream.device))
        with torch.cuda.stream(self._stream):
            begun.record()
            copy()
            ended.record()
        return CudaEvent(begun, ended)


@dataclass(frozen=True, slots=True)
class CudaEvent:
    """The time between two events of a stream."""

    begun: torch.cuda.Event
    ended: torch.cuda.Event

    @property
    def seconds(self) -> float:
        """See `CopyEvent`."""
        return self.begun.elapsed_time(self.ended) / 1000

    def done(self) -> bool:
        """See `CopyEvent`."""
        return self.ended.query()

    def wait(self) -> None:
        """See `CopyEvent`."""
        self.ended.synchronize()


def open_copy_stream(device: torch.device) -> CopyStream:
    """Return the stream for copies between the pools of a model on `device`."""
    return CudaStream(device) if device.type == "cuda" else HostStream()
