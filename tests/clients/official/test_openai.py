"""The official `openai` package: parsing, streams, tools and responses, called and awaited."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.clients.cases import (
    ARGUMENTS,
    MODEL,
    QUESTION,
    TEXT,
    TOOLS,
    Order,
    Person,
    check_call,
    in_order,
)

ASKED: Any = {"model": MODEL, "messages": [{"role": "user", "content": TEXT}]}
ASKED_WEATHER: Any = {"model": MODEL, "messages": [{"role": "user", "content": QUESTION}]}
PARSED_TOOLS: Any = [
    openai.pydantic_function_tool(arguments, name=name) for name, arguments in ARGUMENTS.items()
]
FLAT_TOOLS: Any = [{"type": "function", **tool["function"]} for tool in TOOLS]
DATE = r"2026-[01][0-9]-[0-3][0-9]"


@pytest.fixture
def client(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


@pytest.mark.parametrize("kind", [Person, Order])
def test_a_class_is_parsed(client: openai.OpenAI, kind: type[Person] | type[Order]) -> None:
    answer: Any = client.chat.completions.parse(**ASKED, response_format=kind, temperature=1)
    assert type(answer.choices[0].message.parsed) is kind
    assert answer.choices[0].finish_reason == "stop"


def test_a_stream_of_a_class_has_its_events_in_order(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(**ASKED, response_format=Person) as stream:
        events: list[Any] = list(stream)
        final = stream.get_final_completion()
    assert in_order([e.type for e in events], ["chunk", "content.delta", "content.done"])
    text = "".join(event.delta for event in events if event.type == "content.delta")
    assert text == final.choices[0].message.content
    assert final.choices[0].message.parsed == Person.model_validate_json(text)


def test_a_stream_tells_its_usage_at_its_end_alone(client: openai.OpenAI) -> None:
    chunks = list(
        client.chat.completions.create(
            **ASKED, stream=True, stream_options={"include_usage": True}, max_tokens=8
        )
    )
    assert [chunk.usage is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[-1].choices == []
    assert len({(chunk.id, chunk.created, chunk.model) for chunk in chunks}) == 1


@pytest.mark.parametrize("parallel", [False, True])
def test_calls_are_parsed(client: openai.OpenAI, parallel: bool) -> None:
    answer: Any = client.chat.completions.parse(
        **ASKED_WEATHER, tools=PARSED_TOOLS, tool_choice="required", parallel_tool_calls=parallel
    )
    calls = answer.choices[0].message.tool_calls
    assert len(calls) == 1 or parallel
    for call in calls:
        assert type(call.function.parsed_arguments) is ARGUMENTS[call.function.name]
    assert len({call.id for call in calls}) == len(calls)


def test_a_named_tool_is_called(client: openai.OpenAI) -> None:
    named: Any = {"type": "function", "function": {"name": "set_reminder"}}
    answer: Any = client.chat.completions.create(**ASKED_WEATHER, tools=TOOLS, tool_choice=named)
    [call] = answer.choices[0].message.tool_calls
    assert call.function.name == "set_reminder"
    check_call(call.function.name, call.function.arguments)


def test_streamed_calls_are_those_of_the_events(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(
        **ASKED_WEATHER, tools=PARSED_TOOLS, tool_choice="required", parallel_tool_calls=False
    ) as stream:
        events: list[Any] = list(stream)
        final: Any = stream.get_final_completion()
    [call] = final.choices[0].message.tool_calls
    assert type(call.function.parsed_arguments) is ARGUMENTS[call.function.name]
    kind = "tool_calls.function.arguments"
    assert in_order([event.type for event in events], [f"{kind}.delta", f"{kind}.done"])
    parts = [event.arguments_delta for event in events if event.type == f"{kind}.delta"]
    assert "".join(parts) == call.function.arguments


def test_under_auto_an_answer_is_a_call_or_of_its_class(client: openai.OpenAI) -> None:
    for seed in range(4):
        answer: Any = client.chat.completions.parse(
            **ASKED_WEATHER, tools=PARSED_TOOLS, response_format=Person, temperature=1, seed=seed
        )
        message = answer.choices[0].message
        assert bool(message.tool_calls) != (type(message.parsed) is Person)
        for call in message.tool_calls or []:
            check_call(call.function.name, call.function.arguments)


def test_a_custom_tool_gets_a_text_of_its_grammar(client: openai.OpenAI) -> None:
    grammar = {"syntax": "regex", "definition": DATE}
    tool: Any = {
        "type": "custom",
        "custom": {"name": "book", "format": {"type": "grammar", "grammar": grammar}},
    }
    answer: Any = client.chat.completions.create(
        **ASKED_WEATHER, tools=[tool], tool_choice="required", parallel_tool_calls=False
    )
    [call] = answer.choices[0].message.tool_calls
    assert (call.type, call.custom.name) == ("custom", "book")
    assert re.fullmatch(DATE, call.custom.input)


def test_a_response_is_parsed(client: openai.OpenAI) -> None:
    answer = client.responses.parse(model=MODEL, input=TEXT, text_format=Person)
    assert type(answer.output_parsed) is Person
    assert answer.status == "completed"


def test_a_streamed_response_calls_its_function(client: openai.OpenAI) -> None:
    with client.responses.stream(
        model=MODEL,
        input=QUESTION,
        tools=FLAT_TOOLS,
        tool_choice="required",
        parallel_tool_calls=False,
    ) as stream:
        kinds = [event.type for event in stream]
        [call] = stream.get_final_response().output
    assert call.type == "function_call"
    check_call(call.name, call.arguments)
    assert in_order(
        kinds,
        [
            "response.created",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ],
    )


def test_several_awaited_at_once(url: str) -> None:
    async def ask() -> list[Any]:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            asked: Any = asyncio.gather(
                client.chat.completions.parse(**ASKED, response_format=Person),
                client.responses.parse(model=MODEL, input=TEXT, text_format=Person),
                _streamed(client),
            )
            return await asked

    chat, response, streamed = asyncio.run(ask())
    assert type(chat.choices[0].message.parsed) is Person
    assert type(response.output_parsed) is Person
    assert type(streamed.choices[0].message.parsed) is Person


async def _streamed(client: openai.AsyncOpenAI) -> Any:
    async with client.chat.completions.stream(**ASKED, response_format=Person) as stream:
        async for _ in stream:
            pass
        return await stream.get_final_completion()


def test_a_text_is_continued_in_its_shape(client: openai.OpenAI) -> None:
    answer = client.completions.create(
        model=MODEL, prompt="Code: ", extra_body={"guided_regex": "[A-Z]{2}-[0-9]{4}"}
    )
    assert re.fullmatch("[A-Z]{2}-[0-9]{4}", answer.choices[0].text)


def test_an_answer_that_is_cut_off_raises_as_the_package_promises(client: openai.OpenAI) -> None:
    """A schema's answer is never cut off, so only free text can be."""
    with pytest.raises(openai.BadRequestError, match="max_tokens"):
        client.chat.completions.parse(**ASKED, response_format=Person, max_tokens=2)
    whole: Any = {"ignore_eos": True}  # the model may have nothing to say
    answer: Any = client.chat.completions.create(**ASKED, max_tokens=2, extra_body=whole)
    assert answer.choices[0].finish_reason == "length"


def test_what_the_own_tests_of_the_package_ask(client: openai.OpenAI) -> None:
    """Any model's name has a card, and a response needs neither input nor model."""
    assert client.models.retrieve("gpt-4o-mini").id == "gpt-4o-mini"
    assert client.responses.create(max_output_tokens=16).object == "response"
    streamed = list(client.responses.create(stream=True, max_output_tokens=16))
    assert streamed[-1].type in ("response.completed", "response.incomplete")
