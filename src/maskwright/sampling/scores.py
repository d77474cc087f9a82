"""Log-probabilities of sampled tokens: of the model, under the mask, and after the whole chain."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.kernels.reference import allowed_tokens
from maskwright.sampling.params import SamplingParams


@dataclass(frozen=True, slots=True)
class Alternative:
    """A likely alternative to the sampled token. `raw` and `masked` are as in `TokenScore`;
    `masked` is None where the mask forbids the token."""

    token: int
    raw: float
    masked: float | None


@dataclass(frozen=True, slots=True)
class Place:
    """The origin of a mask, for traces. `row`: its number in the vocabulary's table of mask rows;
    near the token limit the mask is a subset of that row. `state`: the state of the grammar. Both
    numbers are valid within one process, and None without a grammar. `canonical`: the token
    belonged to text that the grammar forced, cut as the tokenizer cuts it."""

    row: int | None
    state: tuple[int, ...] | None
    canonical: bool = False


NOWHERE = Place(None, None)
CANONICAL = Place(None, None, canonical=True)


@dataclass(frozen=True, slots=True)
class TokenScore:
    """Log-probabilities (natural logarithms) of one sampled token.

    `raw`: of the model, before the chain. `masked`: given that the mask allows the token. `kept`:
    the probability of all tokens that the mask allows, so that `masked = raw - log(kept)`.
    `processed`: after the whole chain, with which it was drawn among `support` tokens (0 if
    greedy). `allowed`: the number of tokens that the mask allows. `top`: the likeliest tokens, as
    many as were asked for, by `raw` or by `masked`; by `masked`, only allowed ones. `forced`: the
    mask allowed no other token. `mask`: a digest of the mask's bits in hexadecimal. `place`: the
    origin of the mask, if the request is traced.
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
    """The score of `token`. `raw`, `processed`: its row of logits before and after the chain,
    float32 `[vocab]`. `words` int32 `[words]`: its mask. `params.logprobs` must not be None."""
    shares = torch.log_softmax(raw.double(), dim=-1)
    mask = allowed_tokens(words[None], len(raw))[0]
    log_kept = float(torch.logsumexp(shares[mask], dim=-1))
    after, greedy = processed.double(), params.greedy
    allowed = int(mask.sum())
    tokens = None if params.scale == "raw" else mask.nonzero()[:, 0]
    highest = _find_likeliest_of_row(raw, tokens, params.logprobs or 0)
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
        mask=mask_digest(words.numpy()),
    )


def _find_likeliest_of_row(logits: Tensor, tokens: Tensor | None, count: int) -> list[int]:
    """Return what `find_likeliest` does for one row `[vocab]` on the CPU, where it is cheaper to
    sort only what is at least as high as the last. `tokens`, ascending: those to choose among, or
    None for all; there may be fewer than `count`."""
    among = logits if tokens is None else logits[tokens]
    if not (count := min(count, len(among))):
        return []
    last = among.topk(count).values[-1]
    high = (~(among < last)).nonzero()[:, 0]
    chosen = high[among[high].argsort(descending=True, stable=True)[:count]]
    return (chosen if tokens is None else tokens[chosen]).tolist()


def find_likeliest(logits: Tensor, count: int, first: Tensor | None = None) -> Tensor:
    """Return the `count` tokens with the highest of `logits` float32 `[rows, vocab]`, int64
    `[rows, count]`, highest first; of equal ones the lowest token comes first, on every device.
    Tokens that `first` bool `[rows, vocab]` doesn't name come after all others, lowest first."""
    if not count:
        return torch.empty(len(logits), 0, dtype=torch.int64, device=logits.device)
    # Zero is added so that negative zero has the bits of zero.
    bits = (logits.float() + 0.0).view(torch.int32)
    in_order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    vocab_size = logits.shape[1]
    places = torch.arange(vocab_size - 1, -1, -1, device=logits.device)
    # Keys are distinct, and those of numbers are far above the least that int64 has.
    keys = (in_order.long() << 32) + places
    if first is not None:
        keys = keys.where(first, places + torch.iinfo(torch.int64).min)
    return keys.topk(count, dim=-1).indices


def mask_digest(words: NDArray[np.int32]) -> str:
    """Return the digest of a mask's bits in hexadecimal."""
    return hashlib.blake2b(words.tobytes(), digest_size=8).hexdigest()
