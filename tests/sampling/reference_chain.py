"""The chain of logits processors in torch: what the compiled draw is held against.

A processor changes the logits of all sampled rows, float32 `[rows, vocab]`, in place. It touches
only rows whose parameters ask for it, and its effect on a row depends on that row alone. The logit
of a forbidden token is -inf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from msgspec import field
from numpy.typing import NDArray
from torch import Tensor

from maskwright.errors import GenerationError
from maskwright.immutable import Immutable
from maskwright.kernels.reference import (
    apply_mask,
    apply_penalties,
    keep_at_least,
    min_p_threshold,
    top_k_threshold,
    top_p_threshold,
)
from maskwright.kernels.sample_inputs import EMPTY, NOT_FINITE, ORDER
from maskwright.sampling import SampleRow, SamplingParams
from maskwright.sampling.chain import divisor, no_token
from maskwright.sampling.draw import draw_rows


class ReferenceBatch(Immutable):
    """The rows of one step with their masks int32 `[rows, words]`, and the errors of those that
    can't be sampled, by row number."""

    rows: Sequence[SampleRow]
    words: Tensor
    failures: dict[int, GenerationError] = field(default_factory=dict[int, GenerationError])


Processor = Callable[[Tensor, ReferenceBatch], None]


def logit_bias(logits: Tensor, batch: ReferenceBatch) -> None:
    """Add the client's bias to the logits it names."""
    entries = [
        (number, token, bias)
        for number, row in enumerate(batch.rows)
        for token, bias in row.params.logit_bias.items()
    ]
    if entries:
        rows, tokens, biases = zip(*entries, strict=True)
        logits[torch.tensor(rows), torch.tensor(tokens)] += torch.tensor(biases)


def repetition_penalty(logits: Tensor, batch: ReferenceBatch) -> None:
    """Divide positive and multiply negative logits of tokens in prompt or output (CTRL,
    arXiv 1909.05858)."""
    for number, row in enumerate(batch.rows):
        if row.params.repetition_penalty != 1.0:
            tokens = torch.from_numpy(np.unique(np.asarray(row.tokens, np.int64)))
            multiplier = torch.full((len(tokens),), row.params.repetition_penalty)
            _penalise(logits, number, tokens, multiplier, torch.zeros(len(tokens)))


def presence_penalty(logits: Tensor, batch: ReferenceBatch) -> None:
    """Subtract once for every token in the output."""
    for number, row in enumerate(batch.rows):
        if row.params.presence_penalty and row.output:
            tokens = torch.from_numpy(np.unique(np.asarray(row.output, np.int64)))
            shift = torch.full((len(tokens),), row.params.presence_penalty)
            _penalise(logits, number, tokens, torch.ones(len(tokens)), shift)


def frequency_penalty(logits: Tensor, batch: ReferenceBatch) -> None:
    """Subtract for every time a token is in the output."""
    for number, row in enumerate(batch.rows):
        if row.params.frequency_penalty and row.output:
            tokens, counts = np.unique(np.asarray(row.output, np.int64), return_counts=True)
            shift = torch.from_numpy(counts).float() * row.params.frequency_penalty
            _penalise(logits, number, torch.from_numpy(tokens), torch.ones(len(tokens)), shift)


def no_repeat_ngrams(logits: Tensor, batch: ReferenceBatch) -> None:
    """Forbid a token that would end an n-gram already in prompt or output."""
    for number, row in enumerate(batch.rows):
        _forbid(logits, number, ngram_ends(row))


def allowed_tokens(logits: Tensor, batch: ReferenceBatch) -> None:
    """Forbid every token that is not among the allowed ones."""
    for number, row in enumerate(batch.rows):
        if row.params.allowed_tokens is not None:
            tokens = torch.tensor(row.params.allowed_tokens)
            kept = logits[number, tokens]
            logits[number] = float("-inf")
            logits[number, tokens] = kept


def bad_words(logits: Tensor, batch: ReferenceBatch) -> None:
    """Forbid a token that would end a bad word, given as tokens or as text."""
    for number, row in enumerate(batch.rows):
        _forbid(logits, number, bad_word_ends(row))


def mask_rows(logits: Tensor, batch: ReferenceBatch) -> None:
    """Forbid the tokens that a row's mask doesn't allow: that of its grammar or, without one, of
    the vocabulary."""
    apply_mask(logits, batch.words)


def min_tokens(logits: Tensor, batch: ReferenceBatch) -> None:
    """Forbid tokens that end the answer before `min_tokens`, and end tokens with `ignore_eos`. They
    stay where nothing else is left: the end of a grammar takes precedence."""
    entries = [
        (number, token) for number, row in enumerate(batch.rows) for token in withheld_ends(row)
    ]
    if not entries:
        return
    rows, tokens = torch.tensor(entries).unbind(dim=1)
    before = logits[rows, tokens]
    logits[rows, tokens] = float("-inf")
    numbers = rows.unique()
    left = logits[numbers].amax(dim=-1) > float("-inf")
    for number in numbers[~left].tolist():
        mine = rows == number
        logits[number, tokens[mine]] = before[mine]


def require_support(logits: Tensor, batch: ReferenceBatch) -> None:
    """Fail rows without an allowed token, or with logits that are not finite. Their logits are set
    to 0, so that later processors see finite numbers."""
    peak = logits.amax(dim=-1)
    for number in torch.nonzero(~peak.isfinite()).flatten().tolist():
        empty = bool(peak[number] == float("-inf"))
        batch.failures[number] = no_token(EMPTY if empty else NOT_FINITE)
        logits[number] = 0.0


