"""The bodies of answers, as OpenAI's clients read them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from maskwright.sampling import SamplingParams
from maskwright.server.answer.answers import (
    Answering,
    Envelope,
    TextFrame,
    event,
    model_card,
    part_delta,
)
from maskwright.server.answer.choices import Answer, ChoiceDelta, Choices, Usage
from maskwright.server.answer.completion_writers import ChatWriter
from maskwright.server.answer.parts import (
    ArgumentsText,
    CallBegun,
    Part,
    Reasoning,
    TextPart,
    WholeAnswer,
)
from maskwright.server.continuation import Naming
from maskwright.server.request.answer_request import ReplyOptions
from tests.server.scripted import BYTES, usage

ENVELOPE = Envelope("m", "fp_1", id="chatcmpl-1", created=5)
HEAD = {"id": "chatcmpl-1", "created": 5, "model": "m", "system_fingerprint": "fp_1"} | {
    "service_tier": "default"
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}

MESSAGES: list[tuple[WholeAnswer, dict[str, Any]]] = [
    (WholeAnswer(words="hi"), {"content": "hi"}),
    (WholeAnswer(), {"content": ""}),
    (
        WholeAnswer(words="hi", reasoning="hm"),
        {"content": "hi", "reasoning_content": "hm", "reasoning": "hm"},
    ),
    (WholeAnswer(calls=[("call_1", "f", "{}")]), {"content": None, "tool_calls": [CALL]}),
    (WholeAnswer("hi", calls=[("call_1", "f", "{}")]), {"content": "hi", "tool_calls": [CALL]}),
]


def chat_writer(count: int, **reply: bool) -> ChatWriter:
    """A writer of so many answers, whose generations nobody asks anything."""
    options = SimpleNamespace(params=SamplingParams())
    request: Any = SimpleNamespace(reply=ReplyOptions(**reply), options=options)
    generations: Any = [None] * count
    choices = Choices(generations, [()])
    made = Answering(request, choices, Naming(), ENVELOPE, lambda index: {"own": index}, BYTES)
    return ChatWriter(made)


@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_messages(message: WholeAnswer, expected: dict[str, Any]) -> None:
    answer = Answer(message, 3, "stop", None)
    body: Any = chat_writer(1).whole([answer], Usage(1, 2))
    assert body["choices"][0]["message"] == {"role": "assistant", "refusal": None, **expected}


def test_a_completion() -> None:
    answers = [
        Answer(WholeAnswer("a"), 3, "stop", None),
        Answer(WholeAnswer("b"), 4, "length", [{"t": 1}]),
    ]
    body: Any = chat_writer(2).whole(answers, Usage(10, 7))
    choices = body.pop("choices")
    assert body == {**HEAD, "object": "chat.completion", "usage": usage(10, 7)}
    assert [(one["index"], one["finish_reason"], one["own"]) for one in choices] == [
        (0, "stop", 0),
        (1, "length", 1),
    ]
    assert [one["logprobs"] for one in choices] == [None, {"content": [{"t": 1}], "refusal": None}]


def test_chunks() -> None:
    writer = chat_writer(3, stream=True, include_usage=True)
    said = ChoiceDelta(2, [TextPart("a")], 1, None, [{"token": "a"}])
    stopped = ChoiceDelta(2, [], 1, "stop", None, stop="b")
    events = [*writer.parts(said), *writer.ended(stopped), *writer.end(Usage(1, 2))]
    *bodies, done = (event.decode().removeprefix("data: ").strip() for event in events)
    first, ended, last = map(json.loads, bodies)
    choice = {
        "index": 2,
        "delta": {"content": "a"},
        "logprobs": {"content": [{"token": "a"}], "refusal": None},
        "finish_reason": None,
    }
    head = {**HEAD, "object": "chat.completion.chunk"}
    assert first == {**head, "choices": [choice], "usage": None}
    assert ended["choices"] == [
        {
            **choice,
            "delta": {},
            "logprobs": None,
            "finish_reason": "stop",
            "stop_reason": "b",
            "own": 2,
        }
    ]
    assert last == {**head, "choices": [], "usage": usage(1, 2)}
    assert done == "[DONE]"


DELTAS: list[tuple[Part, dict[str, Any]]] = [
    (TextPart("a"), {"content": "a"}),
    (Reasoning("a"), {"reasoning_content": "a", "reasoning": "a"}),
    (
        CallBegun(1, "call_1", "f"),
        {"tool_calls": [{"index": 1, **CALL, "function": {"name": "f", "arguments": ""}}]},
    ),
    (ArgumentsText(1, "{"), {"tool_calls": [{"index": 1, "function": {"arguments": "{"}}]}),
]


@pytest.mark.parametrize(("part", "expected"), DELTAS)
def test_deltas(part: Part, expected: dict[str, Any]) -> None:
    assert part_delta(part) == expected


@pytest.mark.parametrize("text", ["a\nb\r\n\n", "é😀\u2028", '"\\'])
def test_an_event_is_one_line_of_utf8(text: str) -> None:
    """As `json.loads` reads it; no character ends the line before its end."""
    data = event({"a": text})
    assert data.startswith(b"data: ")
    assert data.endswith(b"\n\n")
    assert b"\n" not in data[:-2]
    assert b"\r" not in data
    assert json.loads(data.removeprefix(b"data: ")) == {"a": text}


@pytest.mark.parametrize("text", ["", "a", "a\nb\r\n\n\t\x00\x7f", "é😀\u2028", '"\\', "{0} %s"])
def test_a_frame_is_the_event_of_its_text(text: str) -> None:
    def make(text: str) -> bytes:
        return event({**HEAD, "delta": {"content": text}, "after": 'é"'}, "named")

    assert TextFrame(make).of(text) == make(text)


def test_models() -> None:
    card = {"object": "model", "created": 5, "owned_by": "maskwright", "max_model_len": 9}
    assert model_card("m", 5, 9, None) == {"id": "m", **card, "root": "m"}
    assert model_card("a", 5, 9, "m") == {"id": "a", **card, "root": "m", "parent": "m"}
