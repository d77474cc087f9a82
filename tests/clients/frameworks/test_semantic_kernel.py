"""Semantic Kernel: its service of chats with a class, a plugin's function, and a stream."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Order, Person

kernels: Any = pytest.importorskip("semantic_kernel", reason=ABSENT)
services: Any = pytest.importorskip("semantic_kernel.connectors.ai.open_ai", reason=ABSENT)
contents: Any = pytest.importorskip("semantic_kernel.contents", reason=ABSENT)
functions: Any = pytest.importorskip("semantic_kernel.functions", reason=ABSENT)
choices: Any = pytest.importorskip(
    "semantic_kernel.connectors.ai.function_choice_behavior", reason=ABSENT
)


def service(url: str) -> Any:
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    return services.OpenAIChatCompletion(ai_model_id=MODEL, async_client=client)


def settings(**fields: Any) -> Any:
    return services.OpenAIChatPromptExecutionSettings(temperature=0.5, **fields)


def history(text: str) -> Any:
    made = contents.ChatHistory()
    made.add_user_message(text)
    return made


@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(url: str, kind: type[Person] | type[Order]) -> None:
    asked = service(url).get_chat_message_content(history(TEXT), settings(response_format=kind))
    kind.model_validate_json(str(asyncio.run(asked)))


def test_a_function_that_must_be_called(url: str) -> None:
    called: list[tuple[str, int]] = []

    class Weather:
        @functions.kernel_function(description="Returns the weather of a city.")
        def get_weather(self, city: str, days: int) -> str:
            called.append((city, days))
            return "rain"

    async def ask() -> None:
        kernel = kernels.Kernel()
        kernel.add_plugin(Weather(), plugin_name="w")
        behavior = choices.FunctionChoiceBehavior.Required()
        await service(url).get_chat_message_content(
            history(QUESTION), settings(function_choice_behavior=behavior), kernel=kernel
        )

    asyncio.run(ask())
    assert called
    assert all(type(city) is str and type(days) is int for city, days in called)


def test_streamed_text(url: str) -> None:
    async def ask() -> list[str]:
        stream = service(url).get_streaming_chat_message_content(history("Hello!"), settings())
        return [str(piece) async for piece in stream]

    assert "".join(asyncio.run(ask()))
