"""The part of a step that belongs to one sequence."""

from maskwright.engine.schedule.sequence import Sequence

class Chunk:
    """Compute the tokens `start` to `start + count` (exclusive) of `sequence`; the last `drafted`
    of them are draft tokens. `samples`: the chunk reaches the end of the sequence, so that a new
    token is sampled after it. `scored`: so many of its last positions, or some of them, are scored
    for the log-probabilities of the prompt."""

    sequence: Sequence
    start: int
    count: int
    samples: bool
    drafted: int
    scored: int

    def __init__(
        self,
        sequence: Sequence,
        start: int,
        count: int,
        samples: bool,
        drafted: int = 0,
        scored: int = 0,
    ) -> None: ...
    @property
    def decodes(self) -> bool:
        """Whether the chunk belongs to decoding, not to the prefill of a prompt."""

    @property
    def rows(self) -> int:
        """How many of the last tokens need logits: the last own one and each draft, if a token is
        sampled, and those that are scored."""

    @property
    def first_sampled(self) -> int:
        """The number of the chunk's row, counted within it, after which a token is sampled."""
