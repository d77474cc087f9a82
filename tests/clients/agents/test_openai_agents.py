"""OpenAI's agents: an output type on every turn beside tools, on both endpoints."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Order, Person, in_order

agents: Any = pytest.importorskip("agents", reason=ABSENT)


@pytest.fixture(params=["OpenAIChatCompletionsModel", "OpenAIResponsesModel"])
def model(request: pytest.FixtureRequest, url: str) -> Any:
    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    return getattr(agents, request.param)(model=MODEL, openai_client=client)


def agent(model: Any, **options: Any) -> Any:
    settings = agents.ModelSettings(**{"temperature": 1, **options.pop("settings", {})})
    return agents.Agent("assistant", model=model, model_settings=settings, **options)


def run(agent: Any, text: str) -> Any:
    """The result of a run, on an event loop of its own as the client's connections are."""
    return asyncio.run(agents.Runner.run(agent, text, max_turns=8))


@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(model: Any, kind: type[Person] | type[Order]) -> None:
    output = agents.AgentOutputSchema(kind, strict_json_schema=kind is Person)
    assert type(run(agent(model, output_type=output), TEXT).final_output) is kind


def test_plain_text(model: Any) -> None:
    brief = agent(model, instructions="Be brief.", settings={"temperature": 0})
    answer = run(brief, "Hello!").final_output
    assert isinstance(answer, str)
    assert answer


def weather_tool(called: list[tuple[str, int]]) -> Any:
    @agents.function_tool
    def get_weather(city: str, days: int) -> str:
        """Returns the weather of a city."""
        called.append((city, days))
        return "Anna Berg, 34, who lives in Oslo, says that it rains."

    return get_weather


def test_tools_beside_a_class(model: Any) -> None:
    """Each turn is a call or an object of the class."""
    called: list[tuple[str, int]] = []
    answer = run(agent(model, output_type=Person, tools=[weather_tool(called)]), QUESTION)
    assert type(answer.final_output) is Person
    assert all(type(city) is str and type(days) is int for city, days in called)


@pytest.mark.parametrize("choice", ["required", "get_weather"])
def test_a_tool_that_must_be_called(model: Any, choice: str) -> None:
    """After the call, the choice is `auto` again, as the library has it."""
    called: list[tuple[str, int]] = []
    asked = agent(
        model,
        tools=[weather_tool(called)],
        settings={"tool_choice": choice},
        tool_use_behavior="stop_on_first_tool",
    )
    assert run(asked, QUESTION).final_output.startswith("Anna Berg")
    assert called


def test_a_stream_has_its_events_in_order(model: Any) -> None:
    called: list[tuple[str, int]] = []

    async def ask() -> tuple[list[str], Any]:
        asked = agent(
            model,
            tools=[weather_tool(called)],
            settings={"tool_choice": "required", "parallel_tool_calls": False},
            output_type=Person,
        )
        stream = agents.Runner.run_streamed(asked, QUESTION, max_turns=8)
        names = [
            event.data.type if event.type == "raw_response_event" else event.name
            async for event in stream.stream_events()
            if event.type != "agent_updated_stream_event"
        ]
        return names, stream.final_output

    names, output = asyncio.run(ask())
    assert type(output) is Person
    assert called
    assert in_order(
        names,
        [
            "response.created",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "tool_called",
            "tool_output",
            "response.output_text.delta",
            "response.completed",
            "message_output_created",
        ],
    )


def test_one_agent_hands_over_to_another(model: Any) -> None:
    second = agents.Agent("writer", model=model, output_type=Person)
    first = agent(model, handoffs=[second], settings={"tool_choice": "required"})
    answer = run(first, TEXT)
    assert answer.last_agent.name == "writer"
    assert type(answer.final_output) is Person
