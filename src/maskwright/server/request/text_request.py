"""Reads the body of POST /v1/completions: texts or token ids that are continued as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from maskwright.errors import InputError
from maskwright.sampling import MOST_LOGPROBS
from maskwright.server.request.answer_request import (
    AnswerRequest,
    Prompt,
    TextPrompt,
    TokenLimit,
    TokenPrompt,
)
from maskwright.server.request.fields import Fields, invalid, missing, token_id
from maskwright.server.request.refusals import refuse_unsupported
from maskwright.server.request.sampling_fields import (
    MAX_CHOICES,
    MAX_TOKENS,
    SAMPLING_FIELDS,
    TOKEN_FIELDS,
    read_limit,
    read_options,
    read_reply,
    read_token_reply,
)
from maskwright.server.request.shape import FIELDS, parse_shape

DEFAULT_TOKENS: Final = 16
MAX_TOKEN_ID: Final = (1 << 31) - 1

OBEYED = (
    FIELDS
    | SAMPLING_FIELDS
    | TOKEN_FIELDS
    | frozenset(
        {
            "add_special_tokens",
            "best_of",
            "echo",
            "logprobs",
            "max_completion_tokens",
            "max_tokens",
            "model",
            "prompt",
            "stream",
            "stream_options",
        }
    )
)

REFUSED: Mapping[str, tuple[object, ...]] = {
    "function_call": ("none", "auto"),
    "functions": ([],),
    "add_generation_prompt": (True,),
    "chat_template_kwargs": ({},),
    "continue_final_message": (False,),
    "documents": ([],),
    "include_reasoning": (True,),
    "messages": (),
    "parallel_tool_calls": (True, False),
    "reasoning_effort": (),
    "suffix": ("",),
    "tool_choice": ("none",),
    "tools": ([],),
    "top_logprobs": (),
}
"""Fields that are refused here, with the values without an effect."""

WAYS_OUT: Final[Mapping[str, str]] = {
    "context_management": "send the prompt that the model shall read",
    "include_reasoning": "completions have no reasoning apart from their text",
    "output_config": "send response_format",
    "system": "write it into the prompt",
    "system_instruction": "write it into the prompt",
    "system_prompt": "write it into the prompt",
    "thinking": "send messages with reasoning_effort to /v1/chat/completions",
}
"""What to do instead, where it is something else than at other endpoints."""


def parse_text_request(tree: dict[str, object]) -> AnswerRequest:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    body = Fields(tree)
    refuse_unsupported(body, OBEYED, REFUSED, WAYS_OUT)
    alternatives = body.integer("logprobs", 0, MOST_LOGPROBS)
    options = read_options(body, alternatives)
    reply = read_token_reply(body, read_reply(body))
    best_of = _best_of(body, options.n, stream=reply.stream)
    if best_of > options.n and options.params.logprobs is None:
        options = replace(options, params=replace(options.params, logprobs=0))
    echo, limit = body.boolean("echo"), _limit(body)
    scored = [reply.prompt_logprobs, alternatives if echo else None]
    prompt_logprobs = max((count for count in scored if count is not None), default=None)
    return AnswerRequest(
        model=body.string("model"),
        prompts=_prompts(body),
        place="prompt",
        shape=parse_shape(body),
        tool_use=None,
        limit=limit or TokenLimit(1, "max_tokens"),
        options=replace(options, n=best_of, prompt_logprobs=prompt_logprobs),
        reply=replace(
            reply,
            logprobs=alternatives is not None,
            echo=echo,
            only_echo=limit is None,
            best=options.n,
        ),
    )


def _limit(body: Fields) -> TokenLimit | None:
    """Read the token limit; None if only the prompt is wanted, which takes a step of the model all
    the same."""
    least = 0 if body.boolean("echo") and not body.has("max_completion_tokens") else 1
    if body.integer("max_tokens", least, MAX_TOKENS) == 0:
        return None
    limit = read_limit(body, "max_completion_tokens", "max_tokens")
    return limit or TokenLimit(DEFAULT_TOKENS, "max_tokens")


def _best_of(body: Fields, n: int, *, stream: bool) -> int:
    """Return how many answers are generated for each prompt, of which `n` are returned."""
    best_of = body.integer("best_of", 1, MAX_CHOICES) or n
    if best_of < n:
        raise InputError(f"best_of is {best_of}; it must be at least n, {n}", param="best_of")
    if best_of > n and stream:
        raise InputError(
            "best_of above n can't be streamed: which answers are the best is known at their end",
            param="best_of",
        )
    return best_of


def _prompts(body: Fields) -> tuple[Prompt, ...]:
    """Read one prompt or several: a string, an array of strings, of token ids, or of arrays of
    token ids."""
    special = body.boolean("add_special_tokens", default=True)
    match body.get("prompt"):
        case None:
            raise missing("prompt")
        case str(text):
            return (_text(text, special, "prompt"),)
        case []:
            raise InputError("prompt must not be empty", param="prompt")
        case [first, *_] as items if _is_number(first):
            return (_tokens(cast(list[object], items), "prompt"),)
        case list(items):
            return tuple(
                _prompt(item, special, f"prompt[{at}]")
                for at, item in enumerate(cast(list[object], items))
            )
        case other:
            raise invalid("prompt", "a string, token ids, or an array of these", other)


def _prompt(item: object, special: bool, place: str) -> Prompt:
    match item:
        case str(text):
            return _text(text, special, place)
        case list(tokens):
            return _tokens(cast(list[object], tokens), place)
        case _:
            raise invalid(place, "a string or an array of token ids", item)


def _text(text: str, special: bool, place: str) -> TextPrompt:
    if not text:
        raise InputError(f"{place} must not be empty", param=place)
    return TextPrompt(text, special)


def _tokens(items: list[object], place: str) -> TokenPrompt:
    if not items:
        raise InputError(f"{place} must not be empty", param=place)
    ids = (token_id(item, f"{place}[{at}]", MAX_TOKEN_ID + 1) for at, item in enumerate(items))
    return TokenPrompt(tuple(ids))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
