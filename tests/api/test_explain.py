"""Explanations of answers of the shipped model."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.conftest import Served
from tests.bounds import PATIENCE

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}


def post(served: Served, path: str, **body: Any) -> Any:
    response = httpx.post(f"{served.url}/v1/{path}", json=body, timeout=PATIENCE)
    assert response.status_code == 200, response.text
    return response.json()


def test_the_tokens_of_an_answer_are_explained(served: Served) -> None:
    answer = post(
        served,
        "chat/completions",
        messages=[{"role": "user", "content": "Ann, 34"}],
        guided_json=SCHEMA,
        maskwright={"explain": True},
    )
    found = post(served, "explain", id=answer["id"])
    text = "".join(step["text"] for step in found["steps"])
    assert text.startswith(answer["choices"][0]["message"]["content"])
    assert found["counts"]["tokens"] == answer["usage"]["completion_tokens"]
    assert 0 < found["counts"]["forced"] < found["counts"]["tokens"]
    assert 0 < found["kept"]["least"] <= found["kept"]["mean"] <= 1 + 1e-9
    assert found["wanted"]
    for step in found["steps"]:
        wanted = {each["token"] for each in step["wanted"]}
        assert step["token"] not in wanted
        assert step["forced"] == (step["allowed"] == 1)


def test_what_may_follow_an_answer_is_explained(served: Served) -> None:
    found = post(served, "explain", guided_json=SCHEMA, text='{"name": "Ann", ')
    assert found["verdict"] == "incomplete"
    assert found["continuations"]["forced"] == '"age": '
    assert found["tokens"]["of"] == served.engine.loaded.vocab.size
