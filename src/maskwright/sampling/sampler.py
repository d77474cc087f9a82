"""One token a row, out of the logits that the chain leaves.

Gumbel-argmax: adding independent Gumbel noise and taking the highest draws from the softmax. The
noise of a token depends on the request's seed, the position and the token id alone, so a draw is
the same whatever the batch. It is made only for tokens that can win.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from maskwright.errors import GenerationError
from maskwright.sampling.chain import ChainBatch, SampleRow, run_chain
from maskwright.sampling.philox import TARGET, token_words

_REACH = 26.01
"""No token this far below the highest logit can win: with u = (word + 0.5) / 2**32 the noise
-log(-log(1 - u)) lies between -3.14 and 22.88."""


def sample(logits: Tensor, batch: ChainBatch) -> list[int | GenerationError]:
    """The chosen token, or the row's own error, for each row of `logits` float32 `[rows, vocab]`
    (overwritten). Ties go to the lowest token id."""
    run_chain(logits, batch)
    values: NDArray[np.float32] = logits.numpy()
    drawn = [i for i, row in enumerate(batch.rows) if not row.params.greedy]
    if len(drawn) < len(batch.rows):
        chosen: list[int] = values.argmax(axis=1).tolist()
    else:
        chosen = [0] * len(batch.rows)
    if drawn:
        rows = [batch.rows[i] for i in drawn]
        for i, token in zip(drawn, _draw(values[drawn], rows), strict=True):
            chosen[i] = token
    return [batch.failures.get(i, token) for i, token in enumerate(chosen)]


def _draw(values: NDArray[np.float32], rows: list[SampleRow]) -> list[int]:
    candidates = values >= values.max(axis=1, keepdims=True) - np.float32(_REACH)
    owners, tokens = np.nonzero(candidates)
    scores = values[owners, tokens] + _gumbel(owners, tokens, rows, values.shape[1])
    starts = np.searchsorted(owners, np.arange(len(rows)))
    best = np.maximum.reduceat(scores, starts)
    winners = np.flatnonzero(scores == best[owners])
    first = np.searchsorted(owners[winners], np.arange(len(rows)))
    return tokens[winners[first]].tolist()


def _gumbel(
    owners: NDArray[np.intp], tokens: NDArray[np.intp], rows: list[SampleRow], vocab_size: int
) -> NDArray[np.float64]:
    """Noise float64 for each (row, token) pair."""
    seeds = np.array([row.seed for row in rows], np.uint64)
    positions = np.array([len(row.tokens) for row in rows], np.uint64)
    if len(tokens) * 4 > len(rows) * vocab_size:
        groups = np.arange((vocab_size + 3) // 4, dtype=np.uint64)[None, :]
        every = token_words(seeds[:, None], positions[:, None], groups, TARGET)
        words = every.reshape(len(rows), -1)[owners, tokens]
    else:
        groups = (tokens >> 2).astype(np.uint64)
        four = token_words(seeds[owners], positions[owners], groups, TARGET)
        words = four[np.arange(len(tokens)), tokens & 3]
    uniform = (words.astype(np.float64) + 0.5) * 2.0**-32
    return -np.log(-np.log1p(-uniform))
