"""Agno: an agent with an output class, by schema and beside tools, streamed and awaited."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Order, Person

agents: Any = pytest.importorskip("agno.agent", reason=ABSENT)
like: Any = pytest.importorskip("agno.models.openai.like", reason=ABSENT)


def agent(url: str, **options: Any) -> Any:
    model = like.OpenAILike(id=MODEL, base_url=url, api_key="none", temperature=0.5, max_retries=0)
    model.supports_native_structured_outputs = True
    return agents.Agent(model=model, telemetry=False, **options)


@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(url: str, kind: type[Person] | type[Order]) -> None:
    assert type(agent(url, output_schema=kind).run(TEXT).content) is kind


def test_awaited(url: str) -> None:
    answer = asyncio.run(agent(url, output_schema=Person).arun(TEXT))
    assert type(answer.content) is Person


def test_a_tool_that_must_be_called(url: str) -> None:
    called: list[tuple[str, int]] = []

    def get_weather(city: str, days: int) -> str:
        """Returns the weather of a city."""
        called.append((city, days))
        return "rain"

    asked = agent(url, tools=[get_weather], tool_call_limit=1, tool_choice="required")
    asked.run(QUESTION)
    assert called
    assert all(type(city) is str and type(days) is int for city, days in called)


def test_streamed_text(url: str) -> None:
    pieces = [event.content for event in agent(url).run("Hello!", stream=True)]
    assert "".join(filter(None, pieces))
