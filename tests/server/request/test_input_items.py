"""The input of POST /v1/responses as messages."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.messages import ChatPrompt, Message
from maskwright.server.request.response_request import ResponseRequest


def conversation(body: dict[str, Any]) -> tuple[Message, ...]:
    [prompt] = ResponseRequest.parse(body).prompts
    assert isinstance(prompt, ChatPrompt)
    return prompt.messages


def rendered(**body: Any) -> list[dict[str, Any]]:
    return [message.for_template() for message in conversation(body)]


def call(name: str, arguments: dict[str, Any], id: str = "c") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


USER = {"role": "user", "content": "hi"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
CALLED = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"x": 1}'}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "5"}
THOUGHT = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "t"}]}
SUMMARY = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "s"}]}

F = call("f", {"x": 1})
READ: list[tuple[list[Any], list[dict[str, Any]]]] = [
    ([USER], [USER]),
    ([{"role": "developer", "content": "d"}], [{"role": "system", "content": "d"}]),
    (
        [{"role": "user", "content": [{"type": "input_text", "text": t} for t in "ab"]}],
        [{"role": "user", "content": "ab"}],
    ),
    (
        [{"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}],
        [{"role": "assistant", "content": "no"}],
    ),
    # One turn of an assistant is one message.
    (
        [THOUGHT, SAID, CALLED, CALLED],
        [{"role": "assistant", "content": "a", "reasoning_content": "t", "tool_calls": [F, F]}],
    ),
    (
        [SUMMARY, CALLED],
        [{"role": "assistant", "content": "", "reasoning_content": "s", "tool_calls": [F]}],
    ),
    # What follows a call or a text is a turn of its own.
    (
        [CALLED, SAID],
        [
            {"role": "assistant", "content": "", "tool_calls": [F]},
            {"role": "assistant", "content": "a"},
        ],
    ),
    ([SAID, SAID], [{"role": "assistant", "content": "a"}] * 2),
    (
        [SAID, THOUGHT, CALLED],
        [
            {"role": "assistant", "content": "a"},
            {"role": "assistant", "content": "", "reasoning_content": "t", "tool_calls": [F]},
        ],
    ),
    (
        [CALLED, RESULT, CALLED],
        [
            {"role": "assistant", "content": "", "tool_calls": [F]},
            {"role": "tool", "content": "5", "tool_call_id": "c"},
            {"role": "assistant", "content": "", "tool_calls": [F]},
        ],
    ),
    (
        [{"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, "a"]}],
        [{"role": "assistant", "content": "a", "reasoning_content": "t"}],
    ),
    ([{"role": "user", "content": ["h", "i"]}], [USER]),
    (
        [{**RESULT, "output": [{"type": "input_text", "text": "5"}]}],
        [{"role": "tool", "content": "5", "tool_call_id": "c"}],
    ),
    (
        [
            {"type": "custom_tool_call", "call_id": "d", "name": "g", "input": "x = 1"},
            {"type": "custom_tool_call_output", "call_id": "d", "output": "ok"},
        ],
        [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [call("g", {"input": "x = 1"}, "d")],
            },
            {"role": "tool", "content": "ok", "tool_call_id": "d"},
        ],
    ),
]


@pytest.mark.parametrize(("items", "messages"), READ)
def test_items(items: list[Any], messages: list[dict[str, Any]]) -> None:
    assert rendered(input=items) == messages


def test_a_string_is_a_users_message() -> None:
    assert rendered(input="hi") == [USER]


def test_without_input_the_user_has_said_nothing() -> None:
    nothing = {"role": "user", "content": ""}
    assert rendered() == rendered(input=None) == [nothing]
    assert rendered(instructions="go on") == [{"role": "system", "content": "go on"}, nothing]


def test_instructions_come_first() -> None:
    assert rendered(input="hi", instructions="be kind") == [
        {"role": "system", "content": "be kind"},
        USER,
    ]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"input": []}, "input"),
    ({"input": 5}, "input"),
    ({"input": ["hi"]}, "input[0]"),
    ({"input": [USER, {"type": "item_reference", "id": "x"}]}, "input[1].type"),
    ({"input": [{"type": 5}]}, "input[0].type"),
    ({"input": [{"content": "x"}]}, "input[0].role"),
    ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
    ({"input": [{"role": "user"}]}, "input[0].content"),
    ({"input": [{"role": "user", "content": [5]}]}, "input[0].content[0]"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
        "input[0].content[0].type",
    ),
    ({"input": [{"type": "function_call", "call_id": "c"}]}, "input[0].name"),
    ({"input": [{**CALLED, "arguments": "[1]"}]}, "input[0].arguments"),
    ({"input": [{"type": "custom_tool_call", "call_id": "c", "input": "x"}]}, "input[0].name"),
    ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
    ({"input": [{"type": "function_call_output", "call_id": "c"}]}, "input[0].output"),
    ({"input": "hi", "instructions": ["x"]}, "instructions"),
]


@pytest.mark.parametrize(("body", "param"), REFUSED, ids=str)
def test_refused(body: dict[str, Any], param: str) -> None:
    with pytest.raises(InputError) as caught:
        conversation(body)
    assert caught.value.param == param
