"""The answers of POST /v1/messages, Anthropic's protocol.

A stream consists of named events: that the message begins, then for each block of its content that
it begins, its pieces, and that it has ended; at last why the message has ended, with its usage, and
that the stream has.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from typing import Any, Final, cast

from maskwright.server.answer.answers import Answering, event, shortening
from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.parts import ArgumentsText, CallBegun, Part, Reasoning, TextPart
from maskwright.server.errors import anthropic_error
from maskwright.server.json import Json

_REASONS: Final = {"length": "max_tokens", "tool_calls": "tool_use", "stop": "end_turn"}
"""Anthropic's names of OpenAI's finish reasons."""


class AnthropicWriter:
    """Writes one message. Its blocks are of three types: `text`, `thinking` and `tool_use`."""

    def __init__(self, made: Answering) -> None:
        id, model = made.envelope.id, made.envelope.model
        self._head: Json = {"id": id, "type": "message", "role": "assistant", "model": model}
        self._own = made.own
        self._usage = made.choices.usage
        self._blocks = 0
        self._open: str | None = None  # the type of the last block, until it ends
        self._ending: Json = {}

    def whole(self, answers: list[Answer], usage: Usage) -> Json:
        [answer] = answers
        content: list[dict[str, Any]] = []
        for part in answer.parts:
            match part:
                case TextPart(text=text):
                    _append(content, self._block("text"), "text", text)
                case Reasoning(text=text):
                    _append(content, self._block("thinking"), "thinking", text)
                case CallBegun(id=id, name=name):
                    content.append({"type": "tool_use", "id": id, "name": name, "input": ""})
                case ArgumentsText(text=text):
                    content[-1]["input"] += text
        for block in content:
            if block["type"] == "tool_use":
                block["input"] = _read(block["input"])
        return {
            **self._head,
            "content": content,
            **_stop(answer.finish_reason, answer.stop),
            "usage": _usage(usage),
            **self._own(0),
        }

    def begin(self) -> Iterator[bytes]:
        message: Json = {
            **self._head,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(self._usage()),
        }
        yield _event("message_start", message=message)

    def parts(self, delta: ChoiceDelta) -> Iterator[bytes]:
        for part in delta.parts:
            yield from self._part(part)

    def ended(self, delta: ChoiceDelta) -> Iterator[bytes]:
        yield from self._close()
        self._ending = {**_stop(cast(str, delta.finish_reason), delta.stop), **self._own(0)}

    def end(self, usage: Usage) -> Iterator[bytes]:
        yield _event("message_delta", delta=self._ending, usage=_usage(usage))
        yield _event("message_stop")

    def failed(self, error: Json, status: int) -> Iterator[bytes]:
        yield event(anthropic_error(error, status), "error")

    def _part(self, part: Part) -> Iterator[bytes]:
        match part:
            case TextPart(text=text):
                yield from self._continue("text")
                yield self._delta({"type": "text_delta", "text": text})
            case Reasoning(text=text):
                yield from self._continue("thinking")
                yield self._delta({"type": "thinking_delta", "thinking": text})
            case CallBegun(id=id, name=name):
                yield from self._close()
                yield from self._begin({"type": "tool_use", "id": id, "name": name, "input": {}})
            case ArgumentsText(text=text):
                yield self._delta({"type": "input_json_delta", "partial_json": text})

    def _continue(self, kind: str) -> Iterator[bytes]:
        """Go on with the last block if it is of this type, or begin one."""
        if self._open != kind:
            yield from self._close()
            yield from self._begin(self._block(kind, signature=""))

    def _begin(self, block: Json) -> Iterator[bytes]:
        self._open = cast(str, block["type"])
        yield _event("content_block_start", index=self._blocks, content_block=block)

    def _delta(self, delta: Json) -> bytes:
        return _event("content_block_delta", index=self._blocks, delta=delta)

    def _close(self) -> Iterator[bytes]:
        if self._open is None:
            return
        if self._open == "thinking":
            yield self._delta({"type": "signature_delta", "signature": self._signature})
        yield _event("content_block_stop", index=self._blocks)
        self._open = None
        self._blocks += 1

    @property
    def _signature(self) -> str:
        """The signature of a thinking block, without which some clients don't send it back. This
        server reads thoughts that come back as they are, so that it has nothing to sign."""
        return cast(str, self._head["id"])

    def _block(self, kind: str, *, signature: str | None = None) -> Json:
        """Return an empty block of text or of thoughts."""
        if kind == "text":
            return {"type": "text", "text": "", "citations": None}
        signed = self._signature if signature is None else signature
        return {"type": "thinking", "thinking": "", "signature": signed}


def _append(content: list[dict[str, Any]], block: Json, name: str, text: str) -> None:
    """Append a text to the last block if it is of the type of `block`, or begin this one."""
    if not content or content[-1]["type"] != block["type"]:
        content.append(block)
    content[-1][name] += text


def _stop(finish_reason: str, stop: str | int | None) -> Json:
    """Return why a message has ended. A token that ends an answer is no string."""
    if finish_reason == "stop" and isinstance(stop, str):
        return {"stop_reason": "stop_sequence", "stop_sequence": stop}
    return {"stop_reason": _REASONS[finish_reason], "stop_sequence": None}


def _usage(usage: Usage) -> Json:
    """Return the tokens as Anthropic counts them: those that were found in the cache are no part of
    `input_tokens`."""
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.completion_tokens,
        **shortening(usage),
    }


def _read(arguments: str) -> object:
    """Return the arguments of a call as a value. A number that no double holds becomes the nearest
    one, since a body of JSON is read with doubles by most clients, and has no infinity. The input
    of a call without any arguments is an empty object."""
    return json.loads(arguments or "{}", parse_float=_double, parse_int=_integer)


def _double(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else math.copysign(sys.float_info.max, value)


def _integer(text: str) -> int | float:
    return int(text) if len(text) <= sys.int_info.default_max_str_digits else _double(text)


def _event(kind: str, **fields: object) -> bytes:
    return event({"type": kind, **fields}, kind)
