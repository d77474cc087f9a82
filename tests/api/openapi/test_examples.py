"""The examples of the document, sent to the running server: each request is as the document says,
and each answer too."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from maskwright.server.json import ref
from maskwright.server.openapi.document import EVENTS, JSON, NAMED_EVENTS, Operation, operations
from tests.bounds import PATIENCE
from tests.pages.demo_server import Served
from tests.server.openapi.answer_forms import check_form

KNOWN = operations(has_batches=False)
EXAMPLES = [
    pytest.param(path, operation, body, id=f"{operation.id}-{name}")
    for (_, path), operation in KNOWN.items()
    for name, body in operation.examples.items()
]
READ = [
    pytest.param(path, operation, id=operation.id)
    for (method, path), operation in KNOWN.items()
    if method == "GET" and JSON in operation.gives and "{" not in path
]
PROMPT = [{"role": "user", "content": "Name a colour."}]
COLOUR = {"type": "object", "properties": {"colour": {"type": "string", "maxLength": 8}}}
FUNCTION = {"name": "look", "parameters": COLOUR}
CHAT: list[dict[str, Any]] = [
    {"n": 2, "max_tokens": 4, "return_token_ids": True, "prompt_logprobs": 2},
    {
        "max_tokens": 4,
        "stream": True,
        "logprobs": True,
        "top_logprobs": 2,
        "return_token_ids": True,
    },
    {"functions": [FUNCTION], "function_call": {"name": "look"}, "max_tokens": 64},
    {"functions": [FUNCTION], "function_call": {"name": "look"}, "max_tokens": 64, "stream": True},
    {"tools": [{"type": "custom", "name": "say"}], "tool_choice": "required", "max_tokens": 64},
    {
        "tools": [{"type": "custom", "name": "say"}],
        "tool_choice": "required",
        "max_tokens": 64,
        "stream": True,
    },
    {
        "tools": [{"type": "function", "function": FUNCTION}],
        "max_tokens": 64,
        "tool_choice": "required",
        "maskwright": {"report": True, "trace": "tokens"},
    },
    {
        "guided_json": COLOUR,
        "max_tokens": 32,
        "stream": True,
        "stream_options": {"continuous_usage_stats": True},
        "maskwright": {"report": True, "trace": True},
    },
]
RESPONSES: list[dict[str, Any]] = [
    {"max_output_tokens": 4, "stream": True, "top_logprobs": 1},
    {"max_output_tokens": 4, "maskwright": {"report": True, "trace": True}, "user": "u"},
    {"tools": [{"type": "custom", "name": "say"}], "tool_choice": "required", "stream": True,
     "max_output_tokens": 64},
]  # fmt: skip


MESSAGES: list[dict[str, Any]] = [
    {"stream": True, "max_tokens": 4},
    {"max_tokens": 64, "maskwright": {"report": True, "trace": True}},
    {"tools": [{"name": "look", "input_schema": COLOUR}], "tool_choice": {"type": "any"},
     "max_tokens": 64},
    {"guided_json": COLOUR, "max_tokens": 32, "stream": True, "maskwright": {"report": True}},
]  # fmt: skip


def send(served: Served, path: str, operation: Operation, body: Any) -> None:
    """Send a body, and hold it and its answer to the document."""
    check_form(operation.takes[JSON], body)
    response = httpx.post(f"{served.url}/v1{path}", json=body, timeout=PATIENCE)
    assert response.status_code == 200, response.text
    if not body.get("stream"):
        assert response.headers["content-type"] == JSON
        check_form(operation.gives[JSON], response.json())
        return
    assert response.headers["content-type"].startswith(EVENTS)
    blocks = response.text.strip().split("\n\n")
    named = operation.gives[EVENTS] in NAMED_EVENTS
    if not named:
        assert blocks.pop() == "data: [DONE]"
    for block in blocks:
        name, _, data = block.rpartition("data: ")
        event = json.loads(data)
        check_form(operation.gives[EVENTS], event)
        assert name in ("", f"event: {event.get('type')}\n")
        assert bool(name) == named


@pytest.mark.parametrize(("path", "operation", "body"), EXAMPLES)
def test_examples(served: Served, path: str, operation: Operation, body: Any) -> None:
    send(served, path, operation, body)


@pytest.mark.parametrize("fields", CHAT, ids=str)
def test_chat_completions(served: Served, fields: dict[str, Any]) -> None:
    path = "/chat/completions"
    send(served, path, KNOWN["POST", path], {"messages": PROMPT, "seed": 1, **fields})


@pytest.mark.parametrize("fields", RESPONSES, ids=str)
def test_responses(served: Served, fields: dict[str, Any]) -> None:
    send(served, "/responses", KNOWN["POST", "/responses"], {"input": "hello", "seed": 1, **fields})


@pytest.mark.parametrize("fields", MESSAGES, ids=str)
def test_messages(served: Served, fields: dict[str, Any]) -> None:
    path = "/messages"
    send(served, path, KNOWN["POST", path], {"messages": PROMPT, "seed": 1, **fields})


@pytest.mark.parametrize("stream", [False, True])
def test_text_completions(served: Served, stream: bool) -> None:
    body = {"prompt": "Red", "max_tokens": 4, "echo": True, "logprobs": 1, "return_token_ids": True}
    body |= {"stream": stream, **({} if stream else {"best_of": 2, "prompt_logprobs": 1})}
    send(served, "/completions", KNOWN["POST", "/completions"], body)


@pytest.mark.parametrize(("path", "operation"), READ)
def test_what_can_be_read(served: Served, path: str, operation: Operation) -> None:
    for prefix in ("",) if operation.tag == "Pages" else ("", "/v1"):
        response = httpx.get(f"{served.url}{prefix}{path}", timeout=PATIENCE)
        if operation.tag == "Batches":  # this server has no folder for them, as is said there
            assert "needs `serve --batch-folder FOLDER`" in operation.about
            assert response.status_code == 404
            check_form(ref("Error"), response.json())
            continue
        assert response.status_code == 200
        check_form(operation.gives[JSON], response.json())


def test_one_model(served: Served) -> None:
    [card] = httpx.get(f"{served.url}/v1/models").json()["data"]
    check_form(ref("Model"), httpx.get(f"{served.url}/v1/models/{card['id']}").json())


def test_an_answer_is_explained(served: Served) -> None:
    body = {"messages": PROMPT, "guided_choice": ["red", "blue"], "maskwright": {"explain": True}}
    answer = httpx.post(f"{served.url}/v1/chat/completions", json=body, timeout=PATIENCE).json()
    send(served, "/explain", KNOWN["POST", "/explain"], {"id": answer["id"]})
