"""Errors of the running server: each says which field and which code, as docs/api.md lists them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.bounds import PATIENCE
from tests.pages.demo_server import Served

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = [{"role": "user", "content": "Hello"}]
NEVER = {"type": "object", "properties": {"a": False}, "required": ["a"]}
LONG = {
    "type": "object",
    "properties": {f"a_property_{at}": {"description": "of some length " * 5} for at in range(200)},
}
COARSE = {"properties": {"x": {"multipleOf": 0.000123457}}}
LARK = {"type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "a" start'}}


def tool(parameters: Any, name: str = "look") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


CASES: list[tuple[dict[str, Any], str | None, str]] = [
    # fields of a chat; param, code
    ({"temperature": "hot"}, "temperature", "invalid_value"),
    ({"messages": None}, "messages", "missing_required_parameter"),
    ({"maskwright": {"tracee": True}}, "maskwright.tracee", "unknown_field"),
    ({"audio": {}}, "audio", "unsupported_parameter"),
    ({"response_format": {"type": "sound"}}, "response_format.type", "unsupported_value"),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
        "messages[0].content[0].type",
        "unsupported_content",
    ),
    ({"guided_json": {"type": "x"}}, "guided_json", "invalid_json_schema"),
    (
        {"guided_json": {"$ref": "https://example.com/other"}},
        "guided_json",
        "unsupported_json_schema",
    ),
    ({"guided_json": NEVER}, "guided_json", "unsatisfiable_json_schema"),
    ({"guided_regex": "("}, "guided_regex", "invalid_regex"),
    ({"guided_grammar": 'start: "'}, "guided_grammar", "invalid_grammar"),
    ({"guided_grammar": 'start: "a" start'}, "guided_grammar", "unsatisfiable_grammar"),
    ({"structural_tag": {"format": {}}}, "structural_tag", "invalid_structural_tag"),
    ({"guided_regex": "a", "guided_json": True}, "guided_regex", "conflicting_constraints"),
    ({"guided_json": COARSE}, "guided_json", "limit_exceeded"),
    (
        {"tools": [tool({}), tool(COARSE, "reckon")]},
        "tools[1].function.parameters",
        "limit_exceeded",
    ),
    (
        {"functions": [{"name": "reckon", "parameters": COARSE}]},
        "functions[0].parameters",
        "limit_exceeded",
    ),
    (
        {"tools": [tool({}), tool(NEVER, "never")], "tool_choice": "required"}
        | {"tool_choice": {"type": "function", "function": {"name": "never"}}},
        "tools[1].function.parameters",
        "unsatisfiable_json_schema",
    ),
    (
        {"functions": [{"name": "never", "parameters": NEVER}], "function_call": {"name": "never"}},
        "functions[0].parameters",
        "unsatisfiable_json_schema",
    ),
    (
        {"tools": [{"type": "custom", "custom": {"name": "c", "format": LARK}}]},
        "tools[0].custom.format.grammar.definition",
        "unsatisfiable_grammar",
    ),
    ({"tools": [tool({}), tool({})]}, "tools[1].function.name", "duplicate_tool"),
    ({"guided_json": LONG}, "guided_json", "context_length_exceeded"),
    ({"tools": [tool(LONG)]}, "tools", "context_length_exceeded"),
    ({"guided_regex": "a{50}", "max_tokens": 3}, "max_tokens", "max_tokens_too_small"),
    ({"guided_regex": "b{3}", "bad_words": ["b"]}, None, "empty_support"),
]


@pytest.mark.parametrize(("fields", "param", "code"), CASES)
def test_an_error_says_which(
    served: Served, fields: dict[str, Any], param: str | None, code: str
) -> None:
    body = {"messages": MESSAGES, "max_tokens": 20, **fields}
    response = httpx.post(f"{served.url}/v1/chat/completions", json=body, timeout=PATIENCE)
    error = response.json()["error"]
    assert (response.status_code, error["param"], error["code"]) == (400, param, code), error


def test_errors_of_the_protocol(served: Served) -> None:
    chat = f"{served.url}/v1/chat/completions"
    headers = {"Content-Type": "application/json"}
    found = [
        httpx.post(chat, content=b"{", headers=headers),
        httpx.post(chat, content=b"{}", headers={"Content-Type": "text/plain"}),
        httpx.get(f"{served.url}/v1/nothing"),
        httpx.get(chat),
        httpx.get(f"{served.url}/v1/models/"),
        httpx.post(chat, content=b" " * (9 << 20), headers=headers),
        httpx.post(f"{served.url}/v1/explain", json={"id": "none"}),
    ]
    assert [(each.status_code, each.json()["error"]["code"]) for each in found] == [
        (400, "invalid_json"),
        (400, "invalid_content_type"),
        (404, "not_found"),
        (405, "method_not_allowed"),
        (404, "model_not_found"),
        (413, "body_too_large"),
        (404, "not_found"),
    ]


def test_a_time_limit(served: Served) -> None:
    body = {"messages": MESSAGES, "maskwright": {"timeout": 0.001}}
    response = httpx.post(f"{served.url}/v1/chat/completions", json=body, timeout=PATIENCE)
    assert (response.status_code, response.json()["error"]["code"]) == (504, "timeout")


def test_the_prompt_says_what_takes_its_tokens(served: Served) -> None:
    body = {"messages": MESSAGES, "guided_json": LONG}
    response = httpx.post(f"{served.url}/v1/chat/completions", json=body, timeout=PATIENCE)
    message = response.json()["error"]["message"]
    found = re.match(r"the prompt takes (\d+) tokens, (\d+) of them for the schema; ", message)
    assert found is not None, message
    assert 0 < int(found[1]) - int(found[2]) < 100


ELSEWHERE = {
    "client_gone": "is only logged",
    "slow_reader": "is only logged",
    "generation_failed": "is sent as internal_error",
    "unsupported_adapter": "keeps a server from starting",
    "unsupported_model": "keeps a server from starting",
    "invalid_batch_line": "is written into the results of a batch",
    "invalid_json_line": "is written into the results of a batch",
}
"""Codes that no response has, and why."""


def test_every_code_is_documented() -> None:
    sources = (ROOT / "src" / "maskwright").rglob("*.py")
    pattern = re.compile(r'\b(?:default_code|code) ?= ?"([a-z_]+)"')
    raised = {code for path in sources for code in pattern.findall(path.read_text())}
    assert set(ELSEWHERE) <= raised
    page = (ROOT / "docs" / "api.md").read_text().partition("## Errors")[2]
    rows = [line for line in page.splitlines() if re.match(r"\| \d", line)]
    documented = {code for row in rows for code in re.findall(r"`([a-z_]+)`", row.split("|")[3])}
    assert documented == raised - set(ELSEWHERE)
    tried = {code for _, _, code in CASES}
    assert tried <= documented
