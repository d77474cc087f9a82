"""Reads the body of POST /v1/chat/completions into a typed tree.

Every field is obeyed, without effect, or refused by name. An explicit null is an absent field.
docs/api.md lists them.
"""

from __future__ import annotations

from dataclasses import replace

from maskwright.errors import InputError
from maskwright.sampling import MOST_LOGPROBS
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.server.request.chat_prompt import PROMPT_FIELDS, parse_chat_prompt
from maskwright.server.request.fields import Fields
from maskwright.server.request.refusals import refuse_unsupported
from maskwright.server.request.sampling_fields import (
    SAMPLING_FIELDS,
    TOKEN_FIELDS,
    read_limit,
    read_options,
    read_reply,
    read_token_reply,
)
from maskwright.server.request.shape import FIELDS, parse_shape
from maskwright.server.request.tool_use import parse_tool_use

OBEYED = (
    FIELDS
    | SAMPLING_FIELDS
    | TOKEN_FIELDS
    | PROMPT_FIELDS
    | frozenset(
        {
            "function_call",
            "functions",
            "include_reasoning",
            "logprobs",
            "max_completion_tokens",
            "max_tokens",
            "model",
            "parallel_tool_calls",
            "separate_reasoning",
            "stream",
            "stream_options",
            "tool_choice",
            "tools",
            "top_logprobs",
        }
    )
)


def parse_chat_request(tree: dict[str, object]) -> AnswerRequest:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    body = Fields(tree)
    refuse_unsupported(body, OBEYED)
    alternatives = _alternatives(body)
    reply = read_token_reply(body, read_reply(body))
    options = read_options(body, alternatives)
    return AnswerRequest(
        model=body.string("model"),
        prompts=(parse_chat_prompt(body),),
        place="messages",
        shape=parse_shape(body),
        tool_use=parse_tool_use(body),
        limit=read_limit(body, "max_completion_tokens", "max_tokens"),
        options=replace(options, prompt_logprobs=reply.prompt_logprobs),
        reply=replace(
            reply,
            logprobs=alternatives is not None,
            one_function=bool(body.items("functions")),
        ),
    )


def _alternatives(body: Fields) -> int | None:
    """Return the number of alternatives for each token; None if the client asks for no scores."""
    wanted, top = body.boolean("logprobs"), body.integer("top_logprobs", 0, MOST_LOGPROBS)
    if top and not wanted:
        raise InputError("top_logprobs needs logprobs to be true", param="top_logprobs")
    return (top or 0) if wanted else None
