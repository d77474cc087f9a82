"""The request of a client, and the deltas and completion that it receives."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import chain

from maskwright.errors import InputError
from maskwright.mask import CompiledGrammar
from maskwright.sampling import MOST_LOGPROBS, SamplingParams, TokenScore


class FinishReason(enum.StrEnum):
    """Why a generation ended: STOP is an end token, GRAMMAR a text to which its grammar allows
    nothing more, LENGTH the token limit, which has cut the text or changed a token of it (see
    `Delta.shortened_at`), STOP_STRING one of the request's own strings, STOP_TOKEN one of its own
    tokens, TIMEOUT its time limit, or that of a reader who took nothing."""

    STOP = "stop"
    STOP_STRING = "stop_string"
    STOP_TOKEN = "stop_token"
    GRAMMAR = "grammar_complete"
    LENGTH = "length"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    ERROR = "error"


COMPLETE = frozenset(
    {
        FinishReason.STOP,
        FinishReason.STOP_STRING,
        FinishReason.STOP_TOKEN,
        FinishReason.GRAMMAR,
        FinishReason.LENGTH,
    }
)
"""Finish reasons of answers that came to their own end."""


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt, and how to continue it.

    - `prompt`: token ids.
    - `max_tokens`: most tokens to generate, an end token included.
    - `stop`: strings that end the text and are not part of it.
    - `stop_tokens`: tokens that end the output, in addition to `eos`, and whose text is not part of
      it. As strings do, they count after `params.min_tokens` tokens.
    - `include_stop`: the stop string or the text of the stop token is part of the text.
    - `grammar`: the shape of the output. A grammar that is still being compiled can be given as a
      future; the request then waits for it without delaying others.
    - `eos`: tokens that end the answer; None for the model's. With a grammar they are the
      vocabulary's, and can't be given.
    - `service`: the name of the class of service.
    - `client`: the user whose fair share of the engine the request counts towards.
    - `timeout`: seconds after submission at which the request ends, with the text that it has then.
    - `cache_salt`: only requests with equal salts share cached prefixes.
    - `adapter`: the name of one of the engine's adapters; None for none.
    - `trace`: let scores identify the mask under which each token was drawn.
    - `begun`: tokens with which the output begins, drawn by another engine that served this request
      before. They are computed like a prompt, and the output continues as it would have there.
    - `cuts`: numbers of output tokens, ascending. After each of them a delta ends, which is not
      joined with others, so that a reader gets the beginning in the pieces in which it was
      delivered before. Up to the last of them no other deltas are published.
    - `shortened_at`: which of the tokens of `begun`, counted from 0, is the first that the token
      limit has changed (see `Delta.shortened_at`); None if all are as without the limit.
    - `length_if_shortened`: the finish reason of an answer that the token limit has shortened is
      LENGTH. If False, an answer whose text is whole has the reason with which its text ended:
      GRAMMAR also where the grammar accepts the text at the limit.
    - `prompt_logprobs`: return the log-probabilities of the prompt's own tokens
      (`Generation.prompt_scores`), each with so many of the likeliest tokens at its place. The
      whole prompt is then computed, whatever is cached.
    """

    prompt: Sequence[int]
    params: SamplingParams
    max_tokens: int
    stop: tuple[str, ...] = ()
    stop_tokens: tuple[int, ...] = ()
    include_stop: bool = False
    grammar: CompiledGrammar | Future[CompiledGrammar] | None = None
    eos: tuple[int, ...] | None = None
    service: str = "interactive"
    client: str = ""
    timeout: float | None = None
    cache_salt: str = ""
    adapter: str | None = None
    trace: bool = False
    begun: tuple[int, ...] = ()
    shortened_at: int | None = None
    length_if_shortened: bool = True
    cuts: tuple[int, ...] = ()
    prompt_logprobs: int | None = None

    def going_on(self, begun: tuple[int, ...], shortened_at: int | None) -> Request:
        """The request whose output begins with `begun`; `shortened_at`: the first token that the
        token limit has changed so far, which may come after these."""
        if shortened_at is not None and shortened_at >= len(begun):
            shortened_at = None
        return replace(self, begun=begun, shortened_at=shortened_at)

    def __post_init__(self) -> None:
        wrong = next(self._faults(), None)
        if wrong is not None:
            param, message = wrong
            raise InputError(message, param=param)

    def _faults(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong: a field, and what to say of it."""
        least, most, begun = self.params.min_tokens, self.max_tokens, len(self.begun)
        at, scores, seconds = self.shortened_at, self.prompt_logprobs, self.timeout
        if not self.prompt:
            yield "prompt", "The prompt is empty; at least one token is needed."
        if most < 1:
            yield "max_tokens", f"max_tokens is {most}; it must be at least 1."
        if not all(self.stop):
            yield "stop", "stop holds an empty string."
        if least > most:
            yield "min_tokens", f"min_tokens is {least}, but max_tokens is {most}."
        if self.grammar is not None and self.eos is not None:
            yield "eos", "eos can't be given together with a grammar, which has the vocabulary's."
        if begun > most:
            yield "begun", f"The output begins with {begun} tokens, but max_tokens is {most}."
        if at is not None and not 0 <= at < begun:
            place = f"which is no place in the {begun} tokens of begun"
            yield "shortened_at", f"shortened_at is {at}, {place}."
        if begun and self.params.logprobs is not None:
            need = "logprobs need an output that is generated from its beginning"
            yield "begun", f"Tokens that are given have no scores; {need}."
        if self.trace and self.params.logprobs is None:
            yield "trace", "trace adds to scores, so it needs params with logprobs."
        if scores is not None and not 0 <= scores <= MOST_LOGPROBS:
            wanted = f"it must be from 0 to {MOST_LOGPROBS}"
            yield "prompt_logprobs", f"prompt_logprobs is {scores}; {wanted}."
        if seconds is not None and not seconds > 0:
            yield "timeout", f"timeout is {seconds}; it must be a number of seconds above 0."


@dataclass(slots=True)
class Delta:
    """The output since the previous delta. `text` is final and never taken back. `token_ids` may
    be ahead of the text while a part of it is held back. `error` is set only with
    `FinishReason.ERROR`. `scores`: one for each of `token_ids`, if the request asks for them.
    `stop`: the stop string or stop token that ended the output.

    `shortened_at`: the number of the first output token, counted from 0, that the token limit has
    changed: without a limit, another one would be in its place. Where the limit has only cut the
    output, this is the number of its tokens. None if nothing is changed so far.

    Nobody changes a delta; it is made for each token, and not frozen because that takes four times
    as long."""

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason | None = None
    error: Exception | None = None
    scores: tuple[TokenScore, ...] = ()
    stop: str | int | None = None
    shortened_at: int | None = None

    @classmethod
    def join(cls, deltas: Sequence[Delta]) -> Delta:
        """Return one delta of the output of `deltas`, at least one."""
        last = deltas[-1]
        if len(deltas) == 1:
            return last
        return cls(
            "".join([delta.text for delta in deltas]),
            tuple(chain.from_iterable([delta.token_ids for delta in deltas])),
            last.finish_reason,
            last.error,
            tuple(chain.from_iterable([delta.scores for delta in deltas])),
            last.stop,
            last.shortened_at,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """The whole output of a request. `token_ids` include the end token. `stop`: the stop string or
    stop token that ended it. `shortened_at`: as in `Delta`."""

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    prompt_tokens: int
    scores: tuple[TokenScore, ...] = ()
    stop: str | int | None = None
    shortened_at: int | None = None

    @property
    def completion_tokens(self) -> int:
        """The number of tokens generated."""
        return len(self.token_ids)
