"""The runs of tokens that the plan of a step has the model compute."""

from collections.abc import Sequence as SequenceOf

from maskwright.engine.adapters import Adapters
from maskwright.engine.schedule.chunk import Chunk
from maskwright.models import Run

def build_runs(chunks: SequenceOf[Chunk], adapters: Adapters | None = None) -> list[Run]:
    """Return a run for each of `chunks`: the tokens of the sequence, then its draft tokens."""
