"""The `anthropic` package: messages, streams, tools, parsing and counting, called and awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, TOOLS, Person, check_call

anthropic: Any = pytest.importorskip("anthropic", reason=ABSENT)

GREEDY: Any = {"temperature": 0}
"""Settings that newer versions of the package know of no longer."""
PLAIN: Any = {"model": MODEL, "max_tokens": 64, "messages": [{"role": "user", "content": TEXT}]}
ASKED: Any = {**PLAIN, "extra_body": GREEDY}
WEATHER: Any = [{"role": "user", "content": QUESTION}]
OWN_TOOLS: Any = [
    {
        "name": tool["function"]["name"],
        "description": tool["function"]["description"],
        "input_schema": tool["function"]["parameters"],
    }
    for tool in TOOLS
]
CALL: Any = {"model": MODEL, "max_tokens": 200, "tools": OWN_TOOLS, "extra_body": GREEDY}


@pytest.fixture
def client(server: str) -> Iterator[Any]:
    with anthropic.Anthropic(base_url=server, api_key="none", max_retries=0) as client:
        yield client


def test_a_message_has_its_text_and_its_usage(client: Any) -> None:
    message = client.messages.create(**ASKED, system="Extract the person.")
    [block] = message.content
    assert block.type == "text"
    assert block.text
    assert message.stop_reason in ("end_turn", "max_tokens")
    assert message.usage.output_tokens > 0
    counted = client.messages.count_tokens(
        model=MODEL, messages=ASKED["messages"], system="Extract the person."
    )
    used = message.usage.input_tokens + message.usage.cache_read_input_tokens
    assert counted.input_tokens == used


def test_a_stream_has_its_events_in_order_and_the_whole_answer(client: Any) -> None:
    whole = client.messages.create(**ASKED)
    with client.messages.stream(**ASKED) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_message()
    assert kinds[:2] == ["message_start", "content_block_start"]
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert [block.text for block in final.content] == [block.text for block in whole.content]
    assert final.stop_reason == whole.stop_reason
    assert final.usage.output_tokens == whole.usage.output_tokens


def test_a_stop_sequence_is_named(client: Any) -> None:
    shape = {**GREEDY, "guided_regex": "That is it"}
    message = client.messages.create(**PLAIN, stop_sequences=["is"], extra_body=shape)
    assert message.content[0].text == "That "
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "is")


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "get_weather"}])
def test_a_call_goes_there_and_back(client: Any, choice: Any) -> None:
    first = client.messages.create(**CALL, messages=WEATHER, tool_choice=choice)
    assert first.stop_reason == "tool_use"
    calls = [block for block in first.content if block.type == "tool_use"]
    for call in calls:
        check_call(call.name, call.input)
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": "Rain."} for call in calls
    ]
    turns = [
        *WEATHER,
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": results},
    ]
    second = client.messages.create(**CALL, messages=turns, tool_choice={"type": "none"})
    assert [block.type for block in second.content] == ["text"]


def test_a_streamed_call_is_joined(client: Any) -> None:
    choice = {"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True}
    whole = client.messages.create(**CALL, messages=WEATHER, tool_choice=choice)
    with client.messages.stream(**CALL, messages=WEATHER, tool_choice=choice) as stream:
        pieces = [event.partial_json for event in stream if event.type == "input_json"]
        [call] = stream.get_final_message().content
    assert len(pieces) > 1
    assert call.input == whole.content[0].input
    check_call(call.name, call.input)


def test_a_class_is_parsed(client: Any) -> None:
    message = client.messages.parse(**ASKED, output_format=Person)
    assert type(message.parsed_output) is Person


def test_awaited(server: str) -> None:
    async def ask() -> tuple[Any, Any]:
        async with anthropic.AsyncAnthropic(base_url=server, api_key="none") as client:
            whole = await client.messages.create(**ASKED)
            async with client.messages.stream(**ASKED) as stream:
                return whole, await stream.get_final_message()

    whole, streamed = asyncio.run(ask())
    assert whole.content[0].text == streamed.content[0].text


def test_an_error_has_its_class_and_names_the_place(client: Any) -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(
            model=MODEL, max_tokens=5, messages=[{"role": "user", "content": [image]}]
        )
    assert caught.value.body["error"]["param"] == "messages[0].content[0].type"
    assert caught.value.request_id


TYPED: Any = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "mode": {"type": "string", "enum": ["a", "b"]}},
    "required": ["path"],
    "additionalProperties": False,
}
CACHED: Any = {"type": "ephemeral"}
CODING: Any = {
    "model": MODEL,
    "system": [
        {"type": "text", "text": "You are a coding agent."},
        {"type": "text", "text": "You help with code. " * 120, "cache_control": CACHED},
    ],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"},
                {"type": "text", "text": "Read a.py.", "cache_control": CACHED},
            ],
        }
    ],
    "tools": [
        {"name": f"tool_{at}", "description": "Reads a file.", "input_schema": TYPED}
        for at in range(16)
    ],
    "thinking": {"type": "enabled", "budget_tokens": 31_999},
}
"""A request as Claude Code sends it: a long system prompt in blocks, many tools, and more tokens
for thinking than the model has. The demo model's context holds 2,048 tokens."""
SENT: Any = {
    **CODING,
    "max_tokens": 32_000,
    "metadata": {"user_id": "user_1_session_2"},
    "tool_choice": {"type": "any"},
    "extra_body": {"context_management": {"edits": []}, **GREEDY},
    "timeout": 60,
}


def test_a_coding_agent_is_answered(client: Any) -> None:
    message = client.messages.create(**SENT)
    assert message.stop_reason == "tool_use"
    calls = [block for block in message.content if block.type == "tool_use"]
    assert {call.name for call in calls} <= {tool["name"] for tool in CODING["tools"]}
    assert all(isinstance(call.input["path"], str) for call in calls)
    assert set().union(*(call.input for call in calls)) <= {"path", "mode"}
    counted = client.messages.count_tokens(**CODING)
    assert counted.input_tokens > 1_000
    used = message.usage.input_tokens + message.usage.cache_read_input_tokens
    assert counted.input_tokens == used


def test_a_coding_agent_follows_a_stream_and_goes_on(client: Any) -> None:
    with client.messages.stream(**SENT) as stream:
        kinds = [event.type for event in stream]
        first = stream.get_final_message()
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"
    assert kinds.count("content_block_start") == kinds.count("content_block_stop")
    results = [
        {
            "type": "tool_result",
            "tool_use_id": block.id,
            "content": [{"type": "text", "text": "No such file."}],
            "is_error": True,
        }
        for block in first.content
        if block.type == "tool_use"
    ]
    assert results
    turns = [
        *CODING["messages"],
        {"role": "assistant", "content": [block.to_dict() for block in first.content]},
        {"role": "user", "content": results},
    ]
    second = client.messages.create(**{**SENT, "messages": turns, "tool_choice": {"type": "none"}})
    assert {block.type for block in second.content} <= {"text", "thinking"}
    assert second.usage.cache_read_input_tokens > 500
