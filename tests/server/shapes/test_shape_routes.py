"""What the server says of shapes, with and without grammar processes."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.server.scripted import Client

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "strin"}}}
TOOL_OF_NOTHING = {"type": "function", "function": {"name": "f"}}

CALL = '{"name": "f", "arguments": {}}'


def check(client: Client, kind: str, shape: str) -> Any:
    response = client.call("POST", "/v1/check", json={"kind": kind, "shape": shape})
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize(
    ("kind", "shape", "shortest", "keywords"),
    [
        ("schema", '{"type": "object", "properties": {"a": {"type": "integer"}}}', 2, (4, 0)),
        ("schema", '{"type": "string", "minLength": 5}', 7, (2, 0)),
        ("schema", '{"type": "string", "title": "a"}', 2, (1, 1)),
        ("schema", '{"type": "string", "minLength": 400000}', None, (2, 0)),
        ("schema", "true", 1, (0, 0)),
        ("regex", "a+", 1, (None, None)),
        ("regex", "a{4500}b?", 4500, (None, None)),
        ("lark", 'start: "a"+\nlost: "b"\n', 1, (None, None)),
        ("gbnf", 'root ::= "aä"+\n', 3, (None, None)),
        ("ebnf", 'root ::= "a"*\n', 0, (None, None)),
        ("tools", json.dumps([TOOL_OF_NOTHING]), len(CALL), (2, 0)),
        (
            "structural_tag",
            '{"type": "structural_tag", "format": {"type": "const_string", "value": "abc"}}',
            3,
            (0, 0),
        ),
    ],
)
def test_shapes_of_every_kind_can_be_used(
    client: Client,
    kind: str,
    shape: str,
    shortest: int | None,
    keywords: tuple[int, int] | tuple[None, None],
) -> None:
    found = check(client, kind, shape)
    assert found["usable"] is True, found
    assert found["fault"] is None
    assert found["shortest_bytes"] == shortest
    assert (found["enforced"], found["annotations"]) == keywords


@pytest.mark.parametrize(
    ("kind", "shape", "line", "column", "code"),
    [
        ("schema", '{"a": 1,\n  "b": }', 2, 8, "invalid_grammar"),
        ("schema", '{\n "type": "strin"}', 2, 2, "invalid_json_schema"),
        ("schema", "[]", 1, 1, "invalid_value"),
        ("schema", '{"allOf": [{"type": "null"},\n {"type": "array"}]}', None, None, None),
        ("regex", "ab(", 1, 3, "invalid_regex"),
        ("lark", 'start: a\nb: "b"\n', 1, 8, "invalid_grammar"),
        ("gbnf", "root ::= \n  a", 2, 3, "invalid_grammar"),
        ("tools", "[1]", 1, 2, None),
        ("tools", "{}", 1, 1, None),
        ("tools", "[]", 1, 1, None),
        ("tools", json.dumps([TOOL], indent=1), 7, 5, "invalid_json_schema"),
        ("structural_tag", '{"type": "structural_tag",\n "format": {"type": "x"}}', 2, None, None),
    ],
)
def test_a_broken_shape_has_a_place(
    client: Client, kind: str, shape: str, line: int | None, column: int | None, code: str | None
) -> None:
    found = check(client, kind, shape)
    assert found["usable"] is False
    fault = found["fault"]
    assert fault["message"]
    for name, expected in (("line", line), ("column", column), ("code", code)):
        if expected is not None:
            assert fault[name] == expected, fault


def test_a_contradiction_has_a_place(client: Client) -> None:
    schema = '{"type": "object",\n "required": ["x"],\n "additionalProperties": false}'
    fault = check(client, "schema", schema)["fault"]
    assert (fault["line"], fault["column"], fault["pointer"]) == (2, 15, "/required/0")
    assert "'x' is required" in fault["message"]


def test_findings_have_places(client: Client) -> None:
    schema = '{"type": "object",\n "properties": {"a": {"type": "string"}},\n "requird": ["a"]}'
    found = check(client, "schema", schema)["findings"]
    assert {(each["rule"], each["line"], each["column"]) for each in found} == {
        ("unknown-keyword", 3, 2),
        ("unbounded-object", 1, 1),
        ("unbounded-string", 2, 17),
    }
    found = check(client, "lark", 'start: "a"\nother: "b"\n')["findings"]
    assert [(each["rule"], each["line"], each["column"]) for each in found] == [
        ("unused-rule", 2, 1)
    ]


def test_texts_are_sampled(client: Client) -> None:
    body: dict[str, Any] = {"kind": "regex", "shape": "[ab]{3}", "count": 4, "seed": 1}
    texts = client.call("POST", "/v1/sample", json=body).json()["texts"]
    assert len(texts) == 4
    assert all(len(text) == 3 and set(text) <= set("ab") for text in texts)
    assert client.call("POST", "/v1/sample", json=body).json()["texts"] == texts
    shortest = {**body, "shape": "a{2,9}", "which": "shortest"}
    assert client.call("POST", "/v1/sample", json=shortest).json() == {"texts": ["aa"]}
    longest = {**body, "shape": "a{2,9}", "which": "longest"}
    assert len(client.call("POST", "/v1/sample", json=longest).json()["texts"][0]) > 2


@pytest.mark.parametrize(
    ("kind", "shape", "word"),
    [
        ("schema", '{"type": "object", "properties": {"age": {"type": "integer"}}}', "age"),
        ("schema", r'{"$defs": {"\ud800": {}}, "$ref": "#/$defs/\ud800"}', r"#/$defs/\ud800"),
        ("regex", "abc|d", "abc"),
        ("lark", 'start: thing\nthing: "a"\n', "thing"),
        ("gbnf", 'root ::= thing\nthing ::= "a"\n', "thing"),
    ],
)
def test_shapes_are_drawn(client: Client, kind: str, shape: str, word: str) -> None:
    body = {"kind": kind, "shape": shape}
    for which in ("railroad", "graph"):
        found = client.call("POST", "/v1/draw", json={**body, "as": which}).json()
        root = ElementTree.fromstring(found["svg"])
        assert root.tag.endswith("svg")
        assert which == "graph" or word in "".join(root.itertext())


def test_what_has_no_picture_is_refused(client: Client) -> None:
    shape = json.dumps([{"type": "function", "function": {"name": "f"}}])
    response = client.call("POST", "/v1/draw", json={"kind": "tools", "shape": shape})
    assert (response.status_code, response.json()["error"]["param"]) == (400, "kind")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"kind": "regex"}, "shape"),
        ({"shape": "a"}, "kind"),
        ({"kind": "perl", "shape": "a"}, "kind"),
        ({"kind": "regex", "shape": "a", "text": "a"}, "text"),
    ],
)
def test_a_wrong_request_is_refused(client: Client, body: dict[str, str], param: str) -> None:
    response = client.call("POST", "/v1/check", json=body)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)


def test_a_shape_without_texts_has_no_samples(client: Client) -> None:
    response = client.call("POST", "/v1/sample", json={"kind": "regex", "shape": "("})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_regex")


def test_every_example_can_be_used(client: Client) -> None:
    found = client.call("GET", "/v1/examples").json()["examples"]
    assert {"invoice", "sql-select"} <= {each["name"] for each in found}
    for example in found:
        assert check(client, example["kind"], example["shape"])["usable"], example["name"]
        assert example["kind"] == "schema" or example["accepted"]
