"""Schemas within documents, and of tools: as shapes of commands, and as values that match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from maskwright.cli.input.shapes import call_schema, chosen_part
from maskwright.errors import InputError
from tests.cli.conftest import Run

API = """\
openapi: 3.1.0
info: {title: shop, version: "1"}
paths: {}
components:
  schemas:
    Order:
      type: object
      properties:
        lines: {type: array, items: {$ref: '#/components/schemas/Line'}}
      required: [lines]
      additionalProperties: false
    Line:
      type: object
      properties: {count: {type: integer, minLength: 2}}
      required: [count]
      additionalProperties: false
    Other:
      type: object
      properties: {count: {type: integer, minLength: 2}}
"""
CITY = {"type": "string", "enum": ["Rome", "Oslo"]}
WEATHER = {
    "type": "object",
    "properties": {"city": {"$ref": "#/$defs/City"}, "inner": {"$ref": "#"}},
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"City": CITY},
}
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
OPENAI = {"type": "function", "function": {"name": "weather", "parameters": WEATHER}}
LISTS: dict[str, Any] = {
    "chats": [OPENAI, {"type": "function", "function": {"name": "now"}}],
    "responses": [
        {"type": "function", "name": "weather", "parameters": WEATHER},
        {"type": "function", "name": "now", "parameters": NOTHING},
    ],
    "anthropic": [{"name": "weather", "input_schema": WEATHER}, {"name": "now"}],
    "mcp": {"tools": [{"name": "weather", "inputSchema": WEATHER}, {"name": "now"}]},
}


@pytest.fixture
def api(tmp_path: Path) -> str:
    file = tmp_path / "api.yaml"
    file.write_text(API)
    return str(file)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"lines": [{"count": 1}]}, 0),
        ({"lines": []}, 0),
        ({"lines": [{}]}, 1),
        ({"lines": [{"count": "1"}]}, 1),
        ({}, 1),
    ],
)
def test_a_schema_of_a_description_of_an_api(run: Run, api: str, value: Any, code: int) -> None:
    part = f"{api}#/components/schemas/Order"
    assert run("match", part, "--text", json.dumps(value)).returncode == code


def test_findings_are_those_of_the_part_and_what_it_refers_to(run: Run, api: str) -> None:
    found = run("check", f"{api}#/components/schemas/Order", "--ignore", "unbounded-*")
    assert found.returncode == 0
    assert f"{api}#/components/schemas/Order:14:43: warning: minLength demands" in found.stdout
    assert found.stdout.count("no-effect") == 1


OF_SHAPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("check", "explain", "sample", "draw", "next", "bench"), ()),
    "convert": ("--to", "gbnf"),
    "diff": ('{"type": "null"}',),
    **dict.fromkeys(("match", "trace"), ("--text", "{")),
}
"""The commands that take a shape alone or with a text, with what else they are given. The others,
`test`, `generate`, `chat` and `batch`, have tests of their own."""
FOUND_A_DIFFERENCE = {"diff", "match", "trace"}


@pytest.mark.parametrize("source", ["part", "file in YAML", "list of tools", "Python type"])
@pytest.mark.parametrize("command", OF_SHAPES)
def test_every_command_about_shapes_takes_a_shape_from(
    run: Run, api: str, tmp_path: Path, command: str, source: str
) -> None:
    (tmp_path / "line.yaml").write_text("type: object\nadditionalProperties: false\n")
    (tmp_path / "tools.json").write_text(json.dumps(LISTS["mcp"]))
    shape = {
        "part": f"{api}#/components/schemas/Line",
        "file in YAML": str(tmp_path / "line.yaml"),
        "list of tools": str(tmp_path / "tools.json"),
        "Python type": "datetime:date",
    }[source]
    found = run(command, shape, *OF_SHAPES[command])
    assert "maskwright:" not in found.stderr
    assert found.returncode in ((0, 1, 3) if command in FOUND_A_DIFFERENCE else (0,))


def test_a_part_that_is_not_there_is_refused_with_one_like_it(run: Run, api: str) -> None:
    found = run("check", f"{api}#/components/schemas/Ordr")
    assert found.returncode == 2
    assert "has nothing at #/components/schemas/Ordr; did you mean" in found.stderr
    assert "#/components/schemas/Order?" in found.stderr


@pytest.mark.parametrize(
    ("document", "pointer", "way_out"),
    [
        (
            {"properties": {"a": {}}},
            "/properties/a",
            """move it to '$defs', write {"$ref": "#/$defs/a"} in its place, and """
            "choose x#/$defs/a",
        ),
        (
            {"definitions": {}, "items": [{}]},
            "/items/0",
            """move it to 'definitions', write {"$ref": "#/definitions/Part"} in its place, and """
            "choose x#/definitions/Part",
        ),
        (
            {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {}}},
            "/properties/a",
            "choose x#/$defs/b, to which it refers",
        ),
    ],
)
def test_the_way_out_where_a_part_of_a_keyword_is_chosen(
    document: Any, pointer: str, way_out: str
) -> None:
    with pytest.raises(InputError, match="only definitions can be chosen") as raised:
        chosen_part(document, pointer, "x")
    assert raised.value.message.endswith(f": {way_out}")
    [key] = way_out.rpartition("x#/")[2].split(", ")[0].split("/")[1:]
    moved = {**document, "$defs": {key: {}}, "definitions": {key: {}}}
    assert chosen_part(
        moved, f"/{'definitions' if 'definitions' in document else '$defs'}/{key}", "x"
    )


def test_a_definition_is_chosen_and_a_keyword_is_not() -> None:
    document: Any = {"type": "object", "$defs": {"a": {"type": "null"}, "b": {"$ref": "#/$defs/a"}}}
    part: Any = chosen_part(document, "/$defs/b", "x")
    jsonschema.validate(None, part)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, part)
    with pytest.raises(InputError, match="only definitions can be chosen"):
        chosen_part({"properties": {"a": {}}}, "/properties/a", "x")
    with pytest.raises(InputError, match="only an object has parts"):
        chosen_part([{}], "/0", "x")


CALLS: list[tuple[Any, bool]] = [
    ({"name": "weather", "arguments": {"city": "Rome"}}, True),
    ({"name": "weather", "arguments": {"city": "Rome", "inner": {"city": "Oslo"}}}, True),
    ({"name": "weather", "arguments": {"city": "Rome", "inner": {"city": "Bonn"}}}, False),
    ({"name": "weather", "arguments": {"city": "Bonn"}}, False),
    ({"name": "weather", "arguments": {}}, False),
    ({"name": "now", "arguments": {}}, True),
    ({"name": "now", "arguments": {"city": "Rome"}}, False),
    ({"name": "then", "arguments": {}}, False),
    ({"name": "now"}, False),
]


@pytest.mark.parametrize("protocol", LISTS)
def test_a_list_of_tools_stands_for_a_call_of_one(run: Run, tmp_path: Path, protocol: str) -> None:
    """As the package `jsonschema` judges it, and as `match` does."""
    schema = call_schema(LISTS[protocol])
    validator = jsonschema.Draft202012Validator(schema)
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(LISTS[protocol]))
    for value, expected in CALLS:
        assert validator.is_valid(value) is expected
    texts = [argument for value, _ in CALLS for argument in ("--text", json.dumps(value))]
    rows = json.loads(run("match", str(file), *texts, "--no-why", "--json").stdout)["texts"]
    assert [row["verdict"] == "match" for row in rows] == [expected for _, expected in CALLS]


def test_the_list_is_left_as_it_is() -> None:
    before = json.dumps(LISTS)
    for tools in LISTS.values():
        call_schema(tools)
    assert json.dumps(LISTS) == before


def test_a_value_of_an_enum_that_looks_like_a_reference_stays_one() -> None:
    parameters = {"const": {"$ref": "#/a"}}
    schema: Any = call_schema([{"name": "f", "parameters": parameters}])
    jsonschema.validate({"name": "f", "arguments": {"$ref": "#/a"}}, schema)


@pytest.mark.parametrize("document", [[], {}, [1], [{"type": "string"}], {"tools": []}, "x", True])
def test_what_is_no_list_of_tools(document: Any) -> None:
    assert call_schema(document) is None


@pytest.mark.parametrize("name", ["datetime:date", "uuid:UUID"])
def test_a_python_type_is_a_shape(run: Run, name: str) -> None:
    assert run("match", name, "--text", '"x"').returncode == 1
    assert run("check", name).stdout.startswith(f"{name}: can be used")
    assert run("explain", name).returncode == 0


def test_a_python_type_that_is_not_there_is_refused(run: Run) -> None:
    assert "there is no UUIDs in uuid; did you mean UUID" in run("next", "uuid:UUIDs").stderr
    found = run("check", "no_such_module:Name")
    assert found.returncode == 2
    assert "no_such_module can't be imported" in found.stderr


def test_a_grammar_with_a_colon_is_no_type(run: Run) -> None:
    assert run("match", 'start: "a"', "--text", "a").returncode == 0
    assert run("match", "a:b", "--kind", "lark", "--text", "a").returncode == 2
