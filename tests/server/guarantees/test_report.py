"""What a report says of a request before there is an answer."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.grammar.schema.tree import Report, ReportEntry
from maskwright.server.guarantees.reporter import MOST_ENTRIES, report_body
from maskwright.server.recipes import Recipes
from maskwright.server.request.completion_requests import ChatCompletionRequest
from tests.server.scripted import BYTES, HELLO

RECIPES = Recipes("spaced", "hermes")
TOOL = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {}}}},
}


def body_of(**fields: Any) -> dict[str, Any]:
    request = ChatCompletionRequest.parse({**HELLO, **fields})
    recipe = RECIPES.of(request.shape, request.tool_use)
    report = None if recipe is None else recipe.build(BYTES).report
    return report_body(request, RECIPES, report)


def rules(body: dict[str, Any]) -> list[str]:
    return [entry["rule"] for entry in body["bounded"] if "rule" in entry]


def test_a_schema_is_reported_keyword_by_keyword() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "title": "A"}},
        "requierd": ["a"],
        "additionalProperties": False,
    }
    body = body_of(guided_json=schema)
    assert (body["shape"], body["param"]) == ("json_schema", "guided_json")
    assert body["enforced"] == [
        {"pointer": "", "keyword": "type"},
        {"pointer": "", "keyword": "properties"},
        {"pointer": "", "keyword": "additionalProperties"},
        {"pointer": "/properties/a", "keyword": "type"},
    ]
    assert {"pointer": "/properties/a", "keyword": "title"} in body["annotations"]
    [misspelt] = [each for each in body["annotations"] if each["keyword"] == "requierd"]
    assert "did you mean 'required'?" in misspelt["note"]
    assert body["counts"] == {
        name: len(body[name]) for name in ("enforced", "annotations", "bounded")
    }
    assert not any("pointer" in entry for entry in body["bounded"])


def test_the_closing_of_objects_is_reported_where_nobody_asked_for_it() -> None:
    inner = {"type": "object", "properties": {"b": True}}
    schema = {"properties": {"a": inner}, "additionalProperties": False}
    body = body_of(guided_json=schema)
    [closed] = [entry for entry in body["bounded"] if "pointer" in entry]
    assert (closed["pointer"], closed["keyword"]) == ("/properties/a", "additionalProperties")
    assert "additional_properties" in closed["note"]
    assert body["enforced"].count({"pointer": "/properties/a", "keyword": "properties"}) == 1
    assert all(entry["pointer"] != "/properties/a/b" for entry in body["enforced"])


@pytest.mark.parametrize("format", ["llama_pythonic", "qwen_coder"])
def test_members_that_a_tool_format_leaves_out_are_reported(format: str) -> None:
    """Never `enforced` alone: the schema allows what no call can hold."""
    parameters = {"type": "object", "properties": {"at": {"type": "integer"}}}
    for open_one, narrowed in (({"type": "object"}, ["/look"]), (parameters, [])):
        tool = {"type": "function", "function": {"name": "look", "parameters": open_one}}
        request = ChatCompletionRequest.parse({**HELLO, "tools": [tool]})
        recipes = Recipes("spaced", format, additional_properties="forbid")
        recipe = recipes.of(request.shape, request.tool_use)
        assert recipe is not None
        body: Any = report_body(request, recipes, recipe.build(BYTES).report)
        entries = [each for each in body["bounded"] if "declares" in each.get("note", "")]
        assert [each["pointer"] for each in entries] == narrowed
        assert all(each["keyword"] == "additionalProperties" for each in entries)
        assert not any("note" in each for each in body["enforced"])


def test_a_format_that_leaves_strings_out_is_bounded() -> None:
    body = body_of(guided_json={"type": "string", "format": "idn-email"})
    noted = [entry for entry in body["bounded"] if entry.get("keyword") == "format"]
    entries = [entry for entry in body["annotations"] if entry["keyword"] == "format"]
    assert noted == entries


@pytest.mark.parametrize(
    ("fields", "shape", "param"),
    [
        ({"guided_regex": "a+"}, "regex", "guided_regex"),
        ({"guided_choice": ["a", "b"]}, "choice", "guided_choice"),
        ({"guided_grammar": 'start: "a"'}, "grammar", "guided_grammar"),
        (
            {"structural_tag": {"format": {"type": "const_string", "value": "a"}}},
            "structural_tag",
            "structural_tag",
        ),
    ],
)
def test_other_shapes_are_reported(fields: dict[str, Any], shape: str, param: str) -> None:
    body = body_of(**fields)
    assert (body["shape"], body["param"]) == (shape, param)
    assert "token limit" in rules(body)
    assert ("whitespace" in rules(body)) == (shape == "structural_tag")


def test_free_text_has_nothing_enforced() -> None:
    body = body_of()
    assert (body["shape"], body["param"]) == ("text", None)
    assert body["counts"] == {"enforced": 0, "annotations": 0, "bounded": 0}


def test_tools_are_reported_with_their_places() -> None:
    body = body_of(tools=[TOOL], tool_choice="required", parallel_tool_calls=False, max_tokens=9)
    assert body["tools"] == [{"name": "look", "param": "tools[0].function.parameters"}]
    assert body["tool_choice"] == "required"
    assert {"pointer": "/look", "keyword": "properties"} in body["enforced"]
    assert "parallel_tool_calls" in rules(body)
    [limit] = [entry for entry in body["bounded"] if entry.get("rule") == "token limit"]
    assert (limit["param"], limit["value"]) == ("max_tokens", 9)


def test_a_stop_string_is_reported() -> None:
    body = body_of(guided_regex="a+b", stop=["b"])
    [stop] = [entry for entry in body["bounded"] if entry["rule"] == "stop"]
    assert stop["value"] == ["b"]


def test_lists_are_bounded() -> None:
    entries = tuple(ReportEntry(f"/{number}", "type") for number in range(MOST_ENTRIES + 5))
    request = ChatCompletionRequest.parse({**HELLO, "guided_json": True})
    body: Any = report_body(request, RECIPES, Report(entries, ()))
    assert len(body["enforced"]) == MOST_ENTRIES
    assert body["counts"]["enforced"] == MOST_ENTRIES + 5


def test_a_shape_beside_tools_is_reported() -> None:
    body = body_of(tools=[TOOL], guided_regex="a+")
    assert {"pointer": "", "keyword": "pattern"} in body["enforced"]
    alone = body_of(guided_regex="a+")
    assert alone["enforced"] == [{"pointer": "", "keyword": "pattern"}]
    forced = body_of(tools=[TOOL], guided_regex="a+", tool_choice="required")
    assert {"pointer": "", "keyword": "pattern"} not in forced["enforced"]
