"""Low-rank adapters: what one adds to the products of a model.

A module's output gains `scale * (x @ down.T) @ up.T` (LoRA, arXiv 2106.09685); `scale` is part of
`up` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

Shapes = Mapping[str, tuple[int, int]]
"""The modules that an adapter may change: outputs and inputs of each, by its name in the
transformers library."""


@dataclass(frozen=True, slots=True)
class LowRank:
    """`down` `[rank, inputs]`, `up` `[outputs, rank]`, both in the model's data type."""

    down: Tensor
    up: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Adapter:
    """What is added, by module."""

    modules: Mapping[str, LowRank]

    @property
    def nbytes(self) -> int:
        """Bytes of all its matrices."""
        return sum(part.down.nbytes + part.up.nbytes for part in self.modules.values())


@dataclass(frozen=True, slots=True)
class AdapterRows:
    """The rows of a batch that one adapter changes: int64, `count` of them, then padding to a
    multiple of `ROW_MULTIPLE` with rows that are computed and not used."""

    adapter: Adapter
    rows: Tensor
    count: int
