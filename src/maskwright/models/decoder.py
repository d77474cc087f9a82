"""The interface of a model, as the engine uses it. Each backend implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import torch
from torch import Tensor

from maskwright.kernels.kv_bytes import KvDtype
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.reference import Span
from maskwright.models.adapter import Shapes
from maskwright.models.batch import ForwardBatch, Plan
from maskwright.models.batch_invariance import LibraryOperations

SMALL: Final = 64 * 2**20
"""Bytes of weights below which torch computes a product in one thread. The products of a model with
3 million parameters take tens of microseconds, about as long as waking a second thread. On cores
that other processes used, waiting for it made steps 1.5 times as long (17 times with the 2-layer
test model)."""
MOST_SHARING: Final = 4
"""The most threads that share the rows of a step in compiled operations, unless `threads` is set.
Two take 0.6 times as long as one for 64 rows; a thread needs some 16 rows, since it reads all
weights for them."""


class Decoder(Protocol):
    """The weights of a model, and its forward over a paged pool. Holds no state of requests."""

    @property
    def vocab_size(self) -> int:
        """The number of logits in a row."""
        ...

    @property
    def max_positions(self) -> int:
        """The most positions that a sequence may have."""
        ...

    @property
    def device(self) -> torch.device:
        """Where weights, activations, keys and values are."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """The data type of weights, activations, keys and values."""
        ...

    @property
    def small(self) -> bool:
        """Whether torch computes the model's products fastest in one thread."""
        ...

    @property
    def recordable(self) -> bool:
        """Whether a forward of rows on the device reads nothing back to the host, so that it can be
        recorded and done again (see `models/graphs.py`)."""
        ...

    @property
    def window(self) -> int | None:
        """The widest attention window of all layers, in positions; None if some layer has none."""
        ...

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights."""
        ...

    @property
    def row_bytes(self) -> int:
        """Upper bound in bytes on the activations that one row of a step needs at a time."""
        ...

    @property
    def adapter_shapes(self) -> Shapes:
        """The modules that adapters may change, with their sizes."""
        ...

    @property
    def library_operations(self) -> LibraryOperations:
        """The operations that a library computes, which the probe for batch invariance tries."""
        ...

    def new_pool(
        self,
        blocks: int,
        block_size: int,
        kind: KvDtype = "auto",
        device: torch.device | None = None,
    ) -> KvPool:
        """Return a zeroed key/value pool of `blocks` blocks; block 0 is the trash block. It is on
        `device`, by default the model's."""
        ...

    def block_bytes(self, block_size: int, kind: KvDtype = "auto") -> int:
        """Return the bytes of one block, for all layers together."""
        ...

    def plan(self, spans: Sequence[Span], block_size: int) -> Plan:
        """Return the attention plan of a step: what each row reads."""
        ...

    def forward(self, batch: ForwardBatch, pool: KvPool, out: Tensor | None = None) -> Tensor:
        """Write the keys and values of all rows to `pool`, and return the logits of the rows in
        `select`: float32 `[s, vocab]`, in `out` if it is given."""
        ...
