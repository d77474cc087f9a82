"""smolagents: its model with a schema and with tools, as its agents use it.

The agents' own prompts hold more tokens than the context of the demo model.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Order, Person, check_call

smolagents: Any = pytest.importorskip("smolagents", reason=ABSENT)


@pytest.fixture
def model(url: str) -> Any:
    return smolagents.OpenAIModel(model_id=MODEL, api_base=url, api_key="none")


def asked(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": text}]}]


@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_under_a_schema(model: Any, kind: type[Person] | type[Order]) -> None:
    schema = {"name": "answer", "schema": kind.model_json_schema(), "strict": True}
    shape = {"type": "json_schema", "json_schema": schema}
    kind.model_validate_json(model.generate(asked(TEXT), response_format=shape).content)


@smolagents.tool
def get_weather(city: str, days: int) -> str:
    """Returns the weather of a city.

    Args:
        city: The name of the city.
        days: How many days.
    """
    return f"rain in {city} for {days} days"


def test_tools_with_the_stop_strings_of_the_agents(model: Any) -> None:
    answer = model.generate(
        asked(QUESTION),
        tools_to_call_from=[get_weather],
        stop_sequences=["Observation:", "Calling tools:"],
    )
    assert answer.tool_calls
    for call in answer.tool_calls:
        check_call(call.function.name, call.function.arguments)


def test_streamed_text(model: Any) -> None:
    assert "".join(piece.content or "" for piece in model.generate_stream(asked("Hello!")))
