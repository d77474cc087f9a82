"""Token ids of prompts and answers, in whole answers and streams of both endpoints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.scripted import HELLO, Client, Script, ScriptedEngine

SCRIPTS = [Script(["He", "y"], spelled=True), Script(["o"], spelled=True)]
ASKED: dict[str, Any] = {"return_token_ids": True}


@pytest.fixture(autouse=True)
def scripts(engine: ScriptedEngine) -> None:
    engine.scripts = SCRIPTS


def chat_prompt() -> list[int]:
    return list("\n".join(f"{one['role']}: {one['content']}" for one in HELLO["messages"]).encode())


def test_a_chat(client: Client) -> None:
    body = client.chat(n=2, **ASKED).json()
    assert body["prompt_token_ids"] == chat_prompt()
    assert [choice["token_ids"] for choice in body["choices"]] == [list(b"Hey"), list(b"o")]


def test_a_streamed_chat(client: Client) -> None:
    events = client.events(n=2, **ASKED)[:-1]
    ids: dict[int, list[int]] = {0: [], 1: []}
    for event in events:
        [choice] = event["choices"]
        ids[choice["index"]] += choice["token_ids"]
    assert ids == {0: list(b"Hey"), 1: list(b"o")}
    assert [e["prompt_token_ids"] for e in events if "prompt_token_ids" in e] == [chat_prompt()]


def complete(client: Client, **fields: Any) -> Any:
    body = {"prompt": [[1, 2], [3]], **ASKED, **fields}
    return client.call("POST", "/v1/completions", json=body)


def test_completions(client: Client) -> None:
    choices = complete(client).json()["choices"]
    assert [choice["token_ids"] for choice in choices] == [list(b"Hey"), list(b"o")]
    assert [choice["prompt_token_ids"] for choice in choices] == [[1, 2], [3]]


@pytest.mark.parametrize("echo", [False, True])
def test_streamed_completions(client: Client, echo: bool) -> None:
    blocks = complete(client, stream=True, echo=echo).text.strip().split("\n\n")[:-1]
    ids: dict[int, list[int]] = {0: [], 1: []}
    prompts: list[tuple[int, list[int]]] = []
    for block in blocks:
        [choice] = json.loads(block.removeprefix("data: "))["choices"]
        ids[choice["index"]] += choice["token_ids"]
        if "prompt_token_ids" in choice:
            prompts.append((choice["index"], choice["prompt_token_ids"]))
    assert ids == {0: list(b"Hey"), 1: list(b"o")}
    assert prompts == [(0, [1, 2]), (1, [3])]


def test_not_unless_asked(client: Client) -> None:
    body = client.chat().json()
    assert "prompt_token_ids" not in body
    assert "token_ids" not in body["choices"][0]


def test_responses_have_none(client: Client) -> None:
    asked = {"input": "hello", **ASKED}
    error = client.call("POST", "/v1/responses", json=asked).json()["error"]
    assert error["param"] == "return_token_ids"
