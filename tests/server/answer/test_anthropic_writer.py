"""POST /v1/messages over a scripted engine, and how its numbers are read."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from maskwright.errors import EngineStoppedError
from maskwright.server.access import ApiKey, KeyRing, digest_of
from maskwright.server.answer.answers import Answering, Envelope
from maskwright.server.answer.anthropic_writer import AnthropicWriter
from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.parts import (
    ArgumentsText,
    CallBegun,
    Part,
    Reasoning,
    TextPart,
    WholeAnswer,
)
from maskwright.server.config import ServerConfig
from maskwright.server.continuation import Naming
from maskwright.server.errors import HttpError
from tests.server.scripted import BYTES, Client, Script, ScriptedEngine

HELLO: dict[str, Any] = {"max_tokens": 10, "messages": [{"role": "user", "content": "hello"}]}
USAGE = Usage(prompt_tokens=10, completion_tokens=5, cached_tokens=4)
PARTS: tuple[Part, ...] = (
    Reasoning("I "),
    Reasoning("look."),
    TextPart("A moment"),
    TextPart("."),
    CallBegun(0, "call_1", "look"),
    ArgumentsText(0, '{"city": '),
    ArgumentsText(0, '"Oslo"}'),
    CallBegun(1, "call_2", "wait"),
    ArgumentsText(1, "{}"),
)
BLOCKS = [
    {"type": "thinking", "thinking": "I look.", "signature": "msg_1"},
    {"type": "text", "text": "A moment.", "citations": None},
    {"type": "tool_use", "id": "call_1", "name": "look", "input": {"city": "Oslo"}},
    {"type": "tool_use", "id": "call_2", "name": "wait", "input": {}},
]


def ask(client: Client, path: str = "/v1/messages", **fields: Any) -> httpx.Response:
    return client.call("POST", path, json={**HELLO, **fields})


def read(blocks: bytes | str) -> list[Any]:
    """The data of events, whose names are their types."""
    text = blocks.decode() if isinstance(blocks, bytes) else blocks
    events = list[Any]()
    for block in text.strip().split("\n\n"):
        name, _, data = block.partition("\ndata: ")
        events.append(json.loads(data))
        assert name == f"event: {events[-1]['type']}"
    return events


def writer() -> AnthropicWriter:
    asked: Any = SimpleNamespace(usage=lambda: USAGE)
    envelope = Envelope("m", "fp_1", id="msg_1", created=5)
    return AnthropicWriter(Answering(asked, asked, Naming(), envelope, lambda _: {}, BYTES))


def whole(parts: Sequence[Part], reason: str = "stop", stop: str | int | None = None) -> Any:
    answer = Answer(WholeAnswer(), 5, reason, None, tuple(parts), stop=stop)
    return writer().whole([answer], USAGE)


def joined(events: list[Any]) -> list[Any]:
    """The blocks that a client joins from events, which come in order."""
    blocks = list[Any]()
    texts = list[str]()
    for event in events:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(blocks)
                blocks.append(dict(event["content_block"]))
                texts.append("")
            case "content_block_delta":
                assert event["index"] == len(blocks) - 1
                match event["delta"]:
                    case {"type": "text_delta", "text": text}:
                        blocks[-1]["text"] += text
                    case {"type": "thinking_delta", "thinking": text}:
                        blocks[-1]["thinking"] += text
                    case {"type": "signature_delta", "signature": text}:
                        blocks[-1]["signature"] += text
                    case {"type": "input_json_delta", "partial_json": text}:
                        texts[-1] += text
            case "content_block_stop":
                assert event["index"] == len(blocks) - 1
                if blocks[-1]["type"] == "tool_use":
                    blocks[-1]["input"] = json.loads(texts[-1])
            case _:
                pass
    return blocks


def test_a_whole_answer_has_its_blocks_in_order() -> None:
    body = whole(PARTS, "tool_calls")
    assert body["content"] == BLOCKS
    assert (body["stop_reason"], body["stop_sequence"]) == ("tool_use", None)
    assert body["usage"] == {
        "input_tokens": 6,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 4,
        "output_tokens": 5,
    }


@pytest.mark.parametrize("together", [1, 2, 5, len(PARTS)])
def test_a_stream_has_the_blocks_of_the_whole_answer(together: int) -> None:
    written = writer()
    data = b"".join(written.begin())
    deltas = [
        ChoiceDelta(0, list(PARTS[at : at + together]), 1, None, None)
        for at in range(0, len(PARTS), together)
    ]
    for delta in deltas:
        data += b"".join(written.parts(delta))
    last = ChoiceDelta(0, [], 1, "tool_calls", None)
    data += b"".join((*written.ended(last), *written.end(USAGE)))
    events = read(data)
    assert joined(events) == BLOCKS
    begin, *_, end, stop = events
    assert begin["message"]["content"] == []
    assert begin["message"]["usage"]["input_tokens"] == 6
    assert end["type"] == "message_delta"
    assert end["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert end["usage"]["output_tokens"] == 5
    assert stop == {"type": "message_stop"}


@pytest.mark.parametrize(
    ("reason", "stop", "expected"),
    [
        ("stop", None, ("end_turn", None)),
        ("stop", "###", ("stop_sequence", "###")),
        ("stop", 7, ("end_turn", None)),
        ("length", None, ("max_tokens", None)),
        ("tool_calls", None, ("tool_use", None)),
    ],
)
def test_why_a_message_ends(reason: str, stop: str | int | None, expected: tuple[Any, Any]) -> None:
    body = whole([TextPart("a")], reason, stop)
    assert (body["stop_reason"], body["stop_sequence"]) == expected


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('{"n": 1e400}', {"n": sys.float_info.max}),
        ('{"n": -1e400}', {"n": -sys.float_info.max}),
        ('{"n": 1.5}', {"n": 1.5}),
        ("{" + '"n": 1' + "0" * 5000 + "}", {"n": sys.float_info.max}),
        ("", {}),
    ],
    ids=["large", "large negative", "double", "many digits", "none"],
)
def test_arguments_are_values_that_a_body_can_hold(arguments: str, value: Any) -> None:
    [block] = whole([CallBegun(0, "c", "f"), ArgumentsText(0, arguments)])["content"]
    assert block["input"] == value
    assert all(math.isfinite(number) for number in block["input"].values())


def test_an_answer_over_http(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(("Hel", "lo"), "length")
    response = ask(client)
    body = response.json()
    assert body["id"].startswith("msg_")
    assert (body["type"], body["role"]) == ("message", "assistant")
    assert body["content"] == [{"type": "text", "text": "Hello", "citations": None}]
    assert body["stop_reason"] == "max_tokens"
    assert response.headers["request-id"] == response.headers["x-request-id"]
    events = read(ask(client, stream=True).text)
    assert joined(events) == body["content"]
    assert events[-2]["delta"]["stop_reason"] == "max_tokens"


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (RuntimeError("broken"), "api_error", "internal_error"),
        (HttpError(504, "too late", code="timeout"), "timeout_error", "timeout"),
        (EngineStoppedError("broken"), "overloaded_error", "engine_stopped"),
    ],
)
def test_a_stream_that_fails_ends_with_an_error(
    client: Client, engine: ScriptedEngine, error: Exception, kind: str, code: str
) -> None:
    engine.script = Script(("a",), error=error)
    *_, last = read(ask(client, stream=True).text)
    assert last["type"] == "error"
    assert (last["error"]["type"], last["error"]["code"]) == (kind, code)
    alone = ask(client).json()
    assert (alone["error"]["type"], alone["error"]["code"]) == (kind, code)


@pytest.mark.parametrize("path", ["/v1/messages", "/messages", "/v1/messages/count_tokens"])
def test_errors_have_the_form_of_the_protocol(client: Client, path: str) -> None:
    response = ask(client, path, messages=[])
    assert response.status_code == 400
    body = response.json()
    assert body["type"] == "error"
    assert body["error"]["type"] == "invalid_request_error"
    assert body["error"]["param"] == "messages"
    wrong = client.call("GET", path)
    assert wrong.status_code == 405
    assert wrong.json()["type"] == "error"
    assert client.call("GET", "/v1/messages/other").json()["error"]["type"] == "not_found_error"
    assert "type" not in client.call("GET", "/v1/other").json()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"x-api-key": "right"}, 200),
        ({"authorization": "Bearer right"}, 200),
        ({"x-api-key": "wrong"}, 401),
        ({}, 401),
    ],
    ids=str,
)
def test_the_key_may_come_in_the_header_of_the_protocol(
    client: Client, headers: dict[str, str], status: int
) -> None:
    client.config = ServerConfig(keys=KeyRing([ApiKey("one", digest_of("right"))]))
    response = client.call("POST", "/v1/messages", json=HELLO, headers=headers)
    assert response.status_code == status
    if status == 401:
        assert response.json()["error"]["type"] == "authentication_error"


def test_tokens_are_counted_as_they_are_used(client: Client) -> None:
    used = ask(client).json()["usage"]["input_tokens"]
    counted = ask(client, "/v1/messages/count_tokens").json()
    assert counted == {"input_tokens": used}
    asked = {"input": "hello"}
    used = client.call("POST", "/v1/responses", json=asked).json()["usage"]["input_tokens"]
    counted = client.call("POST", "/v1/responses/input_tokens", json=asked).json()
    assert counted == {"object": "response.input_tokens", "input_tokens": used}
