from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from maskwright.errors import InputError
from maskwright.server import ServerConfig, create_app
from tests.server.scripted import HELLO, Client, Script, ScriptedEngine, usage
from tests.server.test_slow_clients import Connection
from tests.server.test_tools import CALLS, TOOLS, says


def choice(index: int, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    ended = {} if reason is None else {"stop_reason": None}
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason, **ended}


def test_the_events_of_a_stream(client: Client) -> None:
    events = client.events(model="gpt-4o")
    assert events.pop() == "[DONE]"
    names = ("id", "object", "created", "model", "system_fingerprint", "service_tier")
    heads = [{name: event.pop(name) for name in names}
             for event in events]  # fmt: skip
    assert heads == [heads[0]] * len(events)
    assert (heads[0]["object"], heads[0]["model"]) == ("chat.completion.chunk", "gpt-4o")
    assert events == [
        {"choices": [made]}
        for made in (
            choice(0, {"role": "assistant", "content": ""}),
            choice(0, {"content": "Hel"}),
            choice(0, {"content": "lo"}),
            choice(0, {}, "stop"),
        )
    ]


def test_usage_comes_last_and_only_when_asked(client: Client) -> None:
    *chunks, last, done = client.events(stream_options={"include_usage": True})
    assert done == "[DONE]"
    assert all(chunk["usage"] is None for chunk in chunks)
    assert last["choices"] == []
    assert last["usage"] == usage(11, 2)
    assert all("usage" not in chunk for chunk in client.events()[:-1])


def test_a_last_delta_with_text_is_two_chunks(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(texts=(), end="length", last="tail")
    made = [event["choices"][0] for event in client.events()[:-1]]
    assert made[1:] == [choice(0, {"content": "tail"}), choice(0, {}, "length")]


def test_choices_are_interleaved(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(texts=("a", "b", "c"), pause=0.01)
    made = [event["choices"][0] for event in client.events(n=3)[:-1]]
    order = [one["index"] for one in made if "content" in one["delta"] and one["delta"]["content"]]
    assert sorted(order[:3]) == [0, 1, 2]
    for index in range(3):
        own = [one for one in made if one["index"] == index]
        assert [one["delta"] for one in own] == [
            {"role": "assistant", "content": ""},
            *({"content": text} for text in "abc"),
            {},
        ]
        assert [one["finish_reason"] for one in own] == [None] * 4 + ["stop"]


def test_a_failure_midway_is_an_event_and_the_end(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(texts=("x",), end="error", error=InputError("why", param="logit_bias"))
    *chunks, last = client.events()
    assert [chunk["choices"][0]["delta"].get("content") for chunk in chunks] == ["", "x"]
    assert last == {
        "error": {
            "message": "why",
            "type": "invalid_request_error",
            "param": "logit_bias",
            "code": "invalid_value",
        }
    }
    assert not engine.running


def test_a_defect_midway_tells_nothing_of_its_inside(
    client: Client, engine: ScriptedEngine
) -> None:
    engine.script = Script(end="error", error=RuntimeError("secret"))
    last = client.events(n=2)[-1]
    assert last["error"]["type"] == "server_error"
    assert "secret" not in str(last)
    assert not engine.running


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("n", [1, 2])
def test_log_probabilities_of_silent_text_come_with_the_next_chunk(
    client: Client, engine: ScriptedEngine, size: int, n: int
) -> None:
    """The marks around a call are no part of the message. Their tokens are sent all the same, each
    once, so that a stream says as much as a whole answer."""
    client.config = ServerConfig(tool_format="hermes")
    text = CALLS["hermes"]
    says(engine, text, size)
    entries: dict[int, list[Any]] = {index: [] for index in range(n)}
    for event in client.events(tools=TOOLS, logprobs=True, n=n)[:-1]:
        [one] = event["choices"]
        if one["logprobs"] is not None:
            entries[one["index"]] += one["logprobs"]["content"]
    whole = client.chat(tools=TOOLS, logprobs=True, n=n).json()["choices"]
    for index in range(n):
        assert bytes(byte for entry in entries[index] for byte in entry["bytes"]) == text.encode()
        assert entries[index] == whole[index]["logprobs"]["content"]


def test_silence_is_filled_with_comments(engine: ScriptedEngine) -> None:
    """The text comes after two of them, however long they take."""
    connection = Connection(json.dumps({**HELLO, "stream": True}).encode())
    connection.go.set()

    async def until_pinged() -> None:
        while connection.taken.count(b": ping\n\n") < 2:
            await asyncio.sleep(0.005)

    engine.script = Script(texts=("late",), before=until_pinged)
    asyncio.run(connection.run(create_app(cast(Any, engine), ServerConfig(ping_seconds=0.02))))
    assert b'"content":"late"' in connection.taken
    assert connection.taken.endswith(b"data: [DONE]\n\n")


def test_text_beyond_ascii_is_sent_as_utf8(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(texts=("né\n\n😀",))
    assert client.events()[1]["choices"][0]["delta"]["content"] == "né\n\n😀"


def test_every_chunk_can_have_the_usage_so_far(client: Client) -> None:
    *chunks, last, _ = client.events(stream_options={"continuous_usage_stats": True})
    assert [chunk["usage"]["completion_tokens"] for chunk in chunks] == [0, 1, 2, 2]
    assert (last["choices"], last["usage"]) == ([], usage(11, 2))


def test_the_clients_name_of_a_request_is_in_the_id(client: Client) -> None:
    for field in ("request_id", "rid"):
        assert client.chat(**{field: "mine"}).json()["id"] == "chatcmpl-mine"
        assert {event["id"] for event in client.events(**{field: "mine"})[:-1]} == {"chatcmpl-mine"}
    assert client.chat(request_id="x" * 129).status_code == 400
