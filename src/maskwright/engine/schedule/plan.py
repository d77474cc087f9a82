"""The plan of one step, which the scheduler makes and the runner carries out."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from maskwright.engine.schedule.sequence import SHORT, Sequence
from maskwright.engine.schedule.transfer import BlockTransfer
from maskwright.sizing.memory import MOST_SCORED


@dataclass(frozen=True, slots=True)
class Chunk:
    """Compute the tokens `start` to `start + count` (exclusive) of `sequence`; the last `drafted`
    of them are draft tokens. `samples`: the chunk reaches the end of the sequence, so that a new
    token is sampled after it. `scored`: so many of its last positions, or some of them, are scored
    for the log-probabilities of the prompt."""

    sequence: Sequence
    start: int
    count: int
    samples: bool
    drafted: int = 0
    scored: int = 0

    @property
    def decodes(self) -> bool:
        """Whether the chunk belongs to decoding, not to the prefill of a prompt."""
        own = self.count - self.drafted
        return self.start >= self.sequence.prompt_length and own <= SHORT

    @property
    def rows(self) -> int:
        """How many of the last tokens need logits: the last own one and each draft, if a token is
        sampled, and those that are scored."""
        return max(1 + self.drafted if self.samples else 0, self.scored)

    @property
    def first_sampled(self) -> int:
        """The number of the row, among those of the chunk, after which a token is sampled."""
        return self.rows - 1 - self.drafted


class CopyDirection(enum.Enum):
    """The pools between which a block is copied."""

    WITHIN = "within the model's pool"
    OUT = "from the model's pool to the host's"
    IN = "from the host's pool to the model's"


@dataclass(frozen=True, slots=True)
class BlockCopy:
    """Copy the whole block `source` to block `target`."""

    direction: CopyDirection
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The work of one step, with the sequences admitted and preempted for it.

    Before the forward the runner carries out `copies` in the given order, because a block may be
    the target of one copy after it was the source of another; then it clears the newly allocated
    blocks `fresh`. Where copies between the pools go on beside steps, they are in `transfers` and
    not in `copies`: the runner begins them, in any order.
    """

    chunks: tuple[Chunk, ...]
    copies: tuple[BlockCopy, ...]
    fresh: tuple[int, ...]
    admitted: tuple[Sequence, ...]
    preempted: tuple[Sequence, ...]
    transfers: tuple[BlockTransfer, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens that the forward computes."""
        return sum(chunk.count for chunk in self.chunks)

    @property
    def decodes(self) -> int:
        """Sequences that decode in this step."""
        return sum(chunk.decodes for chunk in self.chunks)

    @property
    def of_prompts(self) -> tuple[int, float]:
        """The number of prompt tokens among them, and the mean number of positions before each."""
        pieces = [chunk for chunk in self.chunks if not chunk.decodes]
        count = sum(chunk.count for chunk in pieces)
        if not count:
            return 0, 0.0
        return count, sum((c.start + (c.count - 1) / 2) * c.count for c in pieces) / count

    @property
    def swapped(self) -> int:
        """Blocks copied between the model's pool and the host's before the forward."""
        return sum(copy.direction is not CopyDirection.WITHIN for copy in self.copies)


class PlanBuilder:
    """Collects the decisions of one step; `budget` is the number of tokens that are still free,
    `scorable` the number of positions that may still be scored for log-probabilities of prompts,
    `promised` the number of blocks that wait for a sequence until copies have ended."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.scorable = MOST_SCORED
        self.short_of_blocks = False
        self.promised = 0
        self.counts: dict[Sequence, int] = {}
        self.drafts: dict[Sequence, int] = {}
        self.copies: list[BlockCopy] = []
        self.transfers: list[BlockTransfer] = []
        self.fresh: list[int] = []
        self.admitted: list[Sequence] = []
        self.preempted: list[Sequence] = []

    def take(self, sequence: Sequence, count: int) -> None:
        """Compute `count` more tokens of `sequence`."""
        self.counts[sequence] = self.counts.get(sequence, 0) + count
        self.budget -= count
        if sequence.scored < sequence.to_score:
            self.scorable -= count

    def draft(self, sequence: Sequence, count: int) -> None:
        """Compute the first `count` draft tokens of `sequence` too."""
        self.drafts[sequence] = count
        self.budget -= count

    def plan(self) -> StepPlan:
        """The finished plan."""
        return StepPlan(
            tuple(
                _chunk(sequence, count, self.drafts.get(sequence, 0))
                for sequence, count in self.counts.items()
            ),
            tuple(self.copies),
            tuple(self.fresh),
            tuple(self.admitted),
            tuple(self.preempted),
            tuple(self.transfers),
        )


def _chunk(sequence: Sequence, count: int, drafted: int) -> Chunk:
    """The chunk of `count` pending tokens and `drafted` drafts."""
    samples, scored = count == sequence.pending, 0
    if sequence.scored < sequence.to_score:
        end = sequence.computed + count
        scored = max(0, end - max(sequence.computed, sequence.scored))
    return Chunk(sequence, sequence.computed, count + drafted, samples, drafted, scored)
