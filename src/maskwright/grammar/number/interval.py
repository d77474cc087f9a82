"""Intervals of numbers, and their algebra."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from maskwright.immutable import Acyclic


class Interval(Acyclic):
    """The numbers between two bounds, which are open or closed; None is unbounded."""

    low: Decimal | None = None
    high: Decimal | None = None
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, value: Decimal) -> bool:
        if self.low is not None and (value < self.low or (value == self.low and self.low_open)):
            return False
        return self.high is None or not (
            value > self.high or (value == self.high and self.high_open)
        )

    @property
    def only_sign(self) -> bool:
        """Whether the bounds restrict at most the sign: each is zero or absent."""
        return self.low in (None, 0) and self.high in (None, 0)

    @property
    def mirrored(self) -> Interval:
        """The numbers whose negatives are in the interval."""
        low = None if self.high is None else self.high.copy_negate()
        high = None if self.low is None else self.low.copy_negate()
        return Interval(low, high, self.high_open, self.low_open)

    @property
    def outside(self) -> list[Interval]:
        """The numbers that are not in the interval, as at most two intervals."""
        others: list[Interval] = []
        if self.low is not None:
            others.append(Interval(high=self.low, high_open=not self.low_open))
        if self.high is not None:
            others.append(Interval(low=self.high, low_open=not self.high_open))
        return others

    def without(self, points: Iterable[Decimal]) -> list[Interval]:
        """The interval without some numbers, which are given in ascending order, as ascending
        intervals."""
        pieces: list[Interval] = []
        rest = self
        for point in points:
            if point in rest:
                pieces.append(replace(rest, high=point, high_open=True))
                rest = replace(rest, low=point, low_open=True)
        return [*pieces, rest]


EVERYTHING: Final = Interval()


def joint(intervals: Iterable[Interval]) -> Interval:
    """The intersection of intervals."""
    lows: list[tuple[Decimal, bool]] = []
    highs: list[tuple[Decimal, bool]] = []
    for each in intervals:
        if each.low is not None:
            lows.append((each.low, each.low_open))
        if each.high is not None:
            highs.append((each.high, not each.high_open))
    low, low_open = max(lows, default=(None, False))
    high, high_closed = min(highs, default=(None, True))
    return Interval(low, high, low_open, not high_closed)
