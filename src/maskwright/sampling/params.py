"""The sampling parameters of a request, and strings that must not occur in an answer, however it is
cut into tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from maskwright.errors import InputError

Ids = NDArray[np.int64]


class TextBan:
    """Says which tokens would complete one of some byte strings. Immutable.

    A token completes a string if it contains the whole of it, or if the text so far ends with a
    beginning of the string and the token begins with the rest.
    """

    def __init__(self, words: Sequence[bytes], texts: tuple[bytes, ...]) -> None:
        """`words`: the strings, none of them empty. `texts`: the vocabulary's tokens."""
        self.words = tuple(words)
        self._texts = texts
        self._longest = max(map(len, words), default=1) - 1
        within = [np.fromiter(_containing(word, texts), np.int64) for word in words]
        self._containing = np.unique(np.concatenate(within)) if within else np.zeros(0, np.int64)

    def tokens(self, output: Sequence[int], begin: int = 0) -> Ids:
        """Return the ids of tokens that may not follow `output`, which counts from `begin` on; an
        id may occur twice."""
        tail = self._tail(output, begin)
        rests = [
            word[length:]
            for word in self.words
            for length in range(1, len(word))
            if tail.endswith(word[:length])
        ]
        begun = [_beginning(rest, self._texts) for rest in rests]
        return np.concatenate((self._containing, *begun))

    def _tail(self, output: Sequence[int], begin: int) -> bytes:
        """Return the end of the text so far, at least as long as the longest beginning."""
        tail, at = b"", len(output)
        while at > begin and len(tail) < self._longest:
            at -= 1
            tail = self._texts[output[at]] + tail
        return tail


def _containing(word: bytes, texts: tuple[bytes, ...]) -> Iterator[int]:
    """Yield the tokens that contain `word`."""
    joined, ends = _joined(texts)
    at = joined.find(word)
    while at >= 0:
        token = int(np.searchsorted(ends, at, side="right"))
        if at + len(word) <= ends[token]:
            yield token
            at = joined.find(word, int(ends[token]))
        else:
            at = joined.find(word, at + 1)


def _beginning(rest: bytes, texts: tuple[bytes, ...]) -> Ids:
    """Return the tokens that begin with `rest`."""
    ordered, ids = _ordered(texts)
    first = bisect_left(ordered, rest)
    after = bisect_left(ordered, True, first, key=lambda text: not text.startswith(rest))
    return ids[first:after]


@lru_cache(maxsize=2)
def _joined(texts: tuple[bytes, ...]) -> tuple[bytes, Ids]:
    """Return all texts, one after the other, and where each one ends."""
    return b"".join(texts), np.cumsum([len(text) for text in texts], dtype=np.int64)


@lru_cache(maxsize=2)
def _ordered(texts: tuple[bytes, ...]) -> tuple[list[bytes], Ids]:
    """Return the texts in order, and their tokens."""
    ids = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    return [texts[token] for token in ids.tolist()], ids


MOST_LOGPROBS = 20
"""Upper bound on the alternatives that can be asked for at each token."""

