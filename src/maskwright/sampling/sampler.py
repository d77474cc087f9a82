"""One token a row, out of the logits that the chain leaves.

Gumbel-argmax: adding independent Gumbel noise and taking the highest draws from the softmax. The
noise of a token depends on the request's seed, the position and the token id alone, so a draw is
the same whatever the batch.

Noise is exact but made sparingly. With u = (word + 0.5) / 2**32 a token scores
z - log(-log(1 - u)). Since -log(1 - u) >= u, a token can only beat a score s that another has
reached if u < exp(z - s): one comparison of its random word, no logarithm. And no score exceeds
z + 22.88, so tokens far enough below s need no word at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from maskwright.errors import GenerationError
from maskwright.sampling.chain import ChainBatch, SampleRow, run_chain
from maskwright.sampling.philox import TARGET, words_of_rows, words_of_tokens

_HEAD = np.float32(-2.0)
"""Tokens this close to the highest logit are scored first, to give the others a score to beat."""

_SLACK = np.float32(1.001)
"""Above any rounding of `exp(z - s)` in float32."""


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
    """A token a row; `values` have their maximum at 0, as the chain's temperature leaves them."""
    noise = _Noise(rows, values.shape[1])
    head = values >= values.max(axis=1, keepdims=True) + _HEAD
    owners, tokens = np.nonzero(head)
    best = np.maximum.reduceat(
        values[owners, tokens] + noise.gumbel(owners, tokens),
        np.searchsorted(owners, np.arange(len(rows))),
    )
    reach = np.exp(values - best[:, None].astype(np.float32)) * (_SLACK * np.float32(2.0**32))
    contenders = head | noise.below(reach)
    owners, tokens = np.nonzero(contenders)
    scores = values[owners, tokens] + noise.gumbel(owners, tokens)
    starts = np.searchsorted(owners, np.arange(len(rows)))
    winners = np.flatnonzero(scores == np.maximum.reduceat(scores, starts)[owners])
    return tokens[winners[np.searchsorted(owners[winners], np.arange(len(rows)))]].tolist()


class _Noise:
    """The random words of some rows: of single tokens, or of all where most are wanted."""

    def __init__(self, rows: list[SampleRow], vocab_size: int) -> None:
        self._seeds = np.array([row.seed for row in rows], np.uint64)
        self._positions = np.array([len(row.tokens) for row in rows], np.uint64)
        self._vocab_size = vocab_size

    def gumbel(self, owners: NDArray[np.intp], tokens: NDArray[np.intp]) -> NDArray[np.float64]:
        """Noise float64 for each (row, token) pair."""
        words = words_of_tokens(self._seeds, self._positions, owners, tokens, TARGET)
        return -np.log(-np.log1p(-(words.astype(np.float64) + 0.5) * 2.0**-32))

    def below(self, reach: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Tokens whose word is below their `reach` `[rows, vocab]`, in units of a word."""
        possible = reach > 0.5
        if int(np.count_nonzero(possible)) * 4 > possible.size:  # four words come at a time
            words = words_of_rows(self._seeds, self._positions, self._vocab_size, TARGET)
            return words.astype(np.float32) < reach
        owners, tokens = np.nonzero(possible)
        words = words_of_tokens(self._seeds, self._positions, owners, tokens, TARGET)
        possible[owners, tokens] = words < reach[owners, tokens]
        return possible
