"""Log-probabilities of sampled tokens: of the model, under the mask, and after the whole chain; and
of a prompt's own tokens, as the model gives them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from msgspec.structs import astuple
from numpy.typing import NDArray
from torch import Tensor

from maskwright.immutable import Acyclic, Immutable
from maskwright.kernels.device import upload
from maskwright.sampling.params import SamplingParams
from maskwright.sampling.shares import measure


class Alternative(Acyclic):
    """A likely alternative to the sampled token. `raw` and `masked` are as in `TokenScore`;
    `masked` is None where the mask forbids the token."""

    token: int
    raw: float
    masked: float | None


class Place(Acyclic):
    """The origin of a mask, for traces. `row`: its number in the vocabulary's table of mask rows;
    near the token limit the mask is a subset of that row. `state`: the state of the grammar. Both
    numbers are valid within one process, and None without a grammar. `canonical`: the token
    belonged to text that the grammar forced, cut as the tokenizer cuts it."""

    row: int | None
    state: tuple[int, ...] | None
    canonical: bool = False


NOWHERE = Place(None, None)
CANONICAL = Place(None, None, canonical=True)


class TokenScore(Acyclic):
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
    raw: NDArray[np.float32],
    words: NDArray[np.int32],
    token: int,
    processed: float,
    support: int,
    params: SamplingParams,
) -> TokenScore:
    """The score of `token`, which was drawn with the log-probability `processed` among `support`
    tokens. `raw` float32 `[vocab]`: the logits before the chain. `words` int32 `[words]`: the
    mask. `params.logprobs` must not be None."""
    most, only_allowed = params.logprobs or 0, params.scale == "masked"
    found = measure(raw, words, token, most, only_allowed=only_allowed)
    return TokenScore(
        token=token,
        raw=found.share,
        masked=found.share - found.kept,
        kept=math.exp(min(0.0, found.kept)),
        processed=processed,
        support=support,
        allowed=found.allowed,
        top=tuple(
            Alternative(other, share, share - found.kept if is_allowed else None)
            for other, share, is_allowed in found.likeliest
        ),
        forced=found.allowed == 1,
        mask=mask_digest(words),
    )


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
    # Keys are distinct, and keys of numbers are far above the least int64.
    keys = (in_order.long() << 32) + places
    if first is not None:
        keys = keys.where(first, places + torch.iinfo(torch.int64).min)
    return keys.topk(count, dim=-1).indices


def mask_digest(words: NDArray[np.int32]) -> str:
    """Return the digest of a mask's bits in hexadecimal."""
    return hashlib.blake2b(words.tobytes(), digest_size=8).hexdigest()


ROWS_AT_A_TIME = 16
"""Rows of logits that are turned into float64 together, which bounds the memory for it."""


class PromptToken(Acyclic):
    """The log-probability (natural logarithm) of one token of a prompt given those before it.

    `rank`: 1 for the likeliest token of the vocabulary. `top`: the likeliest tokens and their
    log-probabilities, likeliest first."""

    token: int
    logprob: float
    rank: int
    top: tuple[tuple[int, float], ...]


class PromptScores(Immutable):
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


@torch.inference_mode()
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
    return PromptScores(*map(np.concatenate, zip(*map(astuple, parts), strict=True)))