def temperature(logits: Tensor, batch: ReferenceBatch) -> None:
    """Divide by the temperature, with the highest logit moved to 0 so that nothing overflows."""
    rows = _drawn(batch, lambda params: True)
    if rows:
        chosen = logits if len(rows) == len(logits) else logits[rows]
        divisors = torch.tensor([divisor(batch.rows[number].params) for number in rows])
        chosen.sub_(chosen.amax(dim=-1, keepdim=True)).div_(divisors[:, None])
        if chosen is not logits:
            logits[rows] = chosen


def top_k(logits: Tensor, batch: ReferenceBatch) -> None:
    """Keep the k highest logits; ties with the last stay."""
    rows = _drawn(batch, lambda params: params.top_k > 0)
    if rows:
        counts = torch.tensor([batch.rows[number].params.top_k for number in rows])
        _truncate(logits, rows, top_k_threshold(logits[rows], counts))


def top_p(logits: Tensor, batch: ReferenceBatch) -> None:
    """Keep the nucleus of what top-k left, renormalised; ties with the last stay."""
    rows = _drawn(batch, lambda params: params.top_p < 1.0)
    if rows:
        shares = [batch.rows[number].params.top_p for number in rows]
        thresholds = top_p_threshold(logits[rows], torch.tensor(shares, dtype=torch.float64))
        _truncate(logits, rows, thresholds)


def min_p(logits: Tensor, batch: ReferenceBatch) -> None:
    """Keep tokens at least this fraction as likely as the likeliest (arXiv 2407.01082)."""
    rows = _drawn(batch, lambda params: params.min_p > 0.0)
    if rows:
        shares = [batch.rows[number].params.min_p for number in rows]
        thresholds = min_p_threshold(logits[rows], torch.tensor(shares, dtype=torch.float64))
        _truncate(logits, rows, thresholds)


_PROCESSORS: dict[str, Processor] = {
    processor.__name__: processor
    for processor in (
        *(logit_bias, repetition_penalty, presence_penalty, frequency_penalty),
        *(no_repeat_ngrams, bad_words, allowed_tokens, mask_rows, min_tokens),
        *(require_support, temperature, top_k, top_p, min_p),
    )
}

CHAIN: tuple[Processor, ...] = tuple(_PROCESSORS[name] for name in ORDER)
"""The processors in the order that the kernels for GPUs have too. Masks come before any truncation,
because otherwise top-k could keep forbidden tokens only."""


def run_chain(logits: Tensor, batch: ReferenceBatch) -> None:
    """Apply every processor in order; `logits` are changed in place."""
    for processor in CHAIN:
        processor(logits, batch)


def sample_by_chain(logits: Tensor, batch: ReferenceBatch) -> list[int | GenerationError]:
    """Run the chain, and draw a token for each row from what it leaves, or the row's error.
    `logits` are changed in place."""
    run_chain(logits, batch)
    drawn = np.empty(len(batch.rows), np.int64)
    draw_rows(
        logits.numpy(),
        np.full(batch.words.shape, -1, np.int32),
        np.array([0 if row.params.greedy else 1 for row in batch.rows], np.float32),
        np.zeros(len(drawn), np.int64),
        np.ones(len(drawn)),
        np.zeros(len(drawn)),
        np.array([row.seed for row in batch.rows], np.uint64),
        np.array([len(row.tokens) for row in batch.rows], np.uint64),
        drawn,
    )
    return [batch.failures.get(number, token) for number, token in enumerate(drawn.tolist())]


def ngram_ends(row: SampleRow) -> NDArray[np.int64]:
    """Return the tokens that would end an n-gram already in prompt or output."""
    size = row.params.no_repeat_ngram
    if not 0 < size <= len(row.tokens):
        return np.zeros(0, np.int64)
    tokens = np.asarray(row.tokens, np.int64)
    grams = np.lib.stride_tricks.sliding_window_view(tokens, size)
    begun = (grams[:, :-1] == tokens[len(tokens) - size + 1 :]).all(axis=1)
    return grams[begun, -1]


def bad_word_ends(row: SampleRow) -> NDArray[np.int64]:
    """Return the tokens that would end a bad word, given as tokens or as text."""
    ends = [
        word[-1]
        for word in row.params.bad_words
        if tuple(row.tokens[len(row.tokens) - len(word) + 1 :]) == word[:-1]
    ]
    if row.params.banned is None:
        return np.asarray(ends, np.int64)
    return np.concatenate((np.asarray(ends, np.int64), row.params.banned.tokens(row.output)))


def withheld_ends(row: SampleRow) -> frozenset[int]:
    """Return the tokens that end the answer and may not be chosen yet."""
    if len(row.tokens) - row.prompt_length < row.params.min_tokens:
        return row.eos | row.stop_tokens
    return row.eos if row.params.ignore_eos else frozenset()


def _drawn(batch: ReferenceBatch, wanted: Callable[[SamplingParams], bool]) -> list[int]:
    """Numbers of the rows that are not greedy and whose parameters are `wanted`."""
    return [
        number
        for number, row in enumerate(batch.rows)
        if not row.params.greedy and wanted(row.params)
    ]


def _penalise(
    logits: Tensor, number: int, tokens: Tensor, multiplier: Tensor, shift: Tensor
) -> None:
    apply_penalties(logits, torch.full_like(tokens, number), tokens, multiplier, shift)


def _forbid(logits: Tensor, number: int, tokens: NDArray[np.int64]) -> None:
    if len(tokens):
        logits[number, torch.from_numpy(tokens)] = float("-inf")


def _truncate(logits: Tensor, rows: list[int], thresholds: Tensor) -> None:
    chosen = logits[rows]
    keep_at_least(chosen, thresholds)
    logits[rows] = chosen
