"""What one step does, as the scheduler decides it and the runner carries it out."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from maskwright.engine.schedule.sequence import SHORT, Sequence


@dataclass(frozen=True, slots=True)
class Chunk:
    """Compute tokens `start .. start+count` of `sequence`, drafts counted in: the last `drafted` of
    them are proposals. `samples`: a new token follows."""

    sequence: Sequence
    start: int
    count: int
    samples: bool
    drafted: int = 0

    @property
    def decodes(self) -> bool:
        """It is no piece of a prompt."""
        own = self.count - self.drafted
        return self.start >= self.sequence.prompt_length and own <= SHORT

    @property
    def rows(self) -> int:
        """Logits are wanted of so many tokens, the last ones: where one can follow."""
        return 1 + self.drafted if self.samples else 0


class Way(enum.Enum):
    """Between which pools a block is copied."""

    WITHIN = "within the model's pool"
    OUT = "from the model's pool to the host's"
    IN = "from the host's pool to the model's"


@dataclass(frozen=True, slots=True)
class Move:
    """Copy block `source` to `target`, whole."""

    way: Way
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The work of one step and what was decided on the way.

    To be done before the forward: each of `moves`, in this order, since a block may be the target
    of one after it was the source of another; then the blocks `fresh`, which are newly taken, are
    cleared.
    """

    chunks: tuple[Chunk, ...]
    moves: tuple[Move, ...]
    fresh: tuple[int, ...]
    admitted: tuple[Sequence, ...]
    preempted: tuple[Sequence, ...]

    @property
    def tokens(self) -> int:
        """Tokens the forward computes."""
        return sum(chunk.count for chunk in self.chunks)

    @property
    def of_prompts(self) -> tuple[int, float]:
        """How many of them are of prompts, and how many others each of these looks back on, on
        average."""
        pieces = [chunk for chunk in self.chunks if not chunk.decodes]
        count = sum(chunk.count for chunk in pieces)
        if not count:
            return 0, 0.0
        return count, sum((c.start + (c.count - 1) / 2) * c.count for c in pieces) / count

    @property
    def swapped(self) -> int:
        """Blocks copied from one pool to the other."""
        return sum(move.way is not Way.WITHIN for move in self.moves)


class Step:
    """A plan in the making, with `budget` tokens left."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.short_of_blocks = False
        self.counts: dict[Sequence, int] = {}
        self.drafts: dict[Sequence, int] = {}
        self.moves: list[Move] = []
        self.fresh: list[int] = []
        self.admitted: list[Sequence] = []
        self.preempted: list[Sequence] = []

    def take(self, sequence: Sequence, count: int) -> None:
        """`count` more tokens of `sequence`."""
        self.counts[sequence] = self.counts.get(sequence, 0) + count
        self.budget -= count

    def draft(self, sequence: Sequence, count: int) -> None:
        """The first `count` drafts of `sequence`."""
        self.drafts[sequence] = count
        self.budget -= count

    def plan(self) -> StepPlan:
        """What has been decided."""
        return StepPlan(
            tuple(
                _chunk(sequence, count, self.drafts.get(sequence, 0))
                for sequence, count in self.counts.items()
            ),
            tuple(self.moves),
            tuple(self.fresh),
            tuple(self.admitted),
            tuple(self.preempted),
        )


def _chunk(sequence: Sequence, count: int, drafted: int) -> Chunk:
    """The chunk of `count` pending tokens and `drafted` drafts."""
    samples = count == sequence.pending
    return Chunk(sequence, sequence.computed, count + drafted, samples, drafted)
