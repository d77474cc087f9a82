"""The plan of one step, which the scheduler makes and the runner carries out."""

from __future__ import annotations

import enum

from maskwright.engine.schedule.batch_work import Totals, chunks_of, totals
from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.transfer import BlockTransfer
from maskwright.immutable import Immutable
from maskwright.sizing.serving_plan import MOST_SCORED


class CopyDirection(enum.Enum):
    """The pools between which a block is copied."""

    WITHIN = "within the model's pool"
    OUT = "from the model's pool to the host's"
    IN = "from the host's pool to the model's"


class BlockCopy(Immutable):
    """Copy the whole block `source` to block `target`."""

    direction: CopyDirection
    source: int
    target: int


class StepPlan(Immutable):
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
    def totals(self) -> Totals:
        """What the step computes."""
        return totals(self.chunks)

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

    def plan(self) -> StepPlan:
        """The finished plan."""
        return StepPlan(
            chunks_of(self.counts, self.drafts),
            tuple(self.copies),
            tuple(self.fresh),
            tuple(self.admitted),
            tuple(self.preempted),
            tuple(self.transfers),
        )
