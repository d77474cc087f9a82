"""One request while the engine works on it, as far as the scheduler needs to know it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class Phase(enum.Enum):
    """Where a sequence stands. Preemption leads from RUNNING back to WAITING."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"


@dataclass(slots=True, eq=False)
class Sequence:
    """Tokens so far and how far their keys and values have been computed.

    `arrival` orders sequences for good: an older one never yields to a younger. `computed` counts
    the leading `tokens` whose keys and values are in the blocks of `table`; preemption sets it
    back to 0 and keeps the tokens. `limit` is the longest the sequence may become.
    """

    arrival: int
    tokens: list[int]
    prompt_length: int
    limit: int
    phase: Phase = Phase.WAITING
    computed: int = 0
    table: list[int] = field(default_factory=list[int])
    preemptions: int = 0

    @property
    def pending(self) -> int:
        """Tokens still to be computed before the next one can be sampled; 1 while decoding."""
        return len(self.tokens) - self.computed
