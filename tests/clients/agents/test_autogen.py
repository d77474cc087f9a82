"""AutoGen: its client of OpenAI's protocol and an assistant with an output class and a tool."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Order, Person, check_call

openai_models: Any = pytest.importorskip("autogen_ext.models.openai", reason=ABSENT)
core: Any = pytest.importorskip("autogen_core.models", reason=ABSENT)
tools: Any = pytest.importorskip("autogen_core.tools", reason=ABSENT)
chat: Any = pytest.importorskip("autogen_agentchat.agents", reason=ABSENT)


def client(url: str) -> Any:
    info = {
        "vision": False,
        "function_calling": True,
        "json_output": True,
        "structured_output": True,
        "multiple_system_messages": True,
        "family": "unknown",
    }
    return openai_models.OpenAIChatCompletionClient(
        model=MODEL, base_url=url, api_key="none", model_info=info, max_retries=0, temperature=0.5
    )


def get_weather(city: str, days: int) -> str:
    """Returns the weather of a city."""
    return f"rain in {city} for {days + 0} days"


TOOL: Any = tools.FunctionTool(
    get_weather, description="Returns the weather of a city.", strict=True
)


def asked(text: str) -> list[Any]:
    return [core.UserMessage(content=text, source="user")]


@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(url: str, kind: type[Person] | type[Order]) -> None:
    answer = asyncio.run(client(url).create(asked(TEXT), json_output=kind))
    kind.model_validate_json(answer.content)


def test_a_tool_that_must_be_called(url: str) -> None:
    answer = asyncio.run(client(url).create(asked(QUESTION), tools=[TOOL], tool_choice="required"))
    for call in answer.content:
        check_call(call.name, call.arguments)


def test_tools_beside_a_class(url: str) -> None:
    answer = asyncio.run(client(url).create(asked(QUESTION), tools=[TOOL], json_output=Person))
    if isinstance(answer.content, str):
        Person.model_validate_json(answer.content)
    else:
        for call in answer.content:
            check_call(call.name, call.arguments)


def test_streamed_text(url: str) -> None:
    async def ask() -> list[Any]:
        return [piece async for piece in client(url).create_stream(asked("Hello!"))]

    *pieces, whole = asyncio.run(ask())
    assert "".join(pieces) == whole.content != ""


def test_an_assistant_with_an_output_class(url: str) -> None:
    async def ask() -> Any:
        assistant = chat.AssistantAgent("a", client(url), output_content_type=Person)
        return (await assistant.run(task=TEXT)).messages[-1].content

    assert type(asyncio.run(ask())) is Person
