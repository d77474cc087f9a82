"""Counts values between bounds, as plain numbers; the reader chooses the format.

One thread writes; any thread may read.
"""

from maskwright.engine.distribution import Distribution

class Histogram:
    """Counts values between `bounds`, which ascend."""

    def __init__(self, bounds: tuple[float, ...]) -> None: ...
    def note(self, value: float, times: int = 1) -> None:
        """Add `value`, `times` times."""

    def read(self) -> Distribution:
        """A snapshot of the histogram."""
