"""What breaks clients of chat completions, and never occurs in a stream or an answer here:
fields that are repeated, null or missing, and an end that comes twice or never."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from maskwright.server import ServerConfig
from tests.server.scripted import Client, ScriptedEngine
from tests.server.test_tools import CALLS, TOOLS, says

SAID = {
    "calls": CALLS["hermes"],
    "functions": CALLS["hermes"].partition('\n<tool_call>\n{"name": "now"')[0],
}
"""What the model says, where these are not words; of functions, one is called at most."""
FUNCTIONS = [tool["function"] for tool in TOOLS]
ASKED: dict[str, dict[str, Any]] = {
    "words": {},
    "two answers": {"n": 2},
    "with usage": {"stream_options": {"include_usage": True}},
    "words beside tools": {"tools": TOOLS},
    "calls": {"tools": TOOLS},
    "functions": {"functions": FUNCTIONS},
}


@pytest.fixture(params=ASKED)
def asked(request: pytest.FixtureRequest, client: Client, engine: ScriptedEngine) -> dict[str, Any]:
    client.config = ServerConfig(tool_format="hermes")
    says(engine, SAID.get(request.param, "It is late"), size=3)
    return ASKED[request.param]


@pytest.fixture
def chunks(client: Client, asked: dict[str, Any]) -> list[dict[str, Any]]:
    *chunks, done = client.events(**asked)
    assert done == "[DONE]"
    return chunks


def choices(chunks: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The choices of the chunks, apart for each answer."""
    every = [choice for chunk in chunks for choice in chunk["choices"]]
    for index in {choice["index"] for choice in every}:
        yield [choice for choice in every if choice["index"] == index]


def test_the_role_comes_once_and_first(chunks: list[dict[str, Any]]) -> None:
    for deltas in ([choice["delta"] for choice in each] for each in choices(chunks)):
        assert deltas[0]["role"] == "assistant"
        assert not any("role" in delta for delta in deltas[1:])
        assert "content" in deltas[0]


def test_an_answer_ends_once_and_its_last_chunk_has_a_delta(chunks: list[dict[str, Any]]) -> None:
    for each in choices(chunks):
        assert [choice["finish_reason"] is not None for choice in each].count(True) == 1
        assert each[-1]["finish_reason"] in ("stop", "tool_calls", "function_call")
        assert each[-1]["delta"] == {}


def test_no_field_of_a_later_delta_is_null(chunks: list[dict[str, Any]]) -> None:
    for each in choices(chunks):
        for delta in (choice["delta"] for choice in each[1:]):
            assert None not in delta.values()
            for call in (*delta.get("tool_calls", ()), delta.get("function_call", {})):
                assert None not in call.values()
                assert None not in call.get("function", {}).values()


def test_a_call_is_named_once_and_numbered_always(client: Client, engine: ScriptedEngine) -> None:
    client.config = ServerConfig(tool_format="hermes")
    says(engine, CALLS["hermes"], size=3)
    parts: dict[int, list[dict[str, Any]]] = {}
    for chunk in client.events(tools=TOOLS)[:-1]:
        for part in chunk["choices"][0]["delta"].get("tool_calls", ()):
            parts.setdefault(part["index"], []).append(part)
    assert list(parts) == list(range(len(parts)))
    assert len({first["id"] for first, *_ in parts.values()}) == len(parts) == 2
    for first, *others in parts.values():
        assert others
        assert first.keys() == {"index", "id", "type", "function"}
        assert first["function"]["name"]
        for part in others:
            assert part.keys() == {"index", "function"}
            assert part["function"].keys() == {"arguments"}
        assert all(isinstance(part["function"]["arguments"], str) for part in (first, *others))


def test_every_chunk_has_what_strict_clients_look_for(chunks: list[dict[str, Any]]) -> None:
    heads = [(each["id"], each["object"], each["created"], each["model"]) for each in chunks]
    assert len(set(heads)) == 1
    assert isinstance(chunks[0]["created"], int)
    assert all("index" in choice for chunk in chunks for choice in chunk["choices"])


def test_a_whole_answer_has_what_strict_clients_look_for(
    client: Client, asked: dict[str, Any]
) -> None:
    answer = client.chat(**{k: v for k, v in asked.items() if k != "stream_options"}).json()
    assert {"id", "object", "created", "model", "choices", "usage"} <= answer.keys()
    for choice in answer["choices"]:
        assert {"index", "message", "logprobs", "finish_reason"} <= choice.keys()
        message = choice["message"]
        assert message["role"] == "assistant"
        assert message["refusal"] is None
        assert ("tool_calls" in message) == (choice["finish_reason"] == "tool_calls")
        for call in message.get("tool_calls", ()):
            assert call.keys() == {"id", "type", "function"}
            assert isinstance(call["function"]["arguments"], str)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/chat/completions", {"messages": "hello"}),
        ("POST", "/v1/chat/completions", {"messages": [], "stream": True}),
        ("POST", "/v1/responses", {"input": 3}),
        ("POST", "/v1/completions", []),
        ("GET", "/v1/nothing", None),
        ("DELETE", "/v1/models", None),
    ],
)
def test_every_error_has_a_message_where_clients_read_it(
    client: Client, method: str, path: str, body: Any
) -> None:
    """A body `{"detail": …}` loses its message in some."""
    response = client.call(method, path, json=body)
    assert 400 <= response.status_code < 500
    assert response.json().keys() == {"error"}
    assert response.json()["error"].keys() == {"message", "type", "param", "code"}
    assert response.json()["error"]["message"]
