"""A snapshot of a histogram."""

from __future__ import annotations

from maskwright.immutable import Immutable


class Distribution(Immutable):
    """A histogram: `counts[i]` values were at most `bounds[i]` and above the bound before it; the
    last count is of values above all bounds. `total` is the sum of all values."""

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    total: float

    @property
    def count(self) -> int:
        """The number of values."""
        return sum(self.counts)
