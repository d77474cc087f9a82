"""The tensors of one step, from its plan."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf

import torch

from maskwright.engine.plan import Chunk
from maskwright.kernels.reference import Span, pad_rows
from maskwright.models import DenseDecoder, ForwardBatch


def build_batch(chunks: SequenceOf[Chunk], block_size: int, decoder: DenseDecoder) -> ForwardBatch:
    """Rows in the order of `chunks`; logits are selected for the last `rows` of each chunk, in that
    order. Padding rows compute token 0 at position 0, write nothing and are read by nobody; padding
    of `select` repeats row 0."""
    tokens: list[int] = []
    positions: list[int] = []
    blocks: list[int] = []
    offsets: list[int] = []
    select: list[int] = []
    spans: list[Span] = []
    for chunk in chunks:
        sequence, start, end = chunk.sequence, chunk.start, chunk.start + chunk.count
        spans.append(Span(len(tokens), start, chunk.count, sequence.table))
        tokens += sequence.tokens[start : end - chunk.drafted]
        tokens += sequence.draft[: chunk.drafted]
        positions += range(start, end)
        blocks += [sequence.table[position // block_size] for position in range(start, end)]
        offsets += [position % block_size for position in range(start, end)]
        select += range(len(tokens) - chunk.rows, len(tokens))
    padding = [0] * (pad_rows(len(tokens)) - len(tokens))
    select += [0] * (pad_rows(len(select)) - len(select))
    return ForwardBatch(
        tokens=torch.tensor(tokens + padding),
        positions=torch.tensor(positions + padding),
        blocks=torch.tensor(blocks),
        offsets=torch.tensor(offsets),
        attention=decoder.plan(spans, block_size),
        select=torch.tensor(select, dtype=torch.int64),
    )
