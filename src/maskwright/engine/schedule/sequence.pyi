"""A live request as the scheduler sees it: its tokens, its blocks and how far it is computed."""

import enum
from collections.abc import Hashable
from typing import Final

from maskwright.engine.kv.prefix import Node
from maskwright.engine.schedule.transfer import BlockTransfer

SHORT: Final[int]
"""Upper bound on pending tokens of a sequence that counts as decoding after its prompt: a sampled
token and those that the grammar forces after it. With more, they are computed like a prompt."""

class Phase(enum.Enum):
    """The phase of a sequence. Preemption leads from RUNNING back to WAITING. A sequence whose
    reader is slow is PAUSED; it keeps its blocks until another sequence needs them."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"

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
    rank: int
    client: str
    salt: Hashable
    deadline: float | None
    adapter: str | None
    phase: Phase
    computed: int
    table: list[int]
    outside_window: int
    host: list[int]
    saved: int
    transfer: BlockTransfer | None
    draft: list[int]
    by_model: bool
    node: Node | None
    acceptance: float
    """Moving average of the acceptance rate of its looked-up drafts."""
    cached_tokens: int
    """Leading tokens whose keys and values were in the prefix cache when it was first admitted."""
    to_score: int
    """Leading positions after which the log-probabilities of the prompt's next token are wanted:
    all but its last, or none."""
    scored: int
    """How many of these positions have been scored."""
    charged: bool
    """Whether its prompt has been charged to its client."""
    overtaken: int
    """How often another sequence was admitted although it was this one's turn."""
    preemptions: int
    blocks_peak: int
    """Most blocks held at one time, in a step that computed some of its tokens."""

    def __init__(
        self,
        arrival: int,
        tokens: list[int],
        prompt_length: int,
        limit: int,
        rank: int = 0,
        client: str = "",
        salt: Hashable = None,
        deadline: float | None = None,
        adapter: str | None = None,
        phase: Phase = ...,
        computed: int = 0,
        table: list[int] | None = None,
        preemptions: int = 0,
        to_score: int = 0,
        acceptance: float = 1.0,
        draft: list[int] | None = None,
    ) -> None: ...
    def judge(self, drafted: int, accepted: int) -> None:
        """Have `acceptance` follow a looked-up draft of `drafted` tokens; the first `accepted` were
        drawn."""

    @property
    def pending(self) -> int:
        """Tokens still to be computed before the next one can be sampled; 1 while decoding, 0
        while a computed row waits for its mask."""

    @property
    def decodes(self) -> bool:
        """Whether it has tokens to compute that belong to decoding, not to a prompt; False while
        its blocks are copied back."""

    @property
    def cacheable(self) -> int:
        """Most leading tokens whose keys and values may come from a cache: the last token is always
        computed for its logits, and so are positions that have to be scored."""

    @property
    def seniority(self) -> tuple[int, int]:
        """The order of preemption: a sequence may take blocks from one with a larger value, never
        from one with a smaller value. A sequence that has been preempted `MOST_PREEMPTIONS` times
        counts as one of the first class, so that every sequence ends."""

MOST_PREEMPTIONS: Final[int]
"""How often a sequence may be preempted for one of a better class."""
