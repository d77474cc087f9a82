"""How likely a chosen token was: to the model, under its mask, and after the whole chain."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from maskwright.kernels.reference import allowed_tokens
from maskwright.sampling.params import SamplingParams


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that could have come. `raw` and `masked` as in `TokenScore`; `masked` is None where
    the mask forbids it."""

    token: int
    raw: float
    masked: float | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mask came from. `row`: its number in the vocabulary's table of rows; near the token
    limit the mask is a part of that row. `state`: where the text stood in its grammar. Both are
    numbers of one process; None without a grammar. `canonical`: the grammar left one text, of which
    this was the next token as the tokenizer cuts it."""

    row: int | None
    state: tuple[int, ...] | None
    canonical: bool = False


NOWHERE = Place(None, None)
CANONICAL = Place(None, None, canonical=True)


@dataclass(frozen=True, slots=True)
class TokenScore:
    """Natural logarithms of probabilities of one sampled token.

    `raw`: as the model has it, before the chain. `masked`: the same, given that the token is one
    that the mask allows; `kept` is the share of probability that the mask allows, so that
    `masked = raw - log(kept)`. `processed`: after the whole chain, as it was drawn (0 if greedy),
    among `support` tokens. `allowed` counts the tokens of the mask. `top`: the likeliest tokens, as
    many as were asked for, by `raw` or, if asked so, by `masked`; then all are allowed ones.
    `forced`: the grammar left no choice. `mask` is a digest of the mask's bits, hexadecimal.
    `place`: where it came from, if the request is traced.
    """

    token: int
    raw: float
    masked: float
    kept: float
    processed: float
    support: int
    allowed: int
    top: tuple[Alternative, ...]
    forced: bool
    mask: str
    place: Place | None = None


def score(
    raw: Tensor, words: Tensor, processed: Tensor, token: int, params: SamplingParams
) -> TokenScore:
    """The score of `token`, from its row of logits before the chain and after it, float32
    `[vocab]`, and its mask `words`; `params` have `logprobs`."""
    shares = torch.log_softmax(raw.double(), dim=-1)
    mask = allowed_tokens(words[None], len(raw))[0]
    log_kept = float(torch.logsumexp(shares[mask], dim=-1))
    after, greedy = processed.double(), params.greedy
    allowed = int(mask.sum())
    ranked = shares if params.scale == "raw" else shares.masked_fill(~mask, float("-inf"))
    top = min(params.logprobs or 0, len(raw) if params.scale == "raw" else allowed)
    highest = ranked.topk(top).indices.tolist()
    return TokenScore(
        token=token,
        raw=float(shares[token]),
        masked=float(shares[token]) - log_kept,
        kept=math.exp(min(0.0, log_kept)),
        processed=0.0 if greedy else float(torch.log_softmax(after, dim=-1)[token]),
        support=1 if greedy else int(after.isfinite().sum()),
        allowed=allowed,
        top=tuple(
            Alternative(
                other,
                float(shares[other]),
                float(shares[other]) - log_kept if bool(mask[other]) else None,
            )
            for other in highest
        ),
        forced=allowed == 1,
        mask=hashlib.blake2b(words.numpy().tobytes(), digest_size=8).hexdigest(),
    )
