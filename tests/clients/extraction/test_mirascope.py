"""Mirascope: calls with a format in each mode that is sent, tools, and streams."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Order, Person

llm: Any = pytest.importorskip("mirascope.llm", reason=ABSENT)


@pytest.fixture
def model(url: str) -> Any:
    llm.register_provider("openai:completions", scope="openai/", base_url=url, api_key="none")
    return f"openai/{MODEL}:completions"


@pytest.mark.parametrize("mode", ["strict", "tool"])
@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(model: str, mode: str, kind: type[Person] | type[Order]) -> None:
    @llm.call(model, format=llm.format(kind, mode=mode))
    def extract(text: str) -> str:
        return text

    assert type(extract(TEXT).parse()) is kind


def test_a_streamed_object(model: str) -> None:
    @llm.call(model, format=llm.format(Person, mode="strict"))
    def extract(text: str) -> str:
        return text

    stream = extract.stream(TEXT)
    stream.finish()
    assert type(stream.parse()) is Person


def test_awaited(model: str) -> None:
    @llm.call(model, format=llm.format(Person, mode="strict"))
    async def extract(text: str) -> str:
        return text

    async def ask() -> Any:
        return (await extract(TEXT)).parse()

    assert type(asyncio.run(ask())) is Person


def test_tools_may_be_called(model: str) -> None:
    @llm.tool
    def get_weather(city: str, days: int) -> str:
        """Returns the weather of a city."""
        return f"rain in {city} for {days + 0} days"

    @llm.call(model, tools=[get_weather])
    def answer(text: str) -> str:
        return text

    response = answer(QUESTION)
    results = response.execute_tools()
    assert results or response.content
    assert all(output.error is None for output in results)
