"""Reasoning before answers with a shape, from the shipped model. Its template is given the marks of
a reasoning section, which the prompt begins: so the model has to end it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from maskwright.engine import Engine, EngineConfig
from maskwright.models import DEMO_PATH, load
from maskwright.server import ServerConfig, create_app
from tests.api.test_openai_client import MESSAGES, PERSON, check
from tests.api.test_tools import TOOLS
from tests.live_server import live_server

SECTION = "{% if add_generation_prompt %}<think>\n{% endif %}{# </think> #}"
SHAPE = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}


@pytest.fixture(scope="module")
def thinking() -> Iterator[str]:
    """The URL of the server."""
    loaded = load(DEMO_PATH)
    loaded.tokenizer.chat_template += SECTION
    with (
        Engine(loaded, EngineConfig(max_running=8)) as engine,
        live_server(create_app(engine)) as url,
    ):
        yield url


def ask(url: str, **fields: Any) -> dict[str, Any]:
    body = {"messages": MESSAGES, "temperature": 1, "max_tokens": 150, **fields}
    response = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=120)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fields", [{"thinking_token_budget": 20}, {"max_tokens": 120}], ids=str)
def test_an_answer_after_reasoning(thinking: str, fields: dict[str, Any], seed: int) -> None:
    body = ask(thinking, response_format=SHAPE, seed=seed, **fields)
    message = body["choices"][0]["message"]
    check(message["content"], PERSON)
    assert "</think>" not in message["reasoning_content"] + message["content"]
    counted = body["usage"]["completion_tokens_details"]["reasoning_tokens"]
    assert 0 < counted <= fields.get("thinking_token_budget", 120)


def test_an_answer_without_reasoning_that_the_prompt_has_begun(thinking: str) -> None:
    for fields in ({"response_format": SHAPE}, {}):
        body = ask(thinking, seed=1, thinking_token_budget=0, **fields)
        message = body["choices"][0]["message"]
        assert "reasoning_content" not in message
        assert message["content"]
        assert body["usage"]["completion_tokens_details"] == {"reasoning_tokens": 0}
    check(
        ask(thinking, seed=1, thinking_token_budget=0, response_format=SHAPE)["choices"][0][
            "message"
        ]["content"],
        PERSON,
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_when_the_tokens_of_a_section_are_used_up(thinking: str, seed: int) -> None:
    last = "\nThat is enough."
    fields = {"response_format": SHAPE, "thinking_token_budget": 3, "temperature": 2}
    message = ask(thinking, seed=seed, reasoning_budget_message=last, **fields)["choices"][0]
    thought = message["message"]["reasoning_content"]
    assert thought.endswith(last)
    check(message["message"]["content"], PERSON)
    bare = ask(thinking, seed=seed, **fields)["choices"][0]["message"]["reasoning_content"]
    assert thought == bare + last
    # Where the answer's limit does not leave room for it, the answer is whole all the same.
    for most in range(44, 60, 5):
        short = ask(
            thinking, seed=seed, reasoning_budget_message=last * 9, **fields, max_tokens=most
        )
        check(short["choices"][0]["message"]["content"], PERSON)


def test_reasoning_that_is_left_out(thinking: str) -> None:
    """The answer is the same."""
    fields = {"response_format": SHAPE, "seed": 2, "thinking_token_budget": 9}
    whole, short = ask(thinking, **fields), ask(thinking, include_reasoning=False, **fields)
    shown, untold = whole["choices"][0]["message"], short["choices"][0]["message"]
    assert shown["reasoning_content"]
    assert "reasoning_content" not in untold
    assert untold["content"] == shown["content"]
    assert whole["usage"]["completion_tokens"] == short["usage"]["completion_tokens"]


def test_a_call_after_reasoning(thinking: str) -> None:
    fields = {"tools": TOOLS, "tool_choice": "required", "thinking_token_budget": 10}
    [choice] = ask(thinking, seed=1, **fields)["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["reasoning_content"]
    json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"])


def test_a_stream(thinking: str) -> None:
    body = {"messages": MESSAGES, "response_format": SHAPE, "thinking_token_budget": 10, "seed": 1}
    url = f"{thinking}/v1/chat/completions"
    text = httpx.post(url, json={**body, "stream": True, "max_tokens": 150}, timeout=120).text
    events = [json.loads(each.removeprefix("data: ")) for each in text.split("\n\n")[:-2]]
    deltas = [event["choices"][0]["delta"] for event in events]
    check("".join(delta.get("content") or "" for delta in deltas), PERSON)
    assert "".join(delta.get("reasoning_content", "") for delta in deltas)


ASKED = "{% if add_generation_prompt and enable_thinking %}<think>\n{% endif %}{# </think> #}"


def test_a_server_may_have_its_model_think(thinking: str) -> None:
    """Whether it does is a variable of the template: the server sets it where no request does."""
    loaded = load(DEMO_PATH)
    loaded.tokenizer.chat_template += ASKED
    config = ServerConfig(chat_template_kwargs={"enable_thinking": True})
    with (
        Engine(loaded, EngineConfig(max_running=8)) as engine,
        live_server(create_app(engine, config)) as url,
    ):
        fields = {"response_format": SHAPE, "thinking_token_budget": 9, "seed": 1}
        assert ask(url, **fields)["choices"] == ask(thinking, **fields)["choices"]
        off = {"chat_template_kwargs": {"enable_thinking": False}}
        message = ask(url, response_format=SHAPE, **off)["choices"][0]["message"]
        assert "reasoning_content" not in message
        check(message["content"], PERSON)
        counts = [
            httpx.post(f"{url}/tokenize", json={"messages": MESSAGES, **each}).json()["count"]
            for each in ({}, off)
        ]
        assert counts[0] > counts[1]
