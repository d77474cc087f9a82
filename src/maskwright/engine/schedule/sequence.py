"""A live request as the scheduler sees it: its tokens, its blocks and how far it is computed."""

from __future__ import annotations

import enum
from collections.abc import Hashable
from dataclasses import dataclass, field

from maskwright.engine.kv.prefix import Node
from maskwright.engine.schedule.transfer import BlockTransfer

SHORT = 16
"""Upper bound on pending tokens of a sequence that counts as decoding after its prompt: a sampled
token and those that the grammar forces after it. With more, they are computed like a prompt."""


class Phase(enum.Enum):
    """The phase of a sequence. Preemption leads from RUNNING back to WAITING. A sequence whose
    reader is slow is PAUSED; it keeps its blocks until another sequence needs them."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(slots=True, eq=False)
class Sequence:
    """The tokens of a request so far, and the blocks that hold their keys and values.

    `arrival` orders sequences of one class for good: an older one never yields to a younger.
    `limit` is the greatest length that the sequence may reach, in tokens. `rank` is the number of
    its service class, 0 for the best; `client` is counted for fairness; `salt` says with whom it
    shares cached prefixes; `deadline` is the time, on the caller's clock, at which it times out;
    `adapter` is the name of its low-rank adapter.

    `computed` counts the leading `tokens` whose keys and values are in the blocks of `table`;
    preemption sets it to 0 and keeps the tokens. The first `outside_window` entries of the table
    are 0: their blocks have left the attention window and were released. `host` is the table of
    blocks in the host's pool with the keys and values of the first `saved` tokens while the
    sequence is swapped out. `transfer` are copies of its blocks that are in flight: until they have
    ended it is neither admitted nor computed. `draft` are draft tokens for the next positions;
    `by_model` says that a draft model proposed them and has found that they pay. `node` is the
    prefix tree's node of the last full block.
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
    outside_window: int = 0
    host: list[int] = field(default_factory=list[int])
    saved: int = 0
    transfer: BlockTransfer | None = None
    draft: list[int] = field(default_factory=list[int])
    by_model: bool = False
    node: Node | None = None
    acceptance: float = 1.0
    """Moving average of the acceptance rate of its looked-up drafts."""
    cached_tokens: int = 0
    """Leading tokens whose keys and values were in the prefix cache when it was first admitted."""
    to_score: int = 0
    """Leading positions after which the log-probabilities of the prompt's next token are wanted:
    all but its last, or none."""
    scored: int = 0
    """How many of these positions have been scored."""
    charged: bool = False
    """Whether its prompt has been charged to its client."""
    overtaken: int = 0
    """How often another sequence was admitted although it was this one's turn."""
    preemptions: int = 0
    blocks_peak: int = 0
    """Most blocks held at one time, in a step that computed some of its tokens."""

    @property
    def pending(self) -> int:
        """Tokens still to be computed before the next one can be sampled; 1 while decoding, 0
        while a computed row waits for its mask."""
        return len(self.tokens) - self.computed

    @property
    def decodes(self) -> bool:
        """Whether it has tokens to compute that belong to decoding, not to a prompt; False while
        its blocks are copied back."""
        computed = self.computed
        return (
            self.transfer is None
            and computed >= self.prompt_length
            and 0 < len(self.tokens) - computed <= SHORT
        )

    @property
    def cacheable(self) -> int:
        """Most leading tokens whose keys and values may come from a cache: the last token is always
        computed for its logits, and so are positions that have to be scored."""
        most = len(self.tokens) - 1
        return most if self.scored >= self.to_score else min(most, self.scored)

    @property
    def seniority(self) -> tuple[int, int]:
        """The order of preemption: a sequence may take blocks from one with a larger value, never
        from one with a smaller value. A sequence that has been preempted `MOST_PREEMPTIONS` times
        counts as one of the first class, so that every sequence ends."""
        return (0 if self.preemptions >= MOST_PREEMPTIONS else self.rank, self.arrival)


MOST_PREEMPTIONS = 3
"""How often a sequence may be preempted for one of a better class."""
