"""What the scheduler does for each sequence of a step, for all of them in one call."""

from typing import NamedTuple

from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.sequence import Sequence

class Totals(NamedTuple):
    """What a step computes: its tokens, the sequences that decode, the tokens of prompts, and the
    mean number of positions before each of these."""

    tokens: int
    decodes: int
    prompt_tokens: int
    prompt_position: float

def decode_all(
    running: list[Sequence], block_size: int
) -> tuple[tuple[Chunk, ...], list[Sequence]] | None:
    """Return the chunks of a step in which each sequence that has something to compute decodes one
    token, in the order of `running`, and the sequences that need one more block for it. None where
    some have more to compute, or a draft, or wait for their blocks."""

def commit(chunks: tuple[Chunk, ...], block_size: int, all_change: bool) -> list[Sequence]:
    """Count the tokens of `chunks` as computed, for the sequences that still run. Returns those
    whose tables change: that have filled a block, or all of them."""

def count_decoding(running: list[Sequence]) -> int:
    """Tokens to compute for decoding sequences, without drafts."""

def most_prefilled(running: list[Sequence]) -> int:
    """Computed tokens of the prompt whose prefill has come furthest; 0 without one."""

def totals(chunks: tuple[Chunk, ...]) -> Totals:
    """What the chunks of a step compute together."""
