"""What the scheduler does for each sequence of a step, for all of them in one call."""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, TypeVar

from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.sequence import Sequence

RECOVERY: Final[float]
"""What the estimated acceptance rate of a sequence gains in each step in which its draft is not
tried, so that drafts are tried again now and then."""

class PlannedStep(Protocol):
    """The decisions of a step so far: see `PlanBuilder`."""

    budget: int
    scorable: int
    promised: int
    counts: dict[Sequence, int]
    drafts: dict[Sequence, int]

StepT = TypeVar("StepT", bound=PlannedStep)

class Totals(NamedTuple):
    """What a step computes: its tokens, the sequences that decode, the tokens of prompts, and the
    mean number of positions before each of these."""

    tokens: int
    decodes: int
    prompt_tokens: int
    prompt_position: float

def decode(
    running: list[Sequence],
    step: StepT,
    block_size: int,
    pool: BlockPool,
    room: Callable[[Sequence, int, StepT], bool],
) -> None:
    """Give every sequence of `running` that decodes one token before any gets more, and all pending
    tokens before any gets draft tokens. `room` makes room for so many more tokens of a sequence,
    False where there is none; it is called only where a sequence needs blocks."""

def draft_pays(running: list[Sequence]) -> bool:
    """Whether one of `running`, which all decode, has a draft that `decode` would try. As there,
    the acceptance rate of one that isn't tried recovers a little, so that some day it is."""

def has_more(running: list[Sequence], counts: dict[Sequence, int]) -> bool:
    """Whether a sequence has more to compute than `counts` says."""

def chunks_of(counts: dict[Sequence, int], drafts: dict[Sequence, int]) -> tuple[Chunk, ...]:
    """Return the chunks of so many pending tokens of sequences, with so many draft tokens each."""

def commit(chunks: tuple[Chunk, ...], block_size: int, all_change: bool) -> list[Sequence]:
    """Count the tokens of `chunks` as computed, for the sequences that still run. Returns those
    whose tables change: that have filled a block, or all of them."""

def count_decoding(running: list[Sequence]) -> int:
    """Tokens to compute for decoding sequences, without drafts."""

def most_prefilled(running: list[Sequence]) -> int:
    """Computed tokens of the prompt whose prefill has come furthest; 0 without one."""

def totals(chunks: tuple[Chunk, ...]) -> Totals:
    """What the chunks of a step compute together."""
