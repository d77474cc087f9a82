"""Samples one token for each row. Rows that ask for changes of logits or for scores go through the
chain of logits processors first; then all rows are drawn together (`draw`)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.errors import GenerationError
from maskwright.kernels.device import runs_kernels
from maskwright.kernels.sample import sample_rows
from maskwright.sampling.chain import (
    ChainBatch,
    divisor,
    run_chain,
    token_or_error,
)
from maskwright.sampling.device_rows import lay_out
from maskwright.sampling.draw import draw_rows
from maskwright.sampling.params import SamplingParams


def sample(logits: Tensor, batch: ChainBatch) -> list[int | GenerationError]:
    """Sample a token for each row of `logits` float32 `[rows, vocab]`, which may be overwritten; an
    error in place of the token concerns its row alone. Ties go to the lowest token id. On a GPU,
    kernels do it, after all masks have been copied there; equal logits give equal tokens."""
    if not runs_kernels(logits):
        return sample_on_host(logits, batch)
    table = batch.words.to(logits.device, non_blocking=True)
    numbers = torch.arange(len(table), dtype=torch.int32, device=logits.device)
    drawn = sample_rows(logits, lay_out(batch.rows, table, numbers))
    return [token_or_error(token) for token in drawn.tokens.tolist()]


def sample_on_host(logits: Tensor, batch: ChainBatch) -> list[int | GenerationError]:
    """Do what `sample` does, from logits on the CPU. Rows that are not `plain` are left as the
    chain has made them."""
    rows = batch.rows
    chained = [number for number, row in enumerate(rows) if not row.params.plain]
    failures = _run_chain(logits, batch, chained) if chained else {}
    chosen = np.empty(len(rows), np.int64)
    values: NDArray[np.float32] = logits.contiguous().numpy()
    draw_rows(
        values,
        batch.words.numpy(),
        np.array([left_to_divide(row.params) for row in rows], np.float32),
        np.array([row.params.top_k if row.params.plain else 0 for row in rows], np.int64),
        np.array([row.params.top_p if row.params.plain else 1.0 for row in rows]),
        np.array([row.params.min_p if row.params.plain else 0.0 for row in rows]),
        np.array([row.seed for row in rows], np.uint64),
        np.array([len(row.tokens) for row in rows], np.uint64),
        chosen,
    )
    return [
        failures[number] if number in failures else token_or_error(token)
        for number, token in enumerate(chosen.tolist())
    ]


def _run_chain(logits: Tensor, batch: ChainBatch, chained: list[int]) -> dict[int, GenerationError]:
    """Run the chain on the rows numbered `chained`; returns the errors by row number."""
    if len(chained) == len(batch.rows):
        run_chain(logits, batch)
        return batch.failures
    part = logits[chained]
    of_part = ChainBatch([batch.rows[number] for number in chained], batch.words[chained])
    run_chain(part, of_part)
    logits[chained] = part
    return {chained[at]: error for at, error in of_part.failures.items()}


def left_to_divide(params: SamplingParams) -> float:
    """The temperature that the draw applies to a row: 1 where the chain has already applied it, 0
    for greedy sampling."""
    return divisor(params) if params.plain or params.greedy else 1.0
