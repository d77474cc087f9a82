"""Answers satisfy OpenAI's own document, whole and streamed."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, TEXT, TOOLS
from tests.clients.specification import openai_document

pytest.importorskip("schemathesis", reason=ABSENT)
jsonschema: Any = pytest.importorskip("jsonschema", reason=ABSENT)
referencing: Any = pytest.importorskip("referencing", reason=ABSENT)

SETTINGS = Path(__file__).with_name("schemathesis_openai.toml")
BOUND = 1500
"""Seconds for all requests; they take about three minutes on two idle processors."""
CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance"

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
LETTERS = {"type": "grammar", "grammar": {"syntax": "regex", "definition": "[a-z]{3}"}}
CUSTOM: Any = {"type": "custom", "custom": {"name": "letters", "format": LETTERS}}
FLAT: Any = [{"type": "function", **tool["function"]} for tool in TOOLS]
FLAT_CUSTOM: Any = {"type": "custom", "name": "letters", "format": {"type": "text"}}
FORMAT = {"type": "json_schema", "name": "x", "schema": SCHEMA}
CHATS: list[dict[str, Any]] = [
    {},
    {"n": 2, "stop": ["e"], "max_tokens": 1},
    {"logprobs": True, "top_logprobs": 2},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}},
    {"tools": TOOLS, "tool_choice": "required"},
    {"tools": [*TOOLS, CUSTOM], "tool_choice": {"type": "custom", "custom": {"name": "letters"}}},
    {"functions": [TOOLS[0]["function"]], "function_call": {"name": "get_weather"}},
]
COMPLETIONS: list[dict[str, Any]] = [
    {},
    {"logprobs": 2, "echo": True},
    {"prompt": ["a", "b"], "n": 2, "max_tokens": 1},
]
RESPONSES: list[dict[str, Any]] = [
    {},
    {"max_output_tokens": 16, "text": {"format": {"type": "json_object"}, "verbosity": "low"}},
    {"include": ["message.output_text.logprobs"], "top_logprobs": 2, "metadata": {"a": "b"}},
    {"instructions": "x", "reasoning": {"effort": "low"}, "truncation": "auto", "user": "u"},
    {"tools": FLAT, "tool_choice": "required"},
    {"tools": FLAT, "text": {"format": FORMAT}},
    {"tools": [*FLAT, FLAT_CUSTOM], "tool_choice": {"type": "custom", "name": "letters"}},
    {
        "tools": FLAT,
        "tool_choice": {
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "get_weather"}],
        },
    },
]
ASKED: list[tuple[str, dict[str, Any], str, str]] = [
    *(
        (
            "/chat/completions",
            {"messages": [{"role": "user", "content": TEXT}], "max_tokens": 80, **fields},
            "CreateChatCompletionResponse",
            "CreateChatCompletionStreamResponse",
        )
        for fields in CHATS
    ),
    *(
        (
            "/completions",
            {"prompt": TEXT, **fields},
            "CreateCompletionResponse",
            "CreateCompletionResponse",
        )
        for fields in COMPLETIONS
    ),
    *(
        (
            "/responses",
            {"input": TEXT, "max_output_tokens": 80, **fields},
            "Response",
            "ResponseStreamEvent",
        )
        for fields in RESPONSES
    ),
]
NAMES = [f"{path} {', '.join(body)}" for path, body, _, _ in ASKED]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("/chat/completions", {"messages": [], "model": MODEL}),
    ("/completions", {"prompt": TEXT, "temperature": 101}),
    ("/responses", {"input": TEXT, "previous_response_id": "x"}),
    ("/nowhere", {}),
]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    whole = openai_document.read(tmp_path_factory.mktemp("archive"))
    return openai_document.requested(whole)


class Checker:
    """Checks answers against schemas of the document, by name."""

    def __init__(self, document: dict[str, Any]) -> None:
        resource = referencing.jsonschema.DRAFT202012.create_resource(document)
        self.registry = referencing.Registry().with_resource("urn:openai", resource)

    def faults(self, name: str, value: Any) -> list[str]:
        schema = {"$ref": f"urn:openai#/components/schemas/{name}"}
        check = jsonschema.Draft202012Validator(schema, registry=self.registry)
        found = (jsonschema.exceptions.best_match([one]) for one in check.iter_errors(value))
        return [f"{name} {one.json_path}: {one.message[:300]}" for one in found]


@pytest.fixture(scope="module")
def checker(document: dict[str, Any]) -> Checker:
    return Checker(document)


def send(url: str, body: dict[str, Any]) -> tuple[int, str]:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def events(text: str) -> Iterator[Any]:
    """The data of a stream's events."""
    for line in text.splitlines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


def test_the_checker_sees_faults(checker: Checker) -> None:
    assert checker.faults("ErrorResponse", {"error": {"message": "m", "type": "t"}})
    assert checker.faults("Model", {"id": "m", "object": "models", "created": 1, "owned_by": "o"})
    error = {"message": "m", "type": "t", "param": None, "code": None}
    assert not checker.faults("ErrorResponse", {"error": error})


@pytest.mark.parametrize(("path", "body", "whole", "part"), ASKED, ids=NAMES)
def test_answers(
    url: str, checker: Checker, path: str, body: dict[str, Any], whole: str, part: str
) -> None:
    asked = {"model": MODEL, "temperature": 0, **body}
    status, text = send(url + path, asked)
    assert status == 200, text
    assert not checker.faults(whole, json.loads(text))
    with_usage = {} if path == "/responses" else {"stream_options": {"include_usage": True}}
    status, text = send(url + path, {**asked, **with_usage, "stream": True})
    assert status == 200, text
    found = [checker.faults(part, event) for event in events(text)]
    assert len(found) > 1
    assert not [fault for faults in found for fault in faults]


@pytest.mark.parametrize(("path", "body"), REFUSED, ids=[path for path, _ in REFUSED])
def test_errors(url: str, checker: Checker, path: str, body: dict[str, Any]) -> None:
    status, text = send(url + path, body)
    assert 400 <= status < 500
    assert not checker.faults("ErrorResponse", json.loads(text))


@pytest.mark.timeout(BOUND)
def test_requests_made_from_the_document(
    url: str, document: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "openai.json").write_text(json.dumps(document, default=str))
    program = Path(sys.executable).with_name("schemathesis")
    command = [program, "--config-file", SETTINGS, "run", "openai.json", "--url", url]
    run = subprocess.run(
        [*command, "--checks", CHECKS, "--seed", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=BOUND,
    )
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr
