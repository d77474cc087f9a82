"""What the engine asks of a model, whichever way it is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import torch
from torch import Tensor

from maskwright.kernels.kv_pool import KvDtype, KvPool
from maskwright.kernels.reference import Span
from maskwright.models.adapter import Shapes
from maskwright.models.batch import ForwardBatch, Plan
from maskwright.models.library_operations import LibraryOperations

SMALL: Final = 64 * 2**20
"""Bytes of weights below which one thread decodes. The products of a 3 M-parameter model take tens
of microseconds, about what it costs to wake a second thread; where other processes use the cores,
waiting for it made steps 1.5 times as long (17 times with the 2-layer test model)."""


class Decoder(Protocol):
    """Weights, and one forward over a paged pool. Holds no request state."""

    @property
    def vocab_size(self) -> int:
        """Logits a row."""
        ...

    @property
    def max_positions(self) -> int:
        """Positions that a sequence may fill."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Of weights, activations, keys and values."""
        ...

    @property
    def small(self) -> bool:
        """Whether one thread decodes fastest."""
        ...

    @property
    def window(self) -> int | None:
        """Positions that any layer looks back on; None where one sees all."""
        ...

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights."""
        ...

    @property
    def row_bytes(self) -> int:
        """An upper bound of the activations that one row of a step holds at once."""
        ...

    @property
    def adapter_shapes(self) -> Shapes:
        """The modules that adapters may change."""
        ...

    @property
    def library_operations(self) -> LibraryOperations:
        """What is left to a library, for the probe whether bits depend on the schedule."""
        ...

    def new_pool(self, blocks: int, block_size: int, kind: KvDtype = "auto") -> KvPool:
        """A zeroed key/value pool of `blocks` blocks; block 0 is the trash block."""
        ...

    def block_bytes(self, block_size: int, kind: KvDtype = "auto") -> int:
        """Bytes of one block through all layers."""
        ...

    def plan(self, spans: Sequence[Span], block_size: int) -> Plan:
        """What attention needs to know of a step."""
        ...

    def forward(self, batch: ForwardBatch, pool: KvPool) -> Tensor:
        """Write the rows' keys and values to `pool`; logits float32 `[s, vocab]` of `select`."""
        ...
