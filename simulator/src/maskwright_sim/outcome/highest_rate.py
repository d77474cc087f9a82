"""The highest rate at which a load is served well enough."""

from __future__ import annotations

from collections.abc import Callable


def highest_rate(
    within: Callable[[float], bool], low: float, high: float, halvings: int = 7
) -> float:
    """The highest rate between `low` and `high` for which `within` holds, by bisection; `low` if it
    holds for none."""
    if within(high):
        return high
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return low
