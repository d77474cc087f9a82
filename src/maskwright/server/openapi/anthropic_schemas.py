"""Anthropic's protocol: its answers, and the events of its streams."""

from __future__ import annotations

from typing import Final

from maskwright.server.json import Json
from maskwright.server.openapi.answer_schemas import COUNT, shortening
from maskwright.server.openapi.builders import (
    NOTHING,
    Schemas,
    array,
    constant,
    either,
    nullable,
    one_of,
    record,
    ref,
    text,
)

_STOP: Final[Schemas] = {
    "stop_reason": one_of(("end_turn", "max_tokens", "stop_sequence", "tool_use")),
    "stop_sequence": nullable(text("The string of `stop_sequences` that ended the answer.")),
}
_TOLD: Final[Schemas] = {"maskwright": ref("Told")}


def anthropic_schemas() -> Schemas:
    return {
        "AnthropicContent": _content(),
        "AnthropicEvent": either(*_events(), about="The event's `data`; its name is the `type`."),
        "AnthropicError": _error(),
        "AnthropicUsage": _usage(),
        "AnthropicAnswer": record(
            {**_head(), "content": array(ref("AnthropicContent")), **_STOP, **_counted()}, _TOLD
        ),
        "InputTokens": record({"input_tokens": COUNT}, {"object": text()}),
    }


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