Scale: TypeAlias = Literal["raw", "masked"]
"""Which probability: the model's own, or the one renormalised over the tokens that the mask
allows."""


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """The sampling parameters of a request. Raises `InputError`, whose `param` is the field's name,
    for an invalid one.

    - `temperature`: 0 selects the most probable token, without randomness.
    - `top_k`, `top_p`, `min_p`: 0, 1 and 0 switch them off.
    - `repetition_penalty`: applies to tokens of prompt and output; 1 is off.
    - `presence_penalty`, `frequency_penalty`: apply to tokens of the output; 0 is off.
    - `logit_bias`: a number to add to the logit of each of some tokens.
    - `bad_words`: sequences of tokens that never occur, also across the end of the prompt.
    - `banned`: strings that never occur in the output, however they are cut into tokens.
    - `allowed_tokens`: the only tokens that may occur; None for all.
    - `min_tokens`: so many tokens are drawn before an end or stop token, unless the grammar allows
      nothing else; stop strings that begin among them are text like any other.
    - `ignore_eos`: end tokens are never drawn, unless the grammar allows nothing else.
    - `no_repeat_ngram`: the length of token sequences that never occur twice in prompt and output;
      0 is off.
    - `seed`: None lets the engine draw one.
    - `logprobs`: return the score of each token with so many alternatives, the most probable ones
      by `scale`; None for no scores.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict[int, float])
    bad_words: tuple[tuple[int, ...], ...] = ()
    banned: TextBan | None = None
    allowed_tokens: tuple[int, ...] | None = None
    min_tokens: int = 0
    ignore_eos: bool = False
    no_repeat_ngram: int = 0
    seed: int | None = None
    logprobs: int | None = None
    scale: Scale = "raw"
    penalised: bool = field(init=False, repr=False, compare=False)
    """Whether a bias or penalties change logits."""
    restricts: bool = field(init=False, repr=False, compare=False)
    """Whether a token may be forbidden that the mask allows."""

    def __post_init__(self) -> None:
        _number("temperature", self.temperature, 0.0, 100.0)
        _integer("top_k", self.top_k, 0, 2**31)
        _number("top_p", self.top_p, 0.0, 1.0)
        _number("min_p", self.min_p, 0.0, 1.0)
        _number("repetition_penalty", self.repetition_penalty, 0.01, 100.0)
        _number("presence_penalty", self.presence_penalty, -2.0, 2.0)
        _number("frequency_penalty", self.frequency_penalty, -2.0, 2.0)
        _integer("no_repeat_ngram", self.no_repeat_ngram, 0, 2**31)
        _integer("min_tokens", self.min_tokens, 0, 2**31)
        if self.seed is not None:
            _integer("seed", self.seed, -(2**63), 2**64 - 1)
        if self.logprobs is not None:
            _integer("logprobs", self.logprobs, 0, MOST_LOGPROBS)
        if self.scale not in get_args(Scale):
            message = f"scale is {self.scale!r}; it must be 'raw' or 'masked'."
            raise InputError(message, param="scale")
        for token, bias in self.logit_bias.items():
            _integer("logit_bias", token, 0, 2**31)
            _number("logit_bias", bias, -100.0, 100.0)
        if self.allowed_tokens is not None:
            if not self.allowed_tokens:
                raise InputError(
                    "allowed_tokens: at least one token must be allowed.", param="allowed_tokens"
                )
            for token in self.allowed_tokens:
                _integer("allowed_tokens", token, 0, 2**31)
        for word in self.bad_words:
            if not word:
                raise InputError(
                    "bad_words: a word must have at least one token.", param="bad_words"
                )
            for token in word:
                _integer("bad_words", token, 0, 2**31)
        penalised = bool(
            self.repetition_penalty != 1.0
            or self.presence_penalty
            or self.frequency_penalty
            or self.logit_bias
        )
        restricts = bool(self.forbids or self.min_tokens or self.ignore_eos)
        object.__setattr__(self, "penalised", penalised)
        object.__setattr__(self, "restricts", restricts)

    @property
    def greedy(self) -> bool:
        """Whether the most probable token is selected, without a draw."""
        return self.temperature == 0

    @property
    def forbids(self) -> bool:
        """Whether a token may be forbidden that the mask allows and that doesn't end the answer."""
        return bool(
            self.bad_words
            or self.banned is not None
            or self.allowed_tokens is not None
            or self.no_repeat_ngram
        )

    def tokens(self) -> frozenset[int]:
        """All token ids in the parameters, which the engine checks against the vocabulary."""
        return frozenset(self.logit_bias).union(self.allowed_tokens or (), *self.bad_words)


def _number(name: str, value: object, low: float, high: float) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
        raise InputError(
            f"{name} is {value!r}; it must be a number from {low:g} to {high:g}.", param=name
        )


def _integer(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InputError(
            f"{name} is {value!r}; it must be an integer from {low} to {high}.", param=name
        )
