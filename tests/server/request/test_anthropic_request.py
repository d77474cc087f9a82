"""The body of POST /v1/messages: what becomes of it, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.server.request.anthropic_request import MOST_STOPS, AnthropicRequest
from maskwright.server.request.messages import ChatPrompt, Message, ToolCall
from maskwright.server.request.shape import FreeText

HELLO = [{"role": "user", "content": "hello"}]
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {"name": "look", "description": "Looks.", "input_schema": SCHEMA}


def parsed(**fields: Any) -> AnswerRequest:
    return AnthropicRequest.parse({"messages": HELLO, "max_tokens": 10, **fields})


def prompt(**fields: Any) -> ChatPrompt:
    [one] = parsed(**fields).prompts
    assert isinstance(one, ChatPrompt)
    return one


def refused(**fields: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        parsed(**fields)
    return caught.value


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value, "cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize("system", ["be kind", [text("be "), text("kind")]])
def test_the_system_prompt_is_the_first_message(system: Any) -> None:
    chat = prompt(system=system)
    assert chat.messages == (Message("system", "be kind"), Message("user", "hello"))
    assert chat.begins_answer
    assert not chat.continues


def test_a_conversation_with_tools_is_read_block_by_block() -> None:
    messages = [
        {"role": "user", "content": [text("What is the weather "), text("in Oslo?")]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I look.", "signature": "s"},
                text("A moment."),
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"city": "Oslo"}},
                {"type": "tool_use", "id": "t2", "name": "look", "input": {"city": "Rome"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "rain"},
                {"type": "tool_result", "tool_use_id": "t2", "content": [text("s"), text("un")]},
                {"type": "tool_result", "tool_use_id": "t3", "is_error": True},
                text("And?"),
            ],
        },
    ]
    assert prompt(messages=messages).messages == (
        Message("user", "What is the weather in Oslo?"),
        Message(
            "assistant",
            "A moment.",
            tool_calls=(
                ToolCall("t1", "look", {"city": "Oslo"}),
                ToolCall("t2", "look", {"city": "Rome"}),
            ),
            reasoning="I look.",
        ),
        Message("tool", "rain", tool_call_id="t1"),
        Message("tool", "sun", tool_call_id="t2"),
        Message("tool", "", tool_call_id="t3"),
        Message("user", "And?"),
    )


def test_a_text_document_is_read_with_its_title() -> None:
    document = {"type": "document", "title": "Bill", "source": {"type": "text", "data": "12"}}
    messages = [{"role": "user", "content": [document, text("\nHow much?")]}]
    assert prompt(messages=messages).messages == (Message("user", "Bill\n12\nHow much?"),)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ({"type": "text", "data": "12", "media_type": {}}, "media_type"),
        ({"type": "text"}, "data"),
        ({"type": "base64", "data": "MTI="}, "type"),
    ],
    ids=["type of data", "no data", "no text"],
)
def test_documents_that_are_no_text_are_refused(source: dict[str, Any], place: str) -> None:
    block = {"type": "document", "source": source}
    error = refused(messages=[{"role": "user", "content": [block]}])
    assert error.param == f"messages[0].content[0].source.{place}"


@pytest.mark.parametrize(
    ("last", "continues"),
    [
        ({"role": "assistant", "content": "The answer is"}, True),
        ({"role": "assistant", "content": [text("The")]}, True),
        (
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}],
            },
            False,
        ),
        ({"role": "user", "content": "Go."}, False),
    ],
)
def test_the_answer_continues_the_text_of_an_assistant(last: Any, continues: bool) -> None:
    chat = prompt(messages=[*HELLO, last])
    assert (chat.continues, chat.begins_answer) == (continues, not continues)


@pytest.mark.parametrize(
    ("choice", "mode", "parallel"),
    [
        (None, "auto", True),
        ({"type": "auto"}, "auto", True),
        ({"type": "any", "disable_parallel_tool_use": True}, "required", False),
        ({"type": "tool", "name": "look"}, "one", True),
        ({"type": "none"}, "none", True),
    ],
)
def test_tools_and_the_choice_among_them(choice: Any, mode: str, parallel: bool) -> None:
    use = parsed(tools=[TOOL], tool_choice=choice).tool_use
    assert use is not None
    assert (use.choice.mode, use.parallel) == (mode, parallel)
    [tool] = use.tools
    assert (tool.name, tool.parameters, tool.place) == ("look", SCHEMA, "tools[0].input_schema")
    function = {"name": "look", "description": "Looks.", "parameters": SCHEMA}
    assert use.sent == ({"type": "function", "function": function},)


def test_settings_are_obeyed() -> None:
    request = parsed(
        max_tokens=7,
        temperature=0.5,
        top_p=0.9,
        top_k=5,
        stop_sequences=["a", "b"],
        metadata={"user_id": "anna"},
        stream=True,
        seed=3,
    )
    options = request.options
    assert request.limit is not None
    assert request.limit.tokens == 7
    assert (options.params.temperature, options.params.top_p) == (0.5, 0.9)
    assert (options.params.top_k, options.params.seed) == (5, 3)
    assert (options.stop, options.user, request.reply.stream) == (("a", "b"), "anna", True)
    assert isinstance(request.shape, FreeText)


@pytest.mark.parametrize(
    "fields",
    [
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        {"output_format": {"type": "json_schema", "schema": SCHEMA}},
        {
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
            "output_format": {"type": "json_schema", "schema": SCHEMA},
        },
        {"guided_json": SCHEMA},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
    ],
    ids=lambda fields: "+".join(fields),
)
def test_a_shape_is_read_wherever_it_stands(fields: dict[str, Any]) -> None:
    shape = parsed(**fields).shape
    assert '"city"' in (shape.shown_schema or "")


@pytest.mark.parametrize(
    ("thinking", "tokens", "variables"),
    [
        (None, None, {}),
        ({"type": "enabled", "budget_tokens": 9}, 9, {"enable_thinking": True, "thinking": True}),
        ({"type": "adaptive"}, None, {"enable_thinking": True, "thinking": True}),
        ({"type": "disabled"}, None, {"enable_thinking": False, "thinking": False}),
    ],
)
def test_thinking_is_bounded_and_told_to_the_template(
    thinking: Any, tokens: int | None, variables: dict[str, Any]
) -> None:
    request = parsed(thinking=thinking)
    [chat] = request.prompts
    assert isinstance(chat, ChatPrompt)
    assert chat.variables == variables
    assert request.options.thinking_tokens == tokens
    assert request.options.thinking_optional == (tokens is not None)


def test_the_effort_is_told_to_the_template() -> None:
    chat = prompt(output_config={"effort": "max"}, thinking={"type": "adaptive"})
    assert chat.variables["reasoning_effort"] == "max"


def test_what_claude_code_sends_is_accepted() -> None:
    edits = [{"type": "clear_thinking_20251015", "keep": "all"}]
    request = parsed(
        model="claude-sonnet-4-5",
        max_tokens=32_000,
        system=[text("You are a tool."), text("Be brief.")],
        metadata={"user_id": "user_1_account_2_session_3"},
        tools=[{**TOOL, "cache_control": {"type": "ephemeral"}, "eager_input_streaming": True}],
        context_management={"edits": edits},
        thinking={"type": "enabled", "budget_tokens": 31_999},
        service_tier="auto",
        temperature=1,
        stream=True,
    )
    assert request.reply.stream


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [{"content": "a"}]}, "messages[0].role"),
        ({"messages": [{"role": "tool", "content": "a"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]},
            "messages[0].content[0].type",
        ),
        (
            {"messages": [{"role": "user", "content": [{"text": "a"}]}]},
            "messages[0].content[0].type",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]},
            "messages[0].content[0].tool_use_id",
        ),
        ({"system": 3}, "system"),
        ({"system": [{"type": "image"}]}, "system[0].type"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stop_sequences": [""]}, "stop_sequences"),
        ({"stop_sequences": ["a"] * (MOST_STOPS + 1)}, "stop_sequences"),
        ({"stop": ["a"]}, "stop"),
        ({"tools": [{"name": "look"}]}, "tools[0].input_schema"),
        ({"tools": [{"input_schema": {}}]}, "tools[0].name"),
        ({"tools": [{**TOOL, "name": "a b"}]}, "tools[0].name"),
        ({"tools": [TOOL, TOOL]}, "tools[1].name"),
        ({"tools": [{**TOOL, "parameters": {}}]}, "tools[0].parameters"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0].type"),
        ({"tools": [{**TOOL, "defer_loading": True}]}, "tools[0].defer_loading"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool"}}, "tool_choice.name"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "other"}},
            "tool_choice.name",
        ),
        ({"tools": [TOOL], "tool_choice": {"type": "any", "name": "look"}}, "tool_choice.name"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": "auto"}, "tool_choice"),
        ({"thinking": {"type": "on"}}, "thinking.type"),
        ({"thinking": {"budget_tokens": 5}}, "thinking.type"),
        ({"thinking": {"type": "adaptive", "budget_tokens": 5}}, "thinking.budget_tokens"),
        ({"output_config": {"formt": {}}}, "output_config.formt"),
        (
            {
                "output_format": {"type": "json_schema", "schema": SCHEMA},
                "output_config": {"format": {"type": "json_schema", "schema": {}}},
            },
            "output_format",
        ),
        ({"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
         "context_management"),
        ({"mcp_servers": [{"url": "https://a.example"}]}, "mcp_servers"),
        ({"container": "c"}, "container"),
        ({"n": 2}, "n"),
        ({"max_output_tokens": 3}, "max_output_tokens"),
    ],
    ids=str,
)  # fmt: skip
def test_what_can_not_be_obeyed_is_refused_by_name(fields: dict[str, Any], place: str) -> None:
    error = refused(**fields)
    assert error.param == place
    assert ".function" not in error.message
    assert "'required'" not in error.message  # as chat completions call `any`


def test_the_bounds_of_stop_sequences() -> None:
    assert len(parsed(stop_sequences=["a"] * MOST_STOPS).options.stop) == MOST_STOPS
