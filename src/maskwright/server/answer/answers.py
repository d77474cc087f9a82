"""The bodies of answers: a whole chat completion, its parts, the model list; and events."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Final

from maskwright.immutable import Immutable
from maskwright.server.answer.choices import Choices, Usage
from maskwright.server.answer.parts import (
    ArgumentsText,
    CallBegun,
    Part,
    Reasoning,
    TextPart,
    WholeAnswer,
)
from maskwright.server.continuation import Naming
from maskwright.server.json import Json
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.vocab import Vocabulary

_MARK: Final = uuid.uuid4().hex
"""Stands for the text of a frame. No client ever sees it, so no other text of an event has it."""

DONE: Final = b"data: [DONE]\n\n"

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Envelope(Immutable):
    """The fields that all bodies of one answer have in common. `fingerprint`: what served it."""

    model: str
    fingerprint: str
    id: str
    created: int

    def head(self, kind: str) -> Json:
        """Return the fields before the choices; `kind` is the type of the body."""
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": self.fingerprint,
            "service_tier": "default",
        }


class Answering(Immutable):
    """A request whose generations run. `naming`: the names that are drawn for the answer.
    `envelope`: the fields of all its bodies. `own(i)`: additional fields of choice `i` at its end.
    `vocab`: that of the model."""

    request: AnswerRequest
    choices: Choices
    naming: Naming
    envelope: Envelope
    own: Callable[[int], Json]
    vocab: Vocabulary


def usage_body(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": completion_details(usage),
    }


def completion_details(usage: Usage) -> Json:
    """Return the figures about the tokens of answers."""
    return {"reasoning_tokens": usage.reasoning_tokens, **shortening(usage)}


def shortening(usage: Usage) -> Json:
    """Return where the token limit has changed an answer; nothing if it hasn't."""
    return {} if usage.shortened_at is None else {"shortened_at": usage.shortened_at}


def logprobs_body(entries: list[Json] | None) -> Json | None:
    return None if entries is None else {"content": entries, "refusal": None}


def message_body(message: WholeAnswer) -> Json:
    """Return the message of a choice. `refusal` is always present and null; `content` is null if
    there are tool calls and no words; `tool_calls` is present only if there are some."""
    body: Json = {
        "role": "assistant",
        "content": message.words if message.words or not message.calls else None,
        "refusal": None,
    }
    if message.reasoning:
        body |= _thought(message.reasoning)
    if message.calls:
        body["tool_calls"] = [
            {"id": id, **_called(name, text, custom=at in message.custom)}
            for at, (id, name, text) in enumerate(message.calls)
        ]
    return body


def _thought(text: str) -> Json:
    """Return reasoning under both names by which clients know it."""
    return {"reasoning_content": text, "reasoning": text}


def _called(name: str, text: str, *, custom: bool) -> Json:
    """Return the type of a call, and what it says."""
    if custom:
        return {"type": "custom", "custom": {"name": name, "input": text}}
    return {"type": "function", "function": {"name": name, "arguments": text}}


def part_delta(part: Part) -> Json:
    """Return the delta of a part. The id, type and name of a call are sent once, because clients
    concatenate what they receive."""
    match part:
        case TextPart(text=text):
            return {"content": text}
        case Reasoning(text=text):
            return _thought(text)
        case CallBegun(index=index, id=id, name=name, custom=custom):
            return {"tool_calls": [{"index": index, "id": id, **_called(name, "", custom=custom)}]}
        case ArgumentsText(index=index, text=text, custom=custom):
            said: Json = (
                {"custom": {"input": text}} if custom else {"function": {"arguments": text}}
            )
            return {"tool_calls": [{"index": index, **said}]}


def model_card(name: str, created: int, max_context: int, base: str | None) -> Json:
    """Return one entry of `/v1/models`; `base` is the model to which an adapter belongs. `root` is
    the model that computes the answers, as other servers tell it."""
    return {
        "id": name,
        "object": "model",
        "created": created,
        "owned_by": "maskwright",
        "root": name if base is None else base,
        "max_model_len": max_context,
        **({} if base is None else {"parent": base}),
    }


def event(body: Json, name: str | None = None) -> bytes:
    """Encode a body as a server-sent event, which may have a name."""
    text = _ENCODER.encode(body)
    head = "" if name is None else f"event: {name}\n"
    return f"{head}data: {text}\n\n".encode()


class TextFrame:
    """An event in which nothing but one text changes, encoded once for all texts."""

    def __init__(self, make: Callable[[str], bytes]) -> None:
        """`make`: encodes the event with a text, which it contains once as a JSON string."""
        before, quoted, after = make(_MARK).decode().partition(f'"{_MARK}"')
        self._before, self._after = before, after
        assert quoted, "the event does not contain the text"

    def of(self, text: str) -> bytes:
        """Encode the event with `text`."""
        return f"{self._before}{encode_basestring(text)}{self._after}".encode()
