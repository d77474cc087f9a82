"""PydanticAI: each kind of output, tools that are really called, streams, on both endpoints."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel, Field

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Forecast, Order, Person

pydantic_ai: Any = pytest.importorskip("pydantic_ai", reason=ABSENT)
models: Any = pytest.importorskip("pydantic_ai.models.openai", reason=ABSENT)
providers: Any = pytest.importorskip("pydantic_ai.providers.openai", reason=ABSENT)


class Unknown(BaseModel):
    """Nothing is known."""

    reason: str = Field(max_length=20)


@pytest.fixture(params=["OpenAIChatModel", "OpenAIResponsesModel"])
def model(request: pytest.FixtureRequest, url: str) -> Any:
    provider = providers.OpenAIProvider(base_url=url, api_key="none")
    return getattr(models, request.param)(MODEL, provider=provider)


def agent(model: Any, **options: Any) -> Any:
    return pydantic_ai.Agent(model, retries=0, model_settings={"temperature": 1}, **options)


@pytest.mark.parametrize("kind", [Person, Order])
@pytest.mark.parametrize("output", ["ToolOutput", "NativeOutput"])
def test_an_object_of_a_class(model: Any, output: str, kind: type[BaseModel]) -> None:
    answer = agent(model, output_type=getattr(pydantic_ai, output)(kind)).run_sync(TEXT)
    assert type(answer.output) is kind


@pytest.mark.parametrize("output", ["ToolOutput", "NativeOutput"])
def test_one_of_several_classes(model: Any, output: str) -> None:
    of = getattr(pydantic_ai, output)
    kinds = of([Person, Unknown]) if output == "NativeOutput" else [of(Person), of(Unknown)]
    answer = agent(model, output_type=kinds).run_sync(TEXT)
    assert type(answer.output) in (Person, Unknown)


def test_a_text_or_an_object(model: Any) -> None:
    answer = agent(model, output_type=[str, Person]).run_sync("Hello!")
    assert type(answer.output) in (str, Person)
    assert answer.output


def test_tools_beside_a_class(model: Any) -> None:
    """Under `auto`, each turn is a call or an object of the class."""
    called: list[Forecast] = []
    weather = agent(model, output_type=pydantic_ai.NativeOutput(Person))

    @weather.tool_plain
    def get_weather(city: str, days: int) -> str:
        """Returns the weather of a city."""
        called.append(Forecast.model_construct(city=city, days=days))
        return "Anna Berg, 34, who lives in Oslo, says that it rains."

    answer = weather.run_sync(
        QUESTION, usage_limits=pydantic_ai.UsageLimits(request_limit=8), deps=None
    )
    assert type(answer.output) is Person
    assert all(type(each.city) is str and type(each.days) is int for each in called)


def test_a_tool_that_must_be_called(model: Any) -> None:
    """The output is the call of a function, with arguments that its signature admits."""
    called: list[Forecast] = []

    def get_weather(forecast: Forecast) -> str:
        called.append(forecast)
        return "rain"

    answer = agent(model, output_type=get_weather).run_sync(QUESTION)
    assert answer.output == "rain"
    assert [type(each) for each in called] == [Forecast]


@pytest.mark.parametrize("output", ["ToolOutput", "NativeOutput"])
def test_a_stream_ends_with_the_object(model: Any, output: str) -> None:
    async def ask() -> tuple[list[Any], Any]:
        person = agent(model, output_type=getattr(pydantic_ai, output)(Person))
        async with person.run_stream(TEXT) as stream:
            parts = [part async for part in stream.stream_output(debounce_by=None)]
            return parts, await stream.get_output()

    parts, whole = asyncio.run(ask())
    assert type(whole) is Person
    assert parts[-1] == whole


def test_streamed_text_is_the_whole_text(model: Any) -> None:
    async def ask() -> tuple[str, str]:
        async with agent(model).run_stream("Hello!") as stream:
            parts = [part async for part in stream.stream_text(delta=True, debounce_by=None)]
            return "".join(parts), await stream.get_output()

    streamed, whole = asyncio.run(ask())
    assert streamed == whole != ""
