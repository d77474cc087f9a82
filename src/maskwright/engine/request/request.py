"""The request of a client, and the deltas and completion that it receives."""

from __future__ import annotations

import enum
from collections.abc import Sequence
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
        if not self.prompt:
            raise InputError("The prompt is empty; at least one token is needed.", param="prompt")
        if self.max_tokens < 1:
            raise InputError(
                f"max_tokens is {self.max_tokens}; it must be at least 1.", param="max_tokens"
            )
        if not all(self.stop):
            raise InputError("stop holds an empty string.", param="stop")
        if self.params.min_tokens > self.max_tokens:
            raise InputError(
                f"min_tokens is {self.params.min_tokens}, but max_tokens is {self.max_tokens}.",
                param="min_tokens",
            )
        if self.grammar is not None and self.eos is not None:
            raise InputError(
                "eos can't be given together with a grammar, which has the vocabulary's.",
                param="eos",
            )
        if len(self.begun) > self.max_tokens:
            raise InputError(
                f"The output begins with {len(self.begun)} tokens, but max_tokens is "
                f"{self.max_tokens}.",
                param="begun",
            )
        if self.shortened_at is not None and not 0 <= self.shortened_at < len(self.begun):
            raise InputError(
                f"shortened_at is {self.shortened_at}, which is no place in the {len(self.begun)} "
                "tokens of begun.",
                param="shortened_at",
            )
        if self.begun and self.params.logprobs is not None:
            raise InputError(
                "Tokens that are given have no scores; logprobs need an output that is generated "
                "from its beginning.",
                param="begun",
            )
        if self.trace and self.params.logprobs is None:
            raise InputError(
                "trace adds to scores, so it needs params with logprobs.", param="trace"
            )
        if self.prompt_logprobs is not None and not 0 <= self.prompt_logprobs <= MOST_LOGPROBS:
            raise InputError(
                f"prompt_logprobs is {self.prompt_logprobs}; it must be from 0 to {MOST_LOGPROBS}.",
                param="prompt_logprobs",
            )
        if self.timeout is not None and not self.timeout > 0:
            raise InputError(
                f"timeout is {self.timeout}; it must be a number of seconds above 0.",
                param="timeout",
            )


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
