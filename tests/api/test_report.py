"""Reports of answers of the shipped model, in each endpoint."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import Served
from tests.bounds import PATIENCE

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
