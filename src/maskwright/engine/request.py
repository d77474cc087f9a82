"""What a client asks of the engine, and what it gets."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from maskwright.errors import InputError
from maskwright.mask import Grammar
from maskwright.sampling import SamplingParams


class FinishReason(enum.StrEnum):
    """Why a generation ended: STOP is an end token or a complete grammar, LENGTH the token limit,
    STOP_STRING one of the request's own strings."""

    STOP = "stop"
    STOP_STRING = "stop_string"
    LENGTH = "length"
    CANCELLED = "cancelled"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt and how to go on from it.

    `prompt`: token ids. `max_tokens`: most tokens to generate, an end token included. `stop`:
    strings that end the text and are not part of it. `grammar`: the output always has its shape.
    `eos`: tokens that end an answer, None for the model's; with a grammar they are the
    vocabulary's and can't be given.
    """

    prompt: Sequence[int]
    params: SamplingParams
    max_tokens: int
    stop: tuple[str, ...] = ()
    grammar: Grammar | None = None
    eos: tuple[int, ...] | None = None

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


@dataclass(frozen=True, slots=True)
class Delta:
    """What is new since the delta before. `text` is final: never taken back. `token_ids` may be
    ahead of the text while a part of it is held back. `error` only with FinishReason.ERROR."""

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason | None = None
    error: Exception | None = None

    def __add__(self, later: Delta) -> Delta:
        return Delta(
            self.text + later.text,
            self.token_ids + later.token_ids,
            later.finish_reason,
            later.error,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole generation. `token_ids` are all that were sampled, an end token included."""

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    prompt_tokens: int

    @property
    def completion_tokens(self) -> int:
        """Tokens sampled."""
        return len(self.token_ids)
