"""The bodies of answers: a whole chat completion, the model list, and what the writers of chat and
of text completions have in common."""

from __future__ import annotations

import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from json.encoder import encode_basestring
from typing import ClassVar, Final, cast

from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.parts import (
    ArgumentsText,
    CallBegun,
    Part,
    Reasoning,
    TextPart,
    WholeAnswer,
)
from maskwright.server.json import Json
from maskwright.server.request.answer_request import ReplyOptions

_MARK: Final = uuid.uuid4().hex
"""Stands for the text of a frame. No client ever sees it, so no other text of an event has it."""

DONE: Final = b"data: [DONE]\n\n"

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Envelope:
    """The fields that all bodies of one answer have in common. `fingerprint`: what served it."""

    model: str
    fingerprint: str
    id: str
    created: int

    def completion(self, answers: list[Answer], usage: Usage, own: Callable[[int], Json]) -> Json:
        """Return a `chat.completion`. `refusal` is always present and null. `own(i)` are additional
        fields of choice `i`. `stop_reason` is vLLM's name of the stop string or stop token."""
        choices = [
            {
                "index": index,
                "message": _message(answer.message),
                "logprobs": logprobs_body(answer.logprobs),
                "finish_reason": answer.finish_reason,
                "stop_reason": answer.stop,
                **own(index),
            }
            for index, answer in enumerate(answers)
        ]
        return {**self.head("chat.completion"), "choices": choices, "usage": usage_body(usage)}

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


def _message(message: WholeAnswer) -> Json:
    """Return the message of a choice. `content` is null if there are tool calls and no words;
    `tool_calls` is present only if there are some."""
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


class TokenIds:
    """The fields of one request's choices that hold token ids; empty if the client didn't ask for
    them. In a stream, a chunk has the tokens since the one before it, whose text may come later."""

    def __init__(self, prompts: Sequence[Sequence[int]], count: int, *, asked: bool) -> None:
        """`prompts`: their token ids. `count`: the number of answers, equally many a prompt."""
        self._prompts = prompts
        self._each = max(1, count // len(prompts))
        self._asked = asked
        self._unsent: dict[int, list[int]] = {}

    def prompt(self, index: int) -> Json:
        """Return the field with the prompt of choice `index`."""
        return {"prompt_token_ids": list(self._prompts[index // self._each])} if self._asked else {}

    def whole(self, answer: Answer) -> Json:
        """Return the field of a whole answer, end tokens included."""
        return {"token_ids": list(answer.token_ids)} if self._asked else {}

    def take(self, delta: ChoiceDelta) -> None:
        """Add the new tokens of a choice."""
        if self._asked:
            self._unsent.setdefault(delta.index, []).extend(delta.token_ids)

    def chunk(self, index: int) -> Json:
        """Return the field of the next chunk of choice `index`."""
        return {"token_ids": self._unsent.pop(index, [])} if self._asked else {}


class CompletionWriter(ABC):
    """What the writers of chat and of text completions have in common: how their streams end, and
    what their chunks have beside a choice."""

    chunk_kind: ClassVar[str]
    """The type of a chunk."""

    def __init__(
        self,
        envelope: Envelope,
        prompts: Sequence[Sequence[int]],
        count: int,
        own: Callable[[int], Json],
        reply: ReplyOptions,
        running: Callable[[], Usage],
    ) -> None:
        """`prompts`: their token ids. `count`: the number of answers, equally many for each prompt.
        `own(i)` are additional fields of answer `i` at its end. `running()`: the usage so far."""
        self._envelope = envelope
        self._count = count
        self._ids = TokenIds(prompts, count, asked=reply.token_ids)
        self._own = own
        self._reply = reply
        self._running = running
        self._frames: dict[int, TextFrame] = {}
        """The chunk of each choice that has nothing but text."""
        self._framed = not (reply.token_ids or reply.continuous_usage)

    def end(self, usage: Usage) -> Iterator[bytes]:
        if self._reply.include_usage:
            head = self._envelope.head(self.chunk_kind)
            yield event({**head, "choices": [], "usage": self._counted(usage)})
        yield DONE

    def failed(self, error: Json, status: int) -> Iterator[bytes]:
        yield event(error)

    def _counted(self, usage: Usage) -> Json:
        """Return the body of the usage."""
        return usage_body(usage)

    def _event(self, choice: Json, head: Json | None = None) -> bytes:
        """Return a chunk of one choice, with additional fields beside the choices, and with the
        usage, which clients expect in all chunks if they ask for any."""
        choice |= self._ids.chunk(cast(int, choice["index"]))
        body = {**self._envelope.head(self.chunk_kind), "choices": [choice], **(head or {})}
        if self._reply.include_usage:
            counted = self._reply.continuous_usage
            body["usage"] = self._counted(self._running()) if counted else None
        return event(body)

    def _framed_event(self, index: int, text: str) -> bytes:
        """Return a chunk of one choice that has nothing but text."""
        frame = self._frames.get(index)
        if frame is None:
            frame = self._frames[index] = TextFrame(partial(self._text_event, index))
        return frame.of(text)

    @abstractmethod
    def _text_event(self, index: int, text: str) -> bytes:
        """Return the same, encoded as a whole."""
