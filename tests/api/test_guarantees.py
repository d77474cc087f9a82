"""Reports of answers of the shipped model in each endpoint, and explanations of its answers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.bounds import PATIENCE
from tests.pages.demo_server import Served

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}
BODIES: dict[str, dict[str, Any]] = {
    "chat/completions": {
        "messages": [{"role": "user", "content": "Ann, 34"}],
        "response_format": FORMAT,
    },
    "completions": {"prompt": "Ann, 34", "max_tokens": 60, "response_format": FORMAT},
    "responses": {
        "input": "Ann, 34",
        "text": {"format": {"type": "json_schema", "name": "person", "schema": SCHEMA}},
    },
}


@pytest.mark.parametrize("path", BODIES)
def test_every_endpoint_reports(served: Served, path: str) -> None:
    body = {**BODIES[path], "maskwright": {"report": True}}
    answer = httpx.post(f"{served.url}/v1/{path}", json=body, timeout=PATIENCE).json()
    own = answer if path == "responses" else answer["choices"][0]
    report = own["maskwright"]["report"]
    assert report["valid"] is True
    assert report["checks"][0]["by"].startswith("jsonschema ")
    assert {"pointer": "", "keyword": "required"} in report["enforced"]
    assert any(entry.get("keyword") == "additionalProperties" for entry in report["bounded"])


@pytest.mark.parametrize(
    ("fields", "subject"),
    [
        ({"guided_regex": "[a-z]{3}-[0-9]{2}"}, "answer"),
        ({"guided_choice": ["yes", "no"]}, "answer"),
        ({"guided_grammar": 'start: "a" /[0-9]{2}/ "b"'}, "answer"),
        (
            {
                "tools": [{"type": "function", "function": {"name": "add", "parameters": SCHEMA}}],
                "tool_choice": "required",
                "parallel_tool_calls": False,
            },
            "call 0 of add",
        ),
    ],
)
def test_every_kind_of_shape_is_checked(
    served: Served, fields: dict[str, Any], subject: str
) -> None:
    messages = [{"role": "user", "content": "Ann, 34"}]
    body = {"messages": messages, "maskwright": {"report": True}, **fields}
    answer = httpx.post(f"{served.url}/v1/chat/completions", json=body, timeout=PATIENCE).json()
    report = answer["choices"][0]["maskwright"]["report"]
    assert [(each["subject"], each["valid"]) for each in report["checks"]] == [(subject, True)]


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
