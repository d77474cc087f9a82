"""Haystack: its generator of chats with a class, a tool, and a stream."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Forecast, Order, Person, check_call

generators: Any = pytest.importorskip("haystack.components.generators.chat", reason=ABSENT)
dataclasses: Any = pytest.importorskip("haystack.dataclasses", reason=ABSENT)
tools: Any = pytest.importorskip("haystack.tools", reason=ABSENT)
secrets: Any = pytest.importorskip("haystack.utils", reason=ABSENT)


def generator(url: str, **options: Any) -> Any:
    key = secrets.Secret.from_token("none")
    return generators.OpenAIChatGenerator(
        model=MODEL, api_base_url=url, api_key=key, max_retries=0, **options
    )


def asked(text: str) -> list[Any]:
    return [dataclasses.ChatMessage.from_user(text)]


@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(url: str, kind: type[Person] | type[Order]) -> None:
    made = generator(url, generation_kwargs={"response_format": kind}).run(asked(TEXT))
    kind.model_validate_json(made["replies"][0].text)


def test_awaited(url: str) -> None:
    async def ask() -> Any:
        kwargs = {"response_format": Person}
        return await generator(url, generation_kwargs=kwargs).run_async(asked(TEXT))

    Person.model_validate_json(asyncio.run(ask())["replies"][0].text)


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_that_must_be_called(url: str, stream: bool) -> None:
    tool = tools.Tool(
        name="get_weather",
        description="Returns the weather of a city.",
        parameters=Forecast.model_json_schema(),
        function=lambda city, days: f"{city}: rain for {days} days",
    )
    pieces: list[Any] = []
    callback = {"streaming_callback": pieces.append} if stream else {}
    made = generator(url, generation_kwargs={"tool_choice": "required"}, **callback).run(
        asked(QUESTION), tools=[tool]
    )
    calls = made["replies"][0].tool_calls
    assert calls
    for call in calls:
        check_call(call.tool_name, call.arguments)
    assert bool(pieces) == stream


def test_streamed_text(url: str) -> None:
    pieces: list[Any] = []
    made = generator(url, streaming_callback=pieces.append).run(asked("Hello!"))
    assert "".join(piece.content for piece in pieces) == made["replies"][0].text != ""
