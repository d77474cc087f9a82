"""LlamaIndex: structured answers with and without function calling, tools, streams."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Order, Person

like: Any = pytest.importorskip("llama_index.llms.openai_like", reason=ABSENT)
llms: Any = pytest.importorskip("llama_index.core.llms", reason=ABSENT)
tools: Any = pytest.importorskip("llama_index.core.tools", reason=ABSENT)


def model(url: str, **options: Any) -> Any:
    return like.OpenAILike(
        model=MODEL,
        api_base=url,
        api_key="none",
        is_chat_model=True,
        max_retries=0,
        temperature=0.5,
        context_window=2048,
        **options,
    )


CALLING = {"is_function_calling_model": True}
SCHEMA = {"should_use_structured_outputs": True}


@pytest.mark.parametrize("options", [CALLING, {**CALLING, **SCHEMA}], ids=["calls", "schema"])
@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(
    url: str, options: dict[str, Any], kind: type[Person] | type[Order]
) -> None:
    structured = model(url, **options).as_structured_llm(kind)
    assert type(structured.complete(TEXT).raw) is kind


def test_awaited(url: str) -> None:
    async def ask() -> Any:
        return await model(url, **CALLING).as_structured_llm(Person).acomplete(TEXT)

    assert type(asyncio.run(ask()).raw) is Person


def get_weather(city: str, days: int) -> str:
    """Returns the weather of a city."""
    return f"rain in {city} for {days + 0} days"


@pytest.mark.parametrize("parallel", [False, True])
def test_a_tool_that_must_be_called(url: str, parallel: bool) -> None:
    answer = model(url, **CALLING).predict_and_call(
        [tools.FunctionTool.from_defaults(get_weather)],
        QUESTION,
        tool_required=True,
        allow_parallel_tool_calls=parallel,
    )
    assert answer.response.startswith("rain in")
    assert answer.sources


def test_text_in_pieces(url: str) -> None:
    pieces = list(model(url).stream_chat([llms.ChatMessage(role="user", content="Hello!")]))
    assert "".join(piece.delta or "" for piece in pieces) == pieces[-1].message.content != ""


def test_a_text_is_continued(url: str) -> None:
    plain = like.OpenAILike(
        model=MODEL, api_base=url, api_key="none", is_chat_model=False, max_tokens=8
    )
    assert plain.complete("Anna Berg").text
