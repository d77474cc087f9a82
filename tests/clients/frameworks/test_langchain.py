"""LangChain: structured output by each method, bound tools, streams, on both endpoints."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Forecast, Order, Person, check_call

langchain_openai: Any = pytest.importorskip("langchain_openai", reason=ABSENT)
tools: Any = pytest.importorskip("langchain_core.tools", reason=ABSENT)


@pytest.fixture(params=[False, True], ids=["chat", "responses"])
def model(request: pytest.FixtureRequest, url: str) -> Any:
    return langchain_openai.ChatOpenAI(
        model=MODEL,
        base_url=url,
        api_key="none",
        max_retries=0,
        temperature=1,
        stream_usage=True,
        use_responses_api=request.param,
    )


@tools.tool
def get_weather(city: str, days: int) -> str:
    """Returns the weather of a city."""
    return f"It rains in {city} for {days} days."


@pytest.mark.parametrize("kind", [Person, Order])
@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
@pytest.mark.parametrize("strict", [None, True, False])
def test_an_object_of_a_class(
    model: Any, method: str, kind: type[Person] | type[Order], strict: bool | None
) -> None:
    asked = model.with_structured_output(kind, method=method, strict=strict)
    assert type(asked.invoke(TEXT)) is kind


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_a_schema_in_a_dictionary(model: Any, method: str) -> None:
    answer = model.with_structured_output(Person.model_json_schema(), method=method).invoke(TEXT)
    Person.model_validate(answer)


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_with_the_message_that_was_parsed(model: Any, method: str) -> None:
    asked = model.with_structured_output(Person, method=method, include_raw=True)
    answer = asked.invoke(TEXT)
    assert type(answer["parsed"]) is Person
    assert answer["parsing_error"] is None
    assert answer["raw"].usage_metadata["output_tokens"] > 0


@pytest.mark.parametrize("choice", ["any", "required", "get_weather"])
def test_a_tool_that_must_be_called(model: Any, choice: str) -> None:
    answer = model.bind_tools([get_weather], tool_choice=choice).invoke(QUESTION)
    assert answer.tool_calls
    assert answer.invalid_tool_calls == []
    for call in answer.tool_calls:
        assert call["id"]
        assert get_weather.invoke(call).content.startswith("It rains in")


def test_streamed_calls_add_up(model: Any) -> None:
    asked = model.bind_tools([Forecast], tool_choice="any", parallel_tool_calls=False)
    chunks = list(asked.stream(QUESTION))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    [call] = whole.tool_calls
    assert call["name"] == "Forecast"
    check_call("get_weather", call["args"])
    assert sum(bool(part["name"]) for chunk in chunks for part in chunk.tool_call_chunks) == 1


def test_the_turn_after_a_call(model: Any) -> None:
    first = model.bind_tools([get_weather], tool_choice="any").invoke(QUESTION)
    results = [get_weather.invoke(call) for call in first.tool_calls]
    asked = model.with_structured_output(Person)
    assert type(asked.invoke([("user", QUESTION), first, *results])) is Person


def test_streamed_text_is_in_pieces(model: Any) -> None:
    chunks = list(model.stream("Hello!"))
    assert "".join(chunk.text for chunk in chunks)
    assert sum(chunk.usage_metadata is not None for chunk in chunks) == 1


@pytest.mark.asyncio(loop_scope="session")  # the library keeps one client for the process
async def test_awaited(model: Any) -> None:
    answers = await model.with_structured_output(Person).abatch([TEXT] * 3)
    assert [type(each) for each in answers] == [Person] * 3
