"""Reads the body of POST /v1/responses, without what needs a memory: each request holds its whole
conversation."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from maskwright.errors import InputError
from maskwright.sampling import MOST_LOGPROBS
from maskwright.server.json import Json
from maskwright.server.request.answer_request import AnswerRequest, ChatPrompt
from maskwright.server.request.chat_prompt import template_variables
from maskwright.server.request.fields import Fields, invalid
from maskwright.server.request.input_items import parse_input
from maskwright.server.request.refusals import refuse_unsupported
from maskwright.server.request.sampling_fields import (
    SAMPLING_FIELDS,
    read_limit,
    read_options,
    read_reply,
)
from maskwright.server.request.shape import FIELDS, parse_shape
from maskwright.server.request.tool_use import parse_tool_use

LOGPROBS: Final = "message.output_text.logprobs"
"""The entry of `include` that asks for log-probabilities."""

OBEYED = (FIELDS - {"response_format"} | SAMPLING_FIELDS - {"n"}) | frozenset(
    {
        "chat_template_kwargs",
        "documents",
        "include",
        "include_reasoning",
        "input",
        "instructions",
        "max_output_tokens",
        "metadata",
        "model",
        "parallel_tool_calls",
        "reasoning",
        "separate_reasoning",
        "stream",
        "stream_options",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "truncation",
    }
)

REFUSED: Mapping[str, tuple[object, ...]] = {
    "function_call": ("none", "auto"),
    "functions": ([],),
    "add_generation_prompt": (True,),
    "continue_final_message": (False,),
    "logprobs": (False,),
    "max_completion_tokens": (),
    "max_tokens": (),
    "messages": (),
    "n": (1,),
    "prompt": (),
    "prompt_logprobs": (),
    "reasoning_effort": (),
    "response_format": (),
    "return_token_ids": (False,),
    "return_tokens_as_token_ids": (False,),
}
"""Fields that are refused here, with the values without an effect."""

WAYS_OUT: Final[Mapping[str, str]] = {
    "candidate_count": "send the request to /v1/chat/completions, with n",
    "context_management": "send the items that the model shall read",
    "generation_config": "send its settings in the body itself, and a schema as text.format",
    "json": "send text.format",
    "max_length": "send max_output_tokens",
    "n_predict": "send max_output_tokens",
    "num_predict": "send max_output_tokens",
    "num_return_sequences": "send the request to /v1/chat/completions, with n",
    "options": "send its settings in the body itself, and a schema as text.format",
    "output_config": "send text.format, and reasoning.effort",
    "system": "send instructions",
    "system_instruction": "send instructions",
    "system_prompt": "send instructions",
    "thinking": "send reasoning.effort, or chat_template_kwargs",
}
"""What to do instead, where it is something else than at other endpoints."""

ECHOED: Final[Mapping[str, object]] = {
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
"""Fields of the request that the response repeats, with their defaults."""


LABELS: Final = ("prompt_cache_key", "safety_identifier", "user")
"""Strings of the request that the response repeats where they are given."""


MOST_IDENTIFIER: Final = 64
"""Most characters of `safety_identifier`, as OpenAI bounds it."""

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh")
"""How much a model may be asked to think, as OpenAI's description allows it in a response, which
repeats it."""

VERBOSITIES: Final = ("low", "medium", "high")
SUMMARIES: Final = ("auto", "concise", "detailed")

_UNNAMED: Final = "answer"
"""The name that the response gives to a schema without one: OpenAI's description demands one."""


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A request, and `echoed`: the settings that the response repeats."""

    answer: AnswerRequest
    echoed: Json


def parse_response_request(tree: dict[str, object]) -> ResponseRequest:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    body = Fields(tree)
    refuse_unsupported(body, OBEYED, REFUSED, WAYS_OUT)
    body.choice("truncation", ("disabled", "auto"))
    text = body.object("text") or Fields({}, "text")
    text.only("format", "verbosity")
    reasoning = body.object("reasoning") or Fields({}, "reasoning")
    _check_echoed(body, text, reasoning)
    effort = _effort(reasoning)
    alternatives = _alternatives(body)
    answer = AnswerRequest(
        model=body.string("model"),
        prompts=(ChatPrompt(parse_input(body), template_variables(body, effort)),),
        place="input",
        shape=parse_shape(body, text.object("format")),
        tool_use=parse_tool_use(body),
        limit=read_limit(body, "max_output_tokens"),
        options=read_options(body, alternatives),
        reply=replace(read_reply(body), logprobs=alternatives is not None),
    )
    return ResponseRequest(answer, _echoed(body, text, reasoning))


def _check_echoed(body: Fields, text: Fields, reasoning: Fields) -> None:
    """Refuse wrong types of fields that have no effect but are repeated in the response."""
    text.choice("verbosity", VERBOSITIES)
    body.integer("max_tool_calls", 0, sys.maxsize)
    for name in LABELS:
        body.string(name)
    identifier = body.string("safety_identifier")
    if identifier is not None and len(identifier) > MOST_IDENTIFIER:
        place = body.at("safety_identifier")
        raise invalid(place, f"at most {MOST_IDENTIFIER} characters", identifier)
    for name in ("summary", "generate_summary"):
        reasoning.choice(name, SUMMARIES)


def _effort(reasoning: Fields) -> str | None:
    """Read how much the model shall think. A chat may ask for a level of the model's own there,
    since no answer repeats it."""
    try:
        return reasoning.choice("effort", EFFORTS)
    except InputError as error:
        why = "a level that only the model's chat template has belongs into chat_template_kwargs"
        raise InputError(f"{error.message}; {why}", param=error.param) from None


def _alternatives(body: Fields) -> int | None:
    """Return the number of alternatives for each token; None if the client asks for no scores."""
    wanted = LOGPROBS in body.strings("include")
    top = body.integer("top_logprobs", 0, MOST_LOGPROBS)
    return (top or 0) if wanted or top else None


def _echoed(body: Fields, text: Fields, reasoning: Fields) -> Json:
    metadata = body.object("metadata")
    if metadata is not None and not all(isinstance(one, str) for one in metadata.values.values()):
        raise InputError("metadata must be an object of strings", param="metadata")
    settings: Json = {
        name: body.get(name) if body.has(name) else default for name, default in ECHOED.items()
    }
    settings["text"] = {**_present(text), "format": _format(text.object("format"))}
    settings["tools"] = [_tool(Fields.of(tool, place)) for tool, place in body.items("tools") or ()]
    settings["reasoning"] = {"effort": None, "summary": None, **_present(reasoning)}
    for name in LABELS:
        if body.has(name):
            settings[name] = body.get(name)
    return settings


def _present(fields: Fields) -> Json:
    return {name: fields.get(name) for name in fields.present()}


def _format(format: Fields | None) -> Json:
    """Return a format in OpenAI's spelling, in which a schema has a name."""
    if format is None:
        return {"type": "text"}
    flat = _flat(format, str(format.get("type")))
    return {"name": _UNNAMED, **flat} if flat["type"] == "json_schema" else flat


def _tool(tool: Fields) -> Json:
    """Return a tool in OpenAI's spelling."""
    kind = tool.string("type") or "function"
    flat = _flat(tool, kind)
    if kind == "function":
        return {"parameters": None, "strict": False, **flat}
    format = Fields(flat).object("format")
    return flat if format is None else {**flat, "format": _flat(format, str(format.get("type")))}


def _flat(fields: Fields, kind: str) -> Json:
    """Return a format or tool of this `kind`, which has been read already, in the spelling of
    responses: chat completions have an object under the name of the kind, whose fields are here
    beside the type."""
    flat = _present(fields)
    inner = flat.get(kind)
    if isinstance(inner, dict):
        del flat[kind]
        flat |= _present(Fields.of(inner, fields.at(kind)))
    return {**flat, "type": kind}
