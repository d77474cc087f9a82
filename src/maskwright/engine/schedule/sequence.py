"""One request while the engine works on it, as far as the scheduler needs to know it."""

from __future__ import annotations

import enum
from collections.abc import Hashable
from dataclasses import dataclass, field

from maskwright.engine.kv.prefix import Node

SHORT = 16
"""A sequence whose prompt is computed and which has at most so many tokens to compute counts as
decoding: a sampled token and what its grammar forces after it."""


class Phase(enum.Enum):
    """Where a sequence stands. Preemption leads from RUNNING back to WAITING; a slow reader's
    sequence is PAUSED, with its blocks as long as nobody needs them."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(slots=True, eq=False)
class Sequence:
    """Tokens so far and how far their keys and values have been computed.

    `arrival` orders sequences of one class for good: an older one never yields to a younger.
    `limit` is the longest the sequence may become. `rank` is the number of its class, 0 first;
    `client` whom it is for; `salt` whose prefixes it may share; `deadline` the time, on the
    caller's clock, at which it ends whatever it has; `adapter` what the model is changed by.

    `computed` counts the leading `tokens` whose keys and values are in the blocks of `table`;
    preemption sets it back to 0 and keeps the tokens. The first `behind` of the table have been
    given up, and are 0 there. `host` are blocks of the host's pool with the keys and
    values of the first `saved` tokens, by place in the table, while a sequence is swapped out.
    `draft` are proposals for the tokens after these, `by_model` if a draft model made them and has
    found them worth their rows. `node` is the tree's node of the last full
    block.
    """

    arrival: int
    tokens: list[int]
    prompt_length: int
    limit: int
    rank: int = 0
    client: str = ""
    salt: Hashable = None
    deadline: float | None = None
    adapter: str | None = None
    phase: Phase = Phase.WAITING
    computed: int = 0
    table: list[int] = field(default_factory=list[int])
    behind: int = 0
    host: list[int] = field(default_factory=list[int])
    saved: int = 0
    draft: list[int] = field(default_factory=list[int])
    by_model: bool = False
    node: Node | None = None
    promise: float = 1.0
    """The share of its looked-up drafts that came true, the last ones above all."""
    found: int = 0
    """Tokens that the prefix tree had when the sequence was first admitted."""
    charged: bool = False
    """Whether its prompt has been put on its client's account."""
    overtaken: int = 0
    """How often another was admitted although it was this one's turn."""
    preemptions: int = 0
    blocks_peak: int = 0
    """Most blocks held in a step that computed for it."""

    @property
    def pending(self) -> int:
        """Tokens still to be computed before the next one can be sampled; 1 while decoding, 0
        while a computed row waits for its mask."""
        return len(self.tokens) - self.computed

    @property
    def decodes(self) -> bool:
        """It has something to compute, though no prompt."""
        computed = self.computed
        return computed >= self.prompt_length and 0 < len(self.tokens) - computed <= SHORT

    @property
    def seniority(self) -> tuple[int, int]:
        """A smaller one may take blocks from a larger one, never the other way round. One that has
        yielded often enough counts as first class, so that every sequence ends."""
        return (0 if self.preemptions >= MOST_PREEMPTIONS else self.rank, self.arrival)


MOST_PREEMPTIONS = 3
"""Times that a sequence gives way to a better class."""
