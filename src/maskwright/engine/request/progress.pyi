"""What a running request notes in each step: when it drew tokens, and what it waited for."""

from array import array
from typing import Final

from maskwright.engine.stats import Observations

MOST_STEPS: Final[int]
"""Steps of a request whose times are kept; of a longer answer, the first ones."""

class Progress:
    """The times of a running request, in seconds, and what it has counted in its steps.

    `paused_at` is a time of the engine's clock. All other times are from a clock that stops
    while the request is paused, so that their differences don't include pauses.
    """

    submitted_at: float
    admitted_at: float | None
    compiled_at: float | None
    first_at: float | None
    last_at: float
    longest_gap: float | None
    paused_at: float | None
    paused: float
    late_at: float | None
    late: float
    preempted_at: float | None
    preempted: float
    first: int
    """Tokens of the output after the step that drew the first one."""
    sampled: int
    forced: int
    steps: int
    late_rows: int
    mask_rows: int
    mask_hits: int
    mask_seconds: float
    given_at: array[float]
    """When each of the first steps gave the request tokens, from its submission on."""
    given: array[int]
    """How many tokens it had then, forced ones included."""

    def __init__(self, submitted_at: float) -> None: ...
    def admitted(self, now: float, seen: Observations) -> None:
        """Record that the request was admitted to a batch; only the first time counts."""

    def drew(self, count: int, now: float, seen: Observations) -> None:
        """Record that `count` tokens were drawn in a step."""

    def filled(self, rows: int, hits: int, seconds: float, seen: Observations) -> None:
        """Record that `rows` masks were filled, `hits` of them from the cache."""

    def await_mask(self, now: float) -> None:
        """Record that a row of logits is there before its mask."""

    def drop_row(self, now: float) -> None:
        """Record that the row is not needed, for whose mask the request has waited."""

    def preempt(self, now: float) -> None:
        """Record that the request has given its blocks up."""

    def pause(self, now: float) -> None:
        """Begin a pause, because the reader is behind; no effect within a pause."""

    def resume(self, now: float) -> None:
        """End the pause."""

    def end_waits(self, now: float) -> float:
        """End all that the request waits for but its reader; returns the time of its own clock."""

    def time_of(self, now: float) -> float:
        """The time `now` on the clock that stops in pauses."""

    @property
    def queued_at(self) -> float:
        """When the request began to wait for its admission, on its own clock."""
