"""What a mechanism is worth: a figure with it and without it."""

from __future__ import annotations

from msgspec import field

from maskwright.immutable import Immutable


class MechanismClaim(Immutable):
    """`figure` (with its unit) is `on` with the `mechanism` and `off` without it, on equal load.
    `published`: what the texts or the papers report of it."""

    mechanism: str
    figure: str
    on: float
    off: float
    published: str = ""
    higher: bool = False
    """Whether larger values of the figure are better."""

    @property
    def worse(self) -> float:
        """How many times worse the figure is without the mechanism; above 1 if it helps."""
        good, bad = (self.off, self.on) if self.higher else (self.on, self.off)
        return bad / good if good else float("inf") if bad else 1.0


Rows = list[dict[str, float | int | str | None]]


class SystemReport(Immutable):
    """`claims`, and further `tables` by their titles."""

    claims: list[MechanismClaim]
    tables: dict[str, Rows] = field(default_factory=dict[str, Rows])
