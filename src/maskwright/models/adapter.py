"""Low-rank adapters: the update that one adds to the products of a model.

`scale * (x @ down.T) @ up.T` is added to a module's output (LoRA, arXiv 2106.09685). Here `up` is
already multiplied by `scale`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

Shapes = Mapping[str, tuple[int, int]]
"""The modules that an adapter may change: the numbers of outputs and inputs of each, by its name in
the transformers library."""


@dataclass(frozen=True, slots=True)
class LowRank:
    """The two factors of an update: `down` `[rank, inputs]` and `up` `[outputs, rank]`, both in the
    model's data type."""

    down: Tensor
    up: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Adapter:
    """The updates by module name."""

    modules: Mapping[str, LowRank]

    @property
    def nbytes(self) -> int:
        """Bytes of all matrices."""
        return sum(part.down.nbytes + part.up.nbytes for part in self.modules.values())


@dataclass(frozen=True, slots=True)
class AdapterRows:
    """The rows of a batch that one adapter changes, int64: first `count` row numbers, then padding
    to a multiple of `ROW_MULTIPLE`, whose results are not used."""

    adapter: Adapter
    rows: Tensor
    count: int
