"""Builds the tensors of a forward from the plan of a step."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf

from maskwright.engine.adapters import Adapters
from maskwright.engine.schedule.plan import Chunk
from maskwright.models import Decoder, ForwardBatch, Run, lay_out


def build_batch(
    chunks: SequenceOf[Chunk],
    block_size: int,
    decoder: Decoder,
    adapters: Adapters | None = None,
) -> ForwardBatch:
    """The batch of `chunks`, with rows in their order; see `lay_out`."""
    return lay_out([_run(chunk, adapters) for chunk in chunks], block_size, decoder.plan)


def _run(chunk: Chunk, adapters: Adapters | None) -> Run:
    """The tokens of a chunk: those of the sequence, then its draft tokens."""
    sequence, end = chunk.sequence, chunk.start + chunk.count
    own = sequence.tokens[chunk.start : end - chunk.drafted]
    tokens = own + sequence.draft[: chunk.drafted]
    named = sequence.adapter
    adapter = None if named is None or adapters is None else adapters[named]
    return Run(tokens, chunk.start, sequence.table, chunk.rows, adapter)
