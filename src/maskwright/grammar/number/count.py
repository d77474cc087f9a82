"""Counts that a pattern or a grammar writes in decimal digits."""

from __future__ import annotations

from typing import Final

_MOST_DIGITS: Final = 18
"""Digits of a count that are read, which is above what any text reaches. Python refuses to read
thousands."""


def count_of(digits: str) -> int:
    """Return the number that `digits` write, 0 for none; the greatest number of 18 digits for a
    greater one."""
    if len(digits) > _MOST_DIGITS:
        digits = digits.lstrip("0")
    if len(digits) > _MOST_DIGITS:
        return 10**_MOST_DIGITS - 1
    return int(digits or "0")
