"""Anthropic's protocol: its requests, its answers, and the events of its streams."""

from __future__ import annotations

from typing import Final

from maskwright.server.json import Json
from maskwright.server.openapi.answer_schemas import COUNT, shortening
from maskwright.server.openapi.builders import (
    ANYTHING,
    NOTHING,
    Schemas,
    array,
    constant,
    either,
    flag,
    given,
    integer,
    nullable,
    one_of,
    record,
    ref,
    text,
)
from maskwright.server.request import anthropic_request
from maskwright.server.request.sampling_fields import MAX_TOKENS

_STOP: Final[Schemas] = {
    "stop_reason": one_of(("end_turn", "max_tokens", "stop_sequence", "tool_use")),
    "stop_sequence": nullable(text("The string of `stop_sequences` that ended the answer.")),
}
_TOLD: Final[Schemas] = {"maskwright": ref("Told")}


def anthropic_fields() -> Schemas:
    """Return the fields of a request that this protocol has of its own."""
    system = either(text(), array(ref("AnthropicText")), about="The first message.")
    stops = array(
        text(minLength=1),
        "Strings that end the answer.",
        maxItems=anthropic_request.MOST_STOPS,
    )
    thinking: Schemas = {
        "type": one_of(anthropic_request.THINKING),
        "budget_tokens": integer(1, MAX_TOKENS, "The most tokens of a reasoning section."),
        "display": ANYTHING,
    }
    config: Schemas = {
        "effort": one_of(anthropic_request.EFFORTS, "How much the model shall think."),
        "format": ref("ResponseFormat"),
    }
    choice: Schemas = {
        "name": text("The tool that has to be called."),
        "disable_parallel_tool_use": flag("At most one call.", default=False),
    }
    return {
        "messages": array(ref("AnthropicMessage"), minItems=1),
        "metadata": given({}, {"user_id": text("The user whose fair share counts.")}),
        "output_config": given({}, config, closed=True),
        "output_format": ref("ResponseFormat"),
        "stop_sequences": either(text(minLength=1), stops),
        "system": system,
        "thinking": given({}, thinking, closed=True),
        "tool_choice": either(
            given({"type": constant("tool"), "name": text()}, choice, closed=True),
            given({"type": one_of(("auto", "any", "none"))}, choice, closed=True),
        ),
        "tools": array(ref("AnthropicTool")),
    }


def anthropic_schemas() -> Schemas:
    tool = given(
        {"name": text(), "input_schema": {"type": "object", "description": "A JSON Schema."}},
        {
            **{
                name: ANYTHING
                for name in anthropic_request.TOOL_FIELDS
                if name not in ("name", "input_schema")
            },
            "type": constant("custom"),
            "description": text(),
            "defer_loading": constant(False),
            "allowed_callers": constant(["direct"]),
        },
        closed=True,
    )
    return {
        "AnthropicContent": _content(),
        "AnthropicEvent": either(*_events(), about="The event's `data`; its name is the `type`."),
        "AnthropicError": _error(),
        "AnthropicMessage": _message(),
        "AnthropicText": record({"type": constant("text"), "text": text()}),
        "AnthropicTool": tool,
        "AnthropicUsage": _usage(),
        "AnthropicAnswer": record(
            {**_head(), "content": array(ref("AnthropicContent")), **_STOP, **_counted()}, _TOLD
        ),
        "InputTokens": record({"input_tokens": COUNT}, {"object": text()}),
    }


def _message() -> Json:
    """Describe a message of a request: which blocks it may have depends on its role."""
    source = given({"type": constant("text"), "data": text()}, {"media_type": text()})
    document = given(
        {"type": constant("document"), "source": source}, {"title": text(), "context": text()}
    )
    texts = (ref("AnthropicText"), document)
    result = given(
        {"type": constant("tool_result"), "tool_use_id": text()},
        {
            "content": either(text(), array(either(*texts))),
            "is_error": flag("Without effect: the content says it."),
        },
    )
    call = given(
        {"type": constant("tool_use"), "name": text(), "input": record({})}, {"id": text()}
    )
    thought = given({"type": constant("thinking")}, {"thinking": text(), "signature": ANYTHING})
    blocks = {"user": (*texts, result), "assistant": (*texts, thought, call), "system": texts}
    return either(
        *(
            record(
                {
                    "role": constant(role),
                    "content": either(text(), array(either(*blocks[role]))),
                }
            )
            for role in anthropic_request.ROLES
        )
    )


def _content() -> Json:
    """Describe a block of an answer."""
    return either(
        record({"type": constant("text"), "text": text(), "citations": NOTHING}),
        record({"type": constant("thinking"), "thinking": text(), "signature": text()}),
        record({"type": constant("tool_use"), "id": text(), "name": text(), "input": record({})}),
    )


def _head() -> Schemas:
    return {
        "id": text(),
        "type": constant("message"),
        "role": constant("assistant"),
        "model": text(),
    }


def _counted() -> Schemas:
    return {"usage": ref("AnthropicUsage")}


def _usage() -> Json:
    counts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    about = "Tokens of the prompt that were found in the cache are no part of `input_tokens`."
    return record({**dict.fromkeys(counts, COUNT), "output_tokens": COUNT}, shortening(), about)


def _error() -> Json:
    error = record(
        {
            "message": text(),
            "type": text("Anthropic's name of the kind of error."),
            "param": nullable(text("The dotted path of the field that the error is about.")),
            "code": nullable(text("A stable word for programs, as in the other protocols.")),
        }
    )
    return record({"type": constant("error"), "error": error})


def _events() -> list[Json]:
    begun = record(
        {
            **_head(),
            "content": array(ref("AnthropicContent"), maxItems=0),
            "stop_reason": NOTHING,
            "stop_sequence": NOTHING,
            **_counted(),
        }
    )
    pieces = (
        ("text_delta", "text"),
        ("thinking_delta", "thinking"),
        ("signature_delta", "signature"),
        ("input_json_delta", "partial_json"),
    )
    delta = either(*(record({"type": constant(kind), name: text()}) for kind, name in pieces))
    index: Schemas = {"index": COUNT}
    return [
        _event("message_start", {"message": begun}),
        _event("content_block_start", {**index, "content_block": ref("AnthropicContent")}),
        _event("content_block_delta", {**index, "delta": delta}),
        _event("content_block_stop", index),
        _event("message_delta", {"delta": record(_STOP, _TOLD), **_counted()}),
        _event("message_stop", {}),
        ref("AnthropicError"),
    ]


def _event(kind: str, own: Schemas) -> Json:
    return record({"type": constant(kind), **own})
