"""LiteLLM: schemas, tools, streams, fields of other servers, and awaited."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, TOOLS, Order, Person, check_call

litellm: Any = pytest.importorskip("litellm", reason=ABSENT)


@pytest.fixture(params=["openai", "hosted_vllm"])
def asked(request: pytest.FixtureRequest, url: str) -> dict[str, Any]:
    """What every call has, for each of its two names for servers like this one."""
    return {
        "model": f"{request.param}/{MODEL}",
        "api_base": url,
        "api_key": "none",
        "messages": [{"role": "user", "content": TEXT}],
        "max_retries": 0,
    }


@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(asked: dict[str, Any], kind: type[Person] | type[Order]) -> None:
    answer = litellm.completion(**asked, response_format=kind, temperature=1)
    kind.model_validate_json(answer.choices[0].message.content)


def test_a_stream_adds_up(asked: dict[str, Any]) -> None:
    chunks = list(
        litellm.completion(
            **asked,
            response_format=Person,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    whole = litellm.stream_chunk_builder(chunks)
    Person.model_validate_json(whole.choices[0].message.content)
    assert whole.usage.completion_tokens > 0


def test_tools(asked: dict[str, Any]) -> None:
    asked["messages"] = [{"role": "user", "content": QUESTION}]
    answer = litellm.completion(**asked, tools=TOOLS, tool_choice="required")
    calls = answer.choices[0].message.tool_calls
    assert calls
    for call in calls:
        check_call(call.function.name, call.function.arguments)


def test_streamed_tools(asked: dict[str, Any]) -> None:
    asked["messages"] = [{"role": "user", "content": QUESTION}]
    chunks = list(litellm.completion(**asked, tools=TOOLS, tool_choice="required", stream=True))
    for call in litellm.stream_chunk_builder(chunks).choices[0].message.tool_calls:
        check_call(call.function.name, call.function.arguments)


def test_fields_of_other_servers(asked: dict[str, Any]) -> None:
    answer = litellm.completion(
        **asked, extra_body={"guided_regex": "[A-Z]{2}[0-9]{3}", "top_k": 5}
    )
    assert re.fullmatch("[A-Z]{2}[0-9]{3}", answer.choices[0].message.content)


def test_a_text_is_continued(url: str) -> None:
    answer = litellm.text_completion(
        model=f"text-completion-openai/{MODEL}",
        api_base=url,
        api_key="none",
        prompt="Anna",
        max_tokens=5,
    )
    assert answer.choices[0].text


def test_awaited(asked: dict[str, Any]) -> None:
    async def ask() -> list[Any]:
        calls = [litellm.acompletion(**asked, response_format=Person) for _ in range(3)]
        return await asyncio.gather(*calls)

    for answer in asyncio.run(ask()):
        Person.model_validate_json(answer.choices[0].message.content)
