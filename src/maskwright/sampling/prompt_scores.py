"""Log-probabilities of a prompt's own tokens, as the model gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.kernels.device import upload
from maskwright.sampling.scores import find_likeliest

ROWS_AT_A_TIME = 16
"""Rows of logits that are turned into float64 together, which bounds the memory for it."""


@dataclass(frozen=True, slots=True)
class PromptToken:
    """The log-probability (natural logarithm) of one token of a prompt given those before it.

    `rank`: 1 for the likeliest token of the vocabulary. `top`: the likeliest tokens and their
    log-probabilities, likeliest first."""

    token: int
    logprob: float
    rank: int
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class PromptScores:
    """The scores of consecutive tokens of a prompt: `tokens` int64 `[n]`, `logprobs` float64 `[n]`,
    `ranks` int64 `[n]`, and the `k` likeliest tokens at each place, `top` int64 `[n, k]`, with
    `top_logprobs` float64 `[n, k]`. Arrays, because a prompt may have as many tokens as the
    context."""

    tokens: NDArray[np.int64]
    logprobs: NDArray[np.float64]
    ranks: NDArray[np.int64]
    top: NDArray[np.int64]
    top_logprobs: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.tokens)

    def read(self, most: int) -> Iterator[PromptToken]:
        """Yield the scores of the tokens in order, with at most `most` of the likeliest tokens."""
        for at in range(len(self)):
            ids, values = self.top[at, :most].tolist(), self.top_logprobs[at, :most].tolist()
            yield PromptToken(
                int(self.tokens[at]),
                float(self.logprobs[at]),
                int(self.ranks[at]),
                tuple(zip(ids, values, strict=True)),
            )


def score_prompt(logits: Tensor, tokens: Sequence[int], top: int) -> PromptScores:
    """The scores of `tokens`, each with the `top` likeliest tokens at its place, equal ones by
    token id. `logits` float32 `[tokens, vocab]`: the row after the token before each; they are not
    changed. On a device, all of it is computed there, and the host waits for one copy."""
    top = min(top, logits.shape[1])
    [own] = upload([torch.tensor(tokens)[:, None]], logits.device)
    parts: list[Tensor] = []
    for start in range(0, len(tokens), ROWS_AT_A_TIME):
        part = logits[start : start + ROWS_AT_A_TIME]
        shares = torch.log_softmax(part.double(), dim=-1)
        values = shares.gather(1, own[start : start + len(part)])
        ranks = 1 + (shares > values).sum(dim=-1, keepdim=True)
        highest = find_likeliest(part, top)
        # Numbers of float64 hold every token exactly.
        columns = (values, ranks, highest, shares.gather(1, highest))
        parts.append(torch.cat([column.double() for column in columns], dim=1))
    found = torch.cat(parts).cpu().numpy()
    return PromptScores(
        np.array(tokens, np.int64),
        found[:, 0],
        found[:, 1].astype(np.int64),
        found[:, 2 : 2 + top].astype(np.int64),
        found[:, 2 + top :],
    )


def join_scores(parts: Iterable[PromptScores]) -> PromptScores:
    """The scores of consecutive parts of a prompt, at least one, as one."""
    columns = zip(
        *((p.tokens, p.logprobs, p.ranks, p.top, p.top_logprobs) for p in parts), strict=True
    )
    return PromptScores(*(np.concatenate(column) for column in columns))
