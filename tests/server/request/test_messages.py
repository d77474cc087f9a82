"""The conversation: what is read of each turn, and how a chat template sees it."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.messages import Message, PromptFields, ToolCall


def parsed(*messages: Any) -> tuple[Message, ...]:
    return PromptFields.read({"messages": list(messages)}).prompt().messages


def call(**function: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": "1", "function": function}]}


TEXT = {"type": "text", "text": "a"}
REFUSAL = {"type": "refusal", "refusal": "no"}
THINKING = {"type": "thinking", "thinking": "hm"}

CONTENTS: list[tuple[dict[str, Any], str]] = [
    # a message, and its content
    ({"role": "user", "content": "hi"}, "hi"),
    ({"role": "user", "content": ""}, ""),
    ({"role": "user", "content": [TEXT, {"type": "text", "text": "b"}]}, "ab"),
    ({"role": "user", "content": []}, ""),
    ({"role": "tool", "content": "42", "tool_call_id": "1"}, "42"),
    ({"role": "assistant"}, ""),
    ({"role": "assistant", "content": None}, ""),
    ({"role": "assistant", "refusal": "no"}, "no"),
    ({"role": "assistant", "content": "yes", "refusal": "no"}, "yes"),
    ({"role": "assistant", "content": [TEXT, REFUSAL]}, "ano"),
    ({"role": "user", "content": ["a", "b"]}, "ab"),
    ({"role": "user", "content": ["b", TEXT, ""]}, "ba"),
    ({"role": "tool", "content": ["42"], "tool_call_id": "1"}, "42"),
    ({"role": "assistant", "content": ["b", REFUSAL, THINKING, TEXT]}, "bnoa"),
]


@pytest.mark.parametrize(("message", "content"), CONTENTS, ids=str)
def test_contents(message: dict[str, Any], content: str) -> None:
    (found,) = parsed(message)
    assert (found.role, found.content) == (message["role"], content)


@pytest.mark.parametrize(
    ("fields", "reasoning"),
    [
        ({"content": [THINKING, TEXT]}, "hm"),
        ({"content": [THINKING, TEXT, THINKING]}, "hmhm"),
        ({"content": [{"type": "thinking", "thinking": ["x", TEXT]}]}, "xa"),
        ({"content": [{"type": "thinking", "thinking": []}, TEXT]}, ""),
        ({"content": [THINKING, TEXT], "reasoning_content": "hm, more"}, "hm, more"),
        ({"content": [THINKING, TEXT], "reasoning_content": ""}, "hm"),
        ({"content": [TEXT], "reasoning": "so"}, "so"),
    ],
)
def test_parts_of_an_assistant_may_be_reasoning(fields: dict[str, Any], reasoning: str) -> None:
    """Of which the field of its own takes precedence: it is the same in another form."""
    (found,) = parsed({"role": "assistant", **fields})
    assert found.reasoning == reasoning
    assert found.content in ("a", "")


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant", "tool", "function"])
def test_every_role(role: str) -> None:
    assert parsed({"role": role, "content": "x"}) == (Message(role, "x"),)


def test_turns_keep_their_order_and_may_repeat_a_role() -> None:
    turns = [{"role": role, "content": role} for role in ("user", "user", "system", "assistant")]
    assert [found.role for found in parsed(*turns)] == ["user", "user", "system", "assistant"]


ARGUMENTS: list[tuple[Any, dict[str, Any]]] = [
    ('{"a": [1, null]}', {"a": [1, None]}),
    ("{}", {}),
    ("", {}),  # what clients send for none
    (None, {}),
    ({"a": [1, None]}, {"a": [1, None]}),  # what clients of llama.cpp and SGLang send
]


@pytest.mark.parametrize(("text", "arguments"), ARGUMENTS)
def test_arguments_of_a_call(text: Any, arguments: dict[str, Any]) -> None:
    (found,) = parsed(call(name="f", arguments=text))
    assert found.tool_calls == (ToolCall("1", "f", arguments),)


def test_only_an_assistant_calls_tools() -> None:
    (found,) = parsed({**call(name="f"), "role": "user", "content": "x"})
    assert found.tool_calls == ()


MESSAGES: list[tuple[Any, str, str]] = [
    # a message, the place of its fault and the code
    ("hi", "", "invalid_value"),
    ({"content": "x"}, ".role", "missing_required_parameter"),
    ({"role": "king", "content": "x"}, ".role", "invalid_value"),
    ({"role": "user"}, ".content", "missing_required_parameter"),
    ({"role": "user", "refusal": "no"}, ".content", "missing_required_parameter"),
    ({"role": "user", "content": 5}, ".content", "invalid_value"),
    ({"role": "user", "content": [5]}, ".content[0]", "invalid_value"),
    ({"role": "user", "content": ["x", None]}, ".content[1]", "invalid_value"),
    ({"role": "user", "content": [THINKING]}, ".content[0].type", "unsupported_content"),
    ({"role": "assistant", "content": [{"type": "thinking"}]}, ".content[0].thinking",
     "missing_required_parameter"),
    ({"role": "assistant", "content": [{"type": "thinking", "thinking": [THINKING]}]},
     ".content[0].thinking[0].type", "unsupported_content"),
    ({"role": "user", "content": [TEXT, {"type": "text"}]}, ".content[1].text",
     "missing_required_parameter"),
    ({"role": "user", "content": [{"type": "image_url"}]}, ".content[0].type",
     "unsupported_content"),
    ({"role": "user", "content": [REFUSAL]}, ".content[0].type", "unsupported_content"),
    ({"role": "assistant", "content": [{"type": "refusal"}]}, ".content[0].refusal",
     "missing_required_parameter"),
    ({"role": "user", "content": "x", "name": 1}, ".name", "invalid_value"),
    ({"role": "tool", "content": "x", "tool_call_id": 1}, ".tool_call_id", "invalid_value"),
    ({"role": "assistant", "tool_calls": {}}, ".tool_calls", "invalid_value"),
    ({"role": "assistant", "tool_calls": [{}]}, ".tool_calls[0].function",
     "missing_required_parameter"),
    (call(arguments="{}"), ".tool_calls[0].function.name", "missing_required_parameter"),
    (call(name="f", arguments="[1]"), ".tool_calls[0].function.arguments", "invalid_value"),
    (call(name="f", arguments="{"), ".tool_calls[0].function.arguments", "invalid_value"),
    (call(name="f", arguments="[" * 100_000), ".tool_calls[0].function.arguments",
     "invalid_value"),
    (call(name="f", arguments=[]), ".tool_calls[0].function.arguments", "invalid_value"),
    ({"role": "assistant", "tool_calls": [{"type": "tool", "function": {"name": "f"}}]},
     ".tool_calls[0].type", "invalid_value"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("message", "place", "code"), MESSAGES, ids=[f"{place} {code}" for _, place, code in MESSAGES]
)
def test_faults_have_their_place(message: Any, place: str, code: str) -> None:
    with pytest.raises(InputError) as raised:
        parsed({"role": "user", "content": "good"}, message)
    assert (raised.value.param, raised.value.code) == (f"messages[1]{place}", code)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "missing_required_parameter"),
        ({"messages": None}, "missing_required_parameter"),
        ({"messages": []}, "invalid_value"),
        ({"messages": "hi"}, "invalid_value"),
    ],
)
def test_at_least_one_message(body: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as raised:
        PromptFields.read(body).prompt()
    assert (raised.value.param, raised.value.code) == ("messages", code)


TEMPLATES: list[tuple[Message, dict[str, Any]]] = [
    (Message("user", "hi"), {"role": "user", "content": "hi"}),
    (Message("developer", "hi"), {"role": "system", "content": "hi"}),
    (Message("user", "hi", name="Ada"), {"role": "user", "content": "hi", "name": "Ada"}),
    (
        Message("tool", "42", tool_call_id="1"),
        {"role": "tool", "content": "42", "tool_call_id": "1"},
    ),
    (
        Message("assistant", "", tool_calls=(ToolCall(None, "f", {"a": 1}),)),
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": None, "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
            ],
        },
    ),
]


@pytest.mark.parametrize(("message", "turn"), TEMPLATES)
def test_a_turn_as_templates_read_it(message: Message, turn: dict[str, Any]) -> None:
    assert message.for_template() == turn
