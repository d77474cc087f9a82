"""Tool calls as the official `openai` package gets them from the shipped model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import openai
import pytest

ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "warm": {"type": "boolean"}},
    "required": ["name", "warm"],
    "additionalProperties": False,
}
MESSAGES: Any = [{"role": "user", "content": "What is the weather in Oslo for the next 3 days?"}]
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
EVENT = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 20},
        "guests": {"type": "array", "items": {"type": "string", "maxLength": 10}, "maxItems": 3},
    },
    "required": ["title"],
    "additionalProperties": False,
}
SCHEMAS = {"get_weather": WEATHER, "plan_event": EVENT}
TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in SCHEMAS.items()
]


def check(name: str, arguments: str) -> None:
    jsonschema.validate(json.loads(arguments), SCHEMAS[name])


@pytest.mark.parametrize("temperature", [0, 1])
def test_required_calls_obey_their_schema(client: openai.OpenAI, temperature: float) -> None:
    for seed in range(4):
        answer = client.chat.completions.create(
            model="demo",
            messages=MESSAGES,
            tools=TOOLS,
            tool_choice="required",
            parallel_tool_calls=False,
            temperature=temperature,
            seed=seed,
        )
        [choice] = answer.choices
        assert choice.finish_reason == "tool_calls"
        assert choice.message.content is None
        [call] = choice.message.tool_calls or []
        assert call.type == "function"
        check(call.function.name, call.function.arguments)


def test_a_named_function_is_the_one_called(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="demo",
        messages=MESSAGES,
        tools=TOOLS,
        tool_choice={"type": "function", "function": {"name": "plan_event"}},
        temperature=1,
        seed=1,
    )
    [call] = answer.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert call.function.name == "plan_event"
    check("plan_event", call.function.arguments)


def test_under_auto_the_model_chooses(client: openai.OpenAI) -> None:
    for seed in range(4):
        answer = client.chat.completions.create(
            model="demo",
            messages=MESSAGES,
            tools=TOOLS,
            temperature=1,
            seed=seed,
            max_tokens=200,
        )
        message = answer.choices[0].message
        assert message.content or message.tool_calls
        for call in message.tool_calls or []:
            assert call.type == "function"
            check(call.function.name, call.function.arguments)


def test_a_streamed_call_is_the_whole_one(client: openai.OpenAI) -> None:
    asked: dict[str, Any] = {
        "model": "demo",
        "messages": MESSAGES,
        "tools": TOOLS,
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "temperature": 1,
        "seed": 5,
    }
    [call] = client.chat.completions.create(**asked).choices[0].message.tool_calls or []
    with client.chat.completions.stream(**asked) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    [streamed] = final.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert streamed.function.name == call.function.name
    assert streamed.function.arguments == call.function.arguments
    assert final.choices[0].finish_reason == "tool_calls"


def test_each_of_several_streamed_answers_ends_with_its_calls(client: openai.OpenAI) -> None:
    asked: dict[str, Any] = {
        "model": "demo",
        "messages": MESSAGES,
        "tools": TOOLS,
        "tool_choice": "required",
        "temperature": 1,
        "seed": 5,
        "n": 2,
    }
    calls: dict[tuple[int, int], list[str]] = {}
    ends: dict[int, list[str]] = {}
    for chunk in client.chat.completions.create(stream=True, **asked):
        for choice in chunk.choices:
            for delta in choice.delta.tool_calls or []:
                assert delta.function is not None
                call = calls.setdefault((choice.index, delta.index), ["", ""])
                call[0] += delta.function.name or ""
                call[1] += delta.function.arguments or ""
            if choice.finish_reason is not None:
                ends.setdefault(choice.index, []).append(choice.finish_reason)
    assert ends == {0: ["tool_calls"], 1: ["tool_calls"]}
    assert {index for index, _ in calls} == {0, 1}
    for name, arguments in calls.values():
        check(name, arguments)


# Beside a shape -----------------------------------------------------------------------------------


def is_answer(text: str) -> bool:
    return jsonschema.Draft202012Validator(ANSWER).is_valid(json.loads(text))


BESIDE: dict[str, tuple[dict[str, Any], Callable[[str], object]]] = {
    "json_schema": (
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": ANSWER, "strict": True},
            }
        },
        is_answer,
    ),
    "json_object": (
        {"response_format": {"type": "json_object"}},
        lambda text: isinstance(json.loads(text), dict),
    ),
    "regex": (
        {"extra_body": {"guided_regex": r'\{"warm": (yes|no)\}'}},
        re.compile(r'\{"warm": (yes|no)\}').fullmatch,
    ),
    "choice": ({"extra_body": {"guided_choice": ["warm", "cold"]}}, ("warm", "cold").count),
    "grammar": (
        {"extra_body": {"guided_grammar": 'start: "{" ("a" | "b")+ "}"'}},
        re.compile(r"\{[ab]+\}").fullmatch,
    ),
    "tag": (
        {
            "extra_body": {
                "structural_tag": {
                    "format": {
                        "type": "tag",
                        "begin": "<a>",
                        "content": {"type": "json_schema", "json_schema": {"type": "integer"}},
                        "end": "</a>",
                    }
                }
            }
        },
        re.compile(r"<a>-?\d+</a>").fullmatch,
    ),
}


@pytest.mark.parametrize("shape", BESIDE)
def test_under_auto_an_answer_is_a_call_or_has_its_shape(client: openai.OpenAI, shape: str) -> None:
    fields, is_right = BESIDE[shape]
    for seed in range(6):
        asked: dict[str, Any] = {
            "model": "demo",
            "messages": MESSAGES,
            "tools": TOOLS,
            "temperature": 1.5,
            "seed": seed,
            "max_tokens": 120,
            **fields,
        }
        message = client.chat.completions.create(**asked).choices[0].message
        calls: list[tuple[str, str]] = []
        for call in message.tool_calls or []:
            assert call.type == "function"
            check(call.function.name, call.function.arguments)
            calls.append((call.function.name, call.function.arguments))
        assert is_right(message.content) if not calls else message.content is None
        streamed, text = streamed_answer(client, asked)
        assert streamed == calls
        assert text == (message.content or "")


def streamed_answer(
    client: openai.OpenAI, asked: dict[str, Any]
) -> tuple[list[tuple[str, str]], str]:
    """The calls and the text of a streamed answer."""
    calls: list[tuple[str, str]] = []
    text = ""
    for chunk in client.chat.completions.create(**asked, stream=True):
        delta = chunk.choices[0].delta
        text += delta.content or ""
        for piece in delta.tool_calls or []:
            assert piece.function is not None
            if piece.index == len(calls):
                calls.append((piece.function.name or "", ""))
            name, before = calls[piece.index]
            calls[piece.index] = (name, before + (piece.function.arguments or ""))
    return calls, text


# Closed where nobody asked for more ---------------------------------------------------------------


@pytest.mark.parametrize("properties", [{}, {"city": {"type": "string", "maxLength": 10}}])
def test_arguments_have_no_names_that_the_tool_doesnt_list(
    client: openai.OpenAI, properties: dict[str, Any]
) -> None:
    parameters = {"type": "object", "properties": properties}
    tool: Any = {"type": "function", "function": {"name": "now", "parameters": parameters}}
    for seed in range(8):
        answer = client.chat.completions.create(
            model="demo",
            messages=MESSAGES,
            tools=[tool],
            tool_choice="required",
            parallel_tool_calls=False,
            temperature=1.5,
            seed=seed,
            max_tokens=60,
        )
        [call] = answer.choices[0].message.tool_calls or []
        assert call.type == "function"
        assert json.loads(call.function.arguments).keys() <= properties.keys()


def test_custom_tools(client: openai.OpenAI) -> None:
    pattern = r"[A-Z][a-z]{2} \d{1,2}"
    tools: Any = [
        {
            "type": "custom",
            "custom": {
                "name": "date",
                "format": {
                    "type": "grammar",
                    "grammar": {"syntax": "regex", "definition": pattern},
                },
            },
        },
        {
            "type": "custom",
            "custom": {
                "name": "sum",
                "format": {
                    "type": "grammar",
                    "grammar": {"syntax": "lark", "definition": 'start: /[0-9]/ ["+" start]'},
                },
            },
        },
    ]
    for seed in range(6):
        asked: dict[str, Any] = {
            "model": "demo",
            "messages": MESSAGES,
            "tools": tools,
            "tool_choice": "required",
            "parallel_tool_calls": False,
            "temperature": 1.5,
            "seed": seed,
            "max_tokens": 60,
        }
        [call] = client.chat.completions.create(**asked).choices[0].message.tool_calls or []
        assert call.type == "custom"
        right = {"date": pattern, "sum": r"\d(\+\d)*"}[call.custom.name]
        assert re.fullmatch(right, call.custom.input)
        response = client.responses.create(
            model="demo",
            input="When?",
            tools=[
                {
                    "type": "custom",
                    "name": "date",
                    "format": {"type": "grammar", "syntax": "regex", "definition": pattern},
                }
            ],
            tool_choice={"type": "custom", "name": "date"},
            temperature=1.5,
            max_output_tokens=60,
        )
        [item] = response.output
        assert item.type == "custom_tool_call"
        assert re.fullmatch(pattern, item.input)


LEGACY: dict[str, Any] = {
    "name": "get_age",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 12}},
        "required": ["name"],
        "additionalProperties": False,
    },
}


def test_functions_are_called_in_their_older_form(client: openai.OpenAI) -> None:
    asked: dict[str, Any] = {
        "model": "demo",
        "messages": [{"role": "user", "content": "How old is Anna?"}],
        "functions": [LEGACY],
        "function_call": {"name": "get_age"},
        "seed": 2,
    }
    [choice] = client.chat.completions.create(**asked).choices
    call = choice.message.function_call
    assert call is not None
    assert (call.name, choice.finish_reason) == ("get_age", "function_call")
    jsonschema.validate(json.loads(call.arguments), LEGACY["parameters"])
    assert choice.message.tool_calls is None
    name = arguments = ""
    reason = None
    for chunk in client.chat.completions.create(stream=True, **asked):
        [one] = chunk.choices
        reason = one.finish_reason
        if one.delta.function_call is not None:
            name += one.delta.function_call.name or ""
            arguments += one.delta.function_call.arguments or ""
    assert (name, arguments, reason) == (call.name, call.arguments, "function_call")
    history = [
        *asked["messages"],
        {"role": "assistant", "content": None, "function_call": dict(call)},
        {"role": "function", "name": "get_age", "content": "34"},
    ]
    asked |= {"messages": history, "max_tokens": 60}
    answer = client.chat.completions.create(**asked)
    assert answer.choices[0].message.function_call is not None


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"functions": [{"name": "a b"}]}, "functions[0].name"),
        ({"functions": [LEGACY], "function_call": {"name": "other"}}, "function_call.name"),
        ({"functions": [LEGACY], "tools": [{"type": "function", "function": LEGACY}]}, "functions"),
    ],
)
def test_errors_name_the_older_fields(
    client: openai.OpenAI, fields: dict[str, Any], param: str
) -> None:
    messages: Any = [{"role": "user", "content": "How old is Anna?"}]
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="demo", messages=messages, extra_body=fields)
    assert caught.value.param == param
