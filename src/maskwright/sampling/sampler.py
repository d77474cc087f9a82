"""Samples one token for each row: penalties change its logits, bans its mask, and then all rows are
drawn together (`draw`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.errors import GenerationError
from maskwright.kernels.device import runs_kernels
from maskwright.kernels.sample import sample_rows
from maskwright.sampling.bans import Bans
from maskwright.sampling.chain import SampleRow, divisor, no_token, token_or_error
from maskwright.sampling.device_draw import Outcome
from maskwright.sampling.device_rows import lay_out
from maskwright.sampling.draw import draw_rows
from maskwright.sampling.penalties import Penalties
from maskwright.sampling.scores import score


def sample(logits: Tensor, rows: Sequence[SampleRow], words: Tensor) -> list[int | GenerationError]:
    """Sample a token for each row of `logits` float32 `[rows, vocab]`, which may be overwritten, as
    `rows` say, under the masks `words` int32 `[rows, words]` (bit i of word w allows token
    32 * w + i); an error in place of the token concerns its row alone. Ties go to the lowest token
    id. On a GPU, kernels do it, after all masks have been copied there; equal logits give equal
    tokens."""
    if not runs_kernels(logits):
        return [*map(token_or_error, _draw(logits.contiguous().numpy(), rows, words).tokens)]
    table = words.to(logits.device, non_blocking=True)
    numbers = torch.arange(len(table), dtype=torch.int32, device=logits.device)
    drawn = sample_rows(logits, lay_out(rows, table, numbers))
    return [token_or_error(token) for token in drawn.tokens.tolist()]


def sample_on_host(logits: Tensor, rows: Sequence[SampleRow], words: Tensor) -> list[Outcome]:
    """Do what `sample` does, from logits on the CPU, and score the tokens of rows that ask for
    it."""
    values = logits.contiguous().numpy()
    scored = [number for number, row in enumerate(rows) if row.params.logprobs is not None]
    raw = {number: values[number].copy() for number in scored}
    drawn = _draw(values, rows, words)
    outcomes: list[Outcome] = [
        no_token(token) if token < 0 else (token, None) for token in drawn.tokens
    ]
    for number in scored:
        token, mask = drawn.tokens[number], words[number].numpy()
        if token >= 0:
            among = float(drawn.processed[number]), int(drawn.support[number])
            outcomes[number] = token, score(raw[number], mask, token, *among, rows[number].params)
    return outcomes


class _Drawn(NamedTuple):
    """What has been drawn for each row: tokens or codes of errors, and for tokens that are to be
    scored the logarithm of the probability with which each was drawn, and among how many."""

    tokens: list[int]
    processed: NDArray[np.float64]
    support: NDArray[np.int64]


def _draw(values: NDArray[np.float32], rows: Sequence[SampleRow], words: Tensor) -> _Drawn:
    """Draw a token for each row of logits, which penalties change."""
    for number, row in enumerate(rows):
        if row.params.penalised:
            changed = Penalties(row.params, row.prompt_length)
            changed.apply(list(row.tokens), (), values[number : number + 1])
    masks, fallback = _narrowed(rows, words.numpy())
    tokens = np.empty(len(rows), np.int64)
    drawn = _Drawn([], np.zeros(len(rows)), np.zeros(len(rows), np.int64))
    is_scored = any(row.params.logprobs is not None for row in rows)
    draw_rows(
        values,
        masks,
        np.array([divisor(row.params) for row in rows], np.float32),
        np.array([row.params.top_k for row in rows], np.int64),
        np.array([row.params.top_p for row in rows]),
        np.array([row.params.min_p for row in rows]),
        np.array([row.seed for row in rows], np.uint64),
        np.array([len(row.tokens) for row in rows], np.uint64),
        tokens,
        fallback,
        drawn.processed if is_scored else None,
        drawn.support if is_scored else None,
    )
    return drawn._replace(tokens=tokens.tolist())


def _narrowed(
    rows: Sequence[SampleRow], words: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """The masks without what `rows` forbid, and those with the ends that they withhold; None if
    none do."""
    restricted = [number for number, row in enumerate(rows) if row.params.restricts]
    if not restricted:
        return words, None
    words, fallback = words.copy(), words.copy()
    for number in restricted:
        row = rows[number]
        bans = Bans(row.params, row.prompt_length, row.eos, row.stop_tokens)
        words[number], withheld = bans.narrow(row.tokens, words[number])
        fallback[number] = words[number] if withheld is None else withheld
    return words, fallback
