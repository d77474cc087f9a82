"""A header of the answer says what in a shape demands less than it seems to."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.bounds import PATIENCE
from tests.pages.demo_server import Served

HEADER = "x-maskwright-warnings"
MESSAGES = [{"role": "user", "content": "Ann, 34"}]
SHORT: dict[str, Any] = {"type": "string", "maxLength": 3}
LOOSE: list[tuple[Any, list[str]]] = [
    ({"name": "n", "schema": SHORT}, ["/: this schema demands nothing"]),
    ({"a": SHORT, "b": SHORT}, ["/: this schema demands nothing"]),
    ({**SHORT, "format": "emial"}, ["/format: the format 'emial' is unknown"]),
    ({**SHORT, "nullable": True}, ["/nullable: not a keyword"]),
    ({**SHORT, "pattern": "^[[:alpha:]]$"}, ["/pattern: '[:alpha:]' is no class"]),
    ({**SHORT, "required": None, "enum": None}, ["/required: null is", "/enum: null is"]),
    ({**SHORT, "format": "date", "maxLength": 10}, []),
]


def post(served: Served, path: str, body: Any) -> httpx.Response:
    content = body if isinstance(body, str) else json.dumps(body)
    headers = {"content-type": "application/json"}
    url = f"{served.url}/v1/{path}"
    return httpx.post(url, content=content, headers=headers, timeout=PATIENCE)


def warnings(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    found: list[str] = json.loads(response.headers.get(HEADER, "[]"))
    return found


def places(response: httpx.Response) -> list[str]:
    return [text.partition(":")[0] for text in warnings(response)]


@pytest.mark.parametrize(("schema", "expected"), LOOSE, ids=str)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_demands_less_than_it_seems(
    served: Served, schema: Any, expected: list[str], stream: bool
) -> None:
    named = {"name": "n", "schema": schema}
    format = {"type": "json_schema", "json_schema": named}
    text = {"format": {"type": "json_schema", **named}}
    limits = {"max_tokens": 40, "stream": stream}
    for response in (
        post(
            served,
            "chat/completions",
            {"messages": MESSAGES, "response_format": format, **limits},
        ),
        post(served, "completions", {"prompt": "a", "guided_json": schema, **limits}),
        post(
            served,
            "responses",
            {"input": "a", "text": text, "max_output_tokens": 40, "stream": stream},
        ),
    ):
        noted = warnings(response)
        assert len(noted) == len(expected)
        assert all(map(str.startswith, noted, expected))


@pytest.mark.parametrize(("schema", "expected"), LOOSE, ids=str)
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_the_parameters_of_a_tool(
    served: Served, schema: Any, expected: list[str], choice: str
) -> None:
    function = {"name": "f", "parameters": {"type": "object", "properties": {"x": schema}}}
    tools = {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
    body = {"messages": MESSAGES, "max_tokens": 60, "stream": choice == "auto", **tools}
    assert places(post(served, "chat/completions", body)) == [
        f"/f/properties/x{each.partition(':')[0]}".removesuffix("/") for each in expected
    ]


def test_a_description_of_an_api(served: Served) -> None:
    """Whose way out names one of its schemas."""
    document = {"openapi": "3.1.0", "paths": {}, "components": {"schemas": {"Order": SHORT}}}
    body = {"messages": MESSAGES, "guided_json": document, "max_tokens": 40}
    (warning,) = warnings(post(served, "chat/completions", body))
    assert '"$ref": "#/components/schemas/Order"' in warning
    chosen = {**document, "$ref": "#/components/schemas/Order"}
    assert warnings(post(served, "chat/completions", {**body, "guided_json": chosen})) == []


def test_a_pattern_and_a_grammar_of_posix_classes(served: Served) -> None:
    pattern, grammar = "[[:digit:]]{2}", 'start: A\nA: /[[:digit:]]/ "x"'
    tag = {
        "type": "structural_tag",
        "format": {
            "type": "tag",
            "begin": "<",
            "end": ">",
            "content": {"type": "regex", "pattern": pattern},
        },
    }
    fields: dict[str, Any]
    for fields in (
        {"response_format": {"type": "regex", "regex": pattern}},
        {"guided_regex": pattern},
        {"guided_grammar": grammar},
        {"response_format": {"type": "grammar", "grammar": grammar}},
        {"structural_tag": tag},
    ):
        body = {"messages": MESSAGES, "max_tokens": 20, **fields}
        (warning,) = warnings(post(served, "chat/completions", body))
        assert "'[:digit:]' is no class of characters here" in warning
        assert "write [0-9] or \\d" in warning
    repeated = 'start: %json {"type": "null", "type": "boolean"}'
    body = {"messages": MESSAGES, "max_tokens": 20, "guided_grammar": repeated}
    (warning,) = warnings(post(served, "chat/completions", body))
    assert "at /type: 'type' stands 2 times in one object" in warning
    body = {"messages": MESSAGES, "max_tokens": 20, "guided_regex": "[0-9:]{2}"}
    assert warnings(post(served, "chat/completions", body)) == []


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ('{"type": "null", "type": "boolean"}', ["/type"]),
        ('{"type": "boolean", "title": "a", "title": "b"}', ["/title"]),
        ('{"properties": {"a": {"type": "null"}, "a": true}}', ["/properties/a"]),
        ('{"type": "boolean"}', []),
    ],
)
def test_a_name_that_stands_twice_in_a_schema(
    served: Served, schema: str, expected: list[str]
) -> None:
    """In the body itself, in the parameters of a tool, and in a schema that is a text of JSON."""
    head = '{"messages": [{"role": "user", "content": "a"}], "max_tokens": 60, '
    whole = head + f'"guided_json": {schema}}}'
    assert places(post(served, "chat/completions", whole)) == expected
    tool = (
        '"tool_choice": "required", "tools": [{"type": "function", "function": {"name": "f", '
        f'"parameters": {{"type": "object", "properties": {{"x": {schema}}}}}}}}}]}}'
    )
    places_noted = places(post(served, "chat/completions", head + tool))
    assert places_noted == [f"/f/properties/x{each}" for each in expected]
    body = {"messages": MESSAGES, "max_tokens": 60, "guided_json": schema}
    assert places(post(served, "chat/completions", body)) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("type: object\nproperties:\n  a: {type: string}\n", "YAML"),
        ('{"type": "object"}', "JSON"),
    ],
)
def test_a_schema_in_a_field_for_grammars(served: Served, text: str, language: str) -> None:
    body = {"messages": MESSAGES, "guided_grammar": text}
    response = post(served, "chat/completions", body)
    assert response.status_code == 400
    assert f"this looks like a JSON Schema in {language}" in response.json()["error"]["message"]
