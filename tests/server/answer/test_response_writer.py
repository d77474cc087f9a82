"""POST /v1/responses over a scripted engine: what a real one says only rarely."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from maskwright.errors import InputError
from maskwright.server import ServerConfig
from tests.server.scripted import Client, Script, ScriptedEngine
from tests.server.test_tools import TOOLS, says


def ask(client: Client, **fields: Any) -> httpx.Response:
    return client.call("POST", "/v1/responses", json={"input": "hello", **fields})


def events(client: Client, **fields: Any) -> list[Any]:
    blocks = ask(client, stream=True, **fields).text.strip().split("\n\n")
    return [json.loads(block.split("\ndata: ")[1]) for block in blocks]


def test_the_settings_of_a_request_are_repeated(client: Client) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    body = ask(
        client,
        model="gpt-5",
        instructions="be kind",
        tools=[tool],
        tool_choice="none",
        max_output_tokens=7,
        metadata={"a": "b"},
        reasoning={"effort": "low"},
        text={"verbosity": "low"},
        user="anna",
    ).json()
    flat = {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}
    expected = {
        "model": "gpt-5",
        "instructions": "be kind",
        "tools": [flat],
        "tool_choice": "none",
        "max_output_tokens": 7,
        "metadata": {"a": "b"},
        "reasoning": {"effort": "low", "summary": None},
        "text": {"format": {"type": "text"}, "verbosity": "low"},
        "user": "anna",
        "temperature": 1.0,
        "top_p": 1.0,
        "parallel_tool_calls": True,
        "status": "completed",
        "store": False,
    }
    assert {name: body[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("sent", "repeated"),
    [
        ({"type": "text", "schema": None}, {"type": "text"}),
        (
            {"type": "json_schema", "schema": {}, "strict": None},
            {"type": "json_schema", "schema": {}, "name": "answer"},
        ),
        (
            {"type": "json_schema", "name": "n", "schema": {}, "strict": True},
            {"type": "json_schema", "name": "n", "schema": {}, "strict": True},
        ),
        (
            {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
            {"type": "json_schema", "name": "n", "schema": {}},
        ),
    ],
    ids=str,
)
def test_a_format_is_repeated_in_openais_spelling(
    client: Client, sent: dict[str, Any], repeated: dict[str, Any]
) -> None:
    body = ask(client, text={"format": sent, "verbosity": None}).json()
    assert body["text"] == {"format": repeated}


FUNCTION = {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": True}
GRAMMAR = {"syntax": "regex", "definition": "a"}


@pytest.mark.parametrize(
    ("sent", "repeated"),
    [
        ({"type": "function", "function": FUNCTION}, {"type": "function", **FUNCTION}),
        ({"type": "function", **FUNCTION}, {"type": "function", **FUNCTION}),
        (
            {"type": None, "function": {"name": "f", "description": None}},
            {"type": "function", "name": "f", "parameters": None, "strict": False},
        ),
        ({"type": "custom", "custom": {"name": "f"}}, {"type": "custom", "name": "f"}),
        (
            {"type": "custom", "name": "f", "format": {"type": "text"}},
            {"type": "custom", "name": "f", "format": {"type": "text"}},
        ),
        (
            {
                "type": "custom",
                "custom": {"name": "f", "format": {"type": "grammar", "grammar": GRAMMAR}},
            },
            {"type": "custom", "name": "f", "format": {"type": "grammar", **GRAMMAR}},
        ),
    ],
    ids=str,
)
def test_a_tool_is_repeated_in_openais_spelling(
    client: Client, sent: dict[str, Any], repeated: dict[str, Any]
) -> None:
    assert ask(client, tools=[sent], tool_choice="none").json()["tools"] == [repeated]


def test_a_name_that_was_not_sent_is_left_out(client: Client) -> None:
    assert not {"user", "safety_identifier", "prompt_cache_key"} & ask(client).json().keys()


def test_tools_reach_the_template_in_one_form(client: Client, engine: ScriptedEngine) -> None:
    flat = {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}}
    ask(client, tools=[flat], tool_choice="none")
    inner = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    assert list(engine.loaded.rendered.tools) == [{"type": "function", "function": inner}]


def test_a_failure_midway_is_an_event_and_the_end(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(texts=("x",), end="error", error=InputError("why", param="logit_bias"))
    *_, before, last = events(client)
    assert before["type"] == "response.output_text.delta"
    assert last["type"] == "error"
    assert last["sequence_number"] == before["sequence_number"] + 1
    assert (last["message"], last["param"], last["code"]) == ("why", "logit_bias", "invalid_value")
    assert last["error"]["message"] == "why"  # where the official client reads it
    assert not engine.running


def test_an_empty_answer_is_an_empty_message(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(texts=())
    for body in (ask(client).json(), events(client)[-1]["response"]):
        [item] = body["output"]
        assert item["content"][0]["text"] == ""


def test_a_limit_makes_it_incomplete(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(end="length")
    last = events(client)[-1]
    assert last["type"] == "response.incomplete"
    for body in (ask(client).json(), last["response"]):
        assert body["status"] == "incomplete"
        assert body["incomplete_details"] == {"reason": "max_output_tokens"}
        assert body["output"][0]["status"] == "incomplete"


def test_text_that_was_held_back_keeps_its_log_probabilities(
    client: Client, engine: ScriptedEngine
) -> None:
    """Text that may begin a call comes when that is decided, its tokens' entries with it."""
    client.config = ServerConfig(tool_format="hermes")
    engine.script = Script(["<tool_", "kit> ", "is here"], spelled=True)
    tool = {"type": "function", "name": "f", "parameters": {"type": "object"}}
    wanted: Any = {"tools": [tool], "top_logprobs": 0, "include": ["message.output_text.logprobs"]}
    made = events(client, **wanted)
    [whole] = ask(client, **wanted).json()["output"]
    [streamed] = made[-1]["response"]["output"]
    assert streamed["content"][0] == whole["content"][0]
    entries = [e for one in made if one["type"].endswith("text.delta") for e in one["logprobs"]]
    assert bytes(b for e in entries for b in e["bytes"]) == b"<tool_kit> is here"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_log_probabilities_stand_with_the_text_of_their_tokens(
    client: Client, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Those of reasoning and of calls stand with none."""
    monkeypatch.setattr(type(engine.loaded), "chat_template", "<think></think> <tool_call>")
    client.config = ServerConfig(tool_format="hermes")
    call = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    says(engine, f"<think>\nNôt\n</think>\n\nSée:\n{call}\n{call}", size)
    wanted: Any = {"tools": TOOLS, "include": ["message.output_text.logprobs"]}
    made = events(client, **wanted)
    for body in (ask(client, **wanted).json(), made[-1]["response"]):
        kinds = [one["type"] for one in body["output"]]
        assert kinds == ["reasoning", "message", "function_call", "function_call"]
        [said] = body["output"][1]["content"]
        assert said["text"] == "Sée:\n"
        assert bytes(b for entry in said["logprobs"] for b in entry["bytes"]) == "Sée:\n".encode()
    for one in made:
        if one["type"] == "response.output_text.delta":
            data = bytes(b for entry in one["logprobs"] for b in entry["bytes"])
            assert data.decode() == one["delta"]


def test_a_trace_is_reported_at_the_end(client: Client) -> None:
    made = events(client, maskwright={"trace": True})
    assert made[-1]["response"]["maskwright"]["trace"]["route"] == "/v1/responses"
    assert "maskwright" not in made[0]["response"]
