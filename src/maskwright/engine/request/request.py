"""The request of a client, and the deltas and completion that it receives."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from maskwright.errors import InputError
from maskwright.mask import Grammar
from maskwright.sampling import SamplingParams, TokenScore


class FinishReason(enum.StrEnum):
    """Why a generation ended: STOP is an end token, GRAMMAR a text to which its grammar allows
    nothing more (or which it accepts at the token limit), LENGTH the token limit, STOP_STRING one
    of the request's own strings, TIMEOUT its time limit, or that of a reader who took nothing."""

    STOP = "stop"
    STOP_STRING = "stop_string"
    GRAMMAR = "grammar_complete"
    LENGTH = "length"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt and how to go on from it.

    `prompt`: token ids. `max_tokens`: most tokens to generate, an end token included. `stop`:
    strings that end the text and are not part of it. `grammar`: the output always has its shape.
    `eos`: tokens that end an answer, None for the model's; with a grammar they are the
    vocabulary's and can't be given. A `grammar` may be one that is still being compiled; the
    request then waits in its place without delaying others.

    `service` names the class, `client` whom fairness counts the request for, `timeout` the seconds
    from submission after which it ends with what it has. Prompts share cached prefixes with those
    of the same `cache_salt` only. `trace`: scores say which mask each token was drawn under, too.
    `adapter` names one of the engine's; None: the model as it is.
    """

    prompt: Sequence[int]
    params: SamplingParams
    max_tokens: int
    stop: tuple[str, ...] = ()
    grammar: Grammar | Future[Grammar] | None = None
    eos: tuple[int, ...] | None = None
    service: str = "interactive"
    client: str = ""
    timeout: float | None = None
    cache_salt: str = ""
    adapter: str | None = None
    trace: bool = False

    def __post_init__(self) -> None:
        if not self.prompt:
            raise InputError("The prompt is empty; at least one token is needed.", param="prompt")
        if self.max_tokens < 1:
            raise InputError(
                f"max_tokens is {self.max_tokens}; it must be at least 1.", param="max_tokens"
            )
        if not all(self.stop):
            raise InputError("stop holds an empty string.", param="stop")
        if self.grammar is not None and self.eos is not None:
            raise InputError("eos can't be given beside a grammar.", param="eos")
        if self.trace and self.params.logprobs is None:
            raise InputError("trace is of scores; it needs params with logprobs.", param="trace")
        if self.timeout is not None and not self.timeout > 0:
            raise InputError(
                f"timeout is {self.timeout}; it must be a number of seconds above 0.",
                param="timeout",
            )


@dataclass(frozen=True, slots=True)
class Delta:
    """What is new since the previous delta. `text` is final and never taken back. `token_ids` may
    be ahead of the text while a part of it is held back. `error` is set only with
    `FinishReason.ERROR`. `scores`: one for each of `token_ids`, if the request asks for them."""

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason | None = None
    error: Exception | None = None
    scores: tuple[TokenScore, ...] = ()

    def __add__(self, later: Delta) -> Delta:
        return Delta(
            self.text + later.text,
            self.token_ids + later.token_ids,
            later.finish_reason,
            later.error,
            self.scores + later.scores,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole generation. `token_ids` are all that were sampled, an end token included."""

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    prompt_tokens: int
    scores: tuple[TokenScore, ...] = ()

    @property
    def completion_tokens(self) -> int:
        """Tokens sampled."""
        return len(self.token_ids)
