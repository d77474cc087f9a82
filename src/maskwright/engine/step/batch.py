"""The runs of tokens that the plan of a step has the model compute."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf

from maskwright.engine.adapters import Adapters
from maskwright.engine.schedule.chunk import Chunk
from maskwright.models import Run


def build_runs(chunks: SequenceOf[Chunk], adapters: Adapters | None = None) -> list[Run]:
    """Return a run for each of `chunks`."""
    return [_run(chunk, adapters) for chunk in chunks]


def _run(chunk: Chunk, adapters: Adapters | None) -> Run:
    """The tokens of a chunk: those of the sequence, then its draft tokens."""
    sequence, end = chunk.sequence, chunk.start + chunk.count
    own = sequence.tokens[chunk.start : end - chunk.drafted]
    tokens = own + sequence.draft[: chunk.drafted]
    named = sequence.adapter
    adapter = None if named is None or adapters is None else adapters[named]
    return Run(tokens, chunk.start, sequence.table, chunk.rows, adapter)
