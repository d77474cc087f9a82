"""Which values the keywords about arrays and objects accept, draft by draft."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError
from maskwright.grammar.schema.drafts import Draft
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Items, Properties
from tests.grammar.shape.semantics import satisfies

INT, STR = {"type": "integer"}, {"type": "string"}
D4, D6, D7, D2019, D2020 = Draft
ACCEPTED: list[tuple[Draft, Any, list[Any], list[Any]]] = [
    (D2020, {"minItems": 1, "maxItems": 2}, [[1], [1, 2], "x"], [[], [1, 2, 3]]),
    (D2020, {"uniqueItems": True}, [[1, True], {}], [[1, 1.0]]),
    (D2020, {"uniqueItems": False}, [[1, 1]], []),
    (D2020, {"items": INT}, [[], [1, 2]], [["a"], [1, "a"]]),
    (D2020, {"prefixItems": [INT]}, [[], [1, "a"]], [["a"]]),
    (D2020, {"prefixItems": [INT], "items": STR}, [[1, "a"]], [[1, 1], ["a"]]),
    (D2020, {"prefixItems": [INT], "items": False}, [[], [1]], [[1, 1]]),
    (D2020, {"prefixItems": []}, [[1]], []),
    # An array in `items`: in every draft, unless `prefixItems` shows which one is meant.
    (D2020, {"items": [INT, STR]}, [[], [1, "a", None]], [["a"], [1, 2]]),
    (D2020, {"items": [INT], "additionalItems": STR}, [[1, "a"]], [[1, 1]]),
    (D2019, {"items": [INT], "additionalItems": STR}, [[1, "a"]], [[1, 1]]),
    (D7, {"items": [INT], "additionalItems": False}, [[1]], [[1, 1]]),
    (D7, {"items": INT, "additionalItems": STR}, [[1, 1]], [[1, "a"]]),
    (D7, {"additionalItems": STR}, [[1, 1]], []),
    # `prefixItems` is no keyword of the old drafts, so it changes nothing there.
    (D2019, {"prefixItems": [STR], "items": INT}, [[1], [1, 2]], [["a"], [1, "a"]]),
    (D2019, {"prefixItems": [STR], "items": [INT], "additionalItems": False}, [[1]], [["a"]]),
    (D7, {"items": INT, "prefixItems": [STR]}, [[1]], [["a"]]),
    (D6, {"contains": INT}, [["a", 1]], [[], ["a"]]),
    (D4, {"contains": INT}, [[], ["a"]], []),
    (D2019, {"contains": INT, "minContains": 2}, [[1, 2]], [[1]]),
    (D2019, {"contains": INT, "minContains": 0}, [[], ["a"]], []),
    (D2019, {"contains": INT, "maxContains": 1}, [[1], [1, "a"]], [[1, 2], []]),
    (D7, {"contains": INT, "minContains": 2, "maxContains": 0}, [[1]], [[]]),
    (D2019, {"minContains": 2}, [[]], []),
    (D2020, {"properties": {"a": INT}}, [{}, {"a": 1}, {"b": "x"}], [{"a": "x"}]),
    (D2020, {"additionalProperties": False}, [{}], [{"a": 1}]),
    (D2020, {"properties": {"a": {}}, "additionalProperties": INT}, [{"a": "x"}], [{"b": "x"}]),
    (D2020, {"patternProperties": {"^a": INT}}, [{"b": "x"}, {"a": 1}], [{"ab": "x"}]),
    (
        D2020,
        {
            "additionalProperties": False,
            "patternProperties": {"^a": INT, "b$": STR},
            "properties": {"a": {"const": 1}},
        },
        [{}, {"a": 1}, {"a2": 5}, {"b": "x"}],
        [{"a": 2}, {"ab": 1}, {"ab": "x"}, {"c": 1}],
    ),
    (D6, {"propertyNames": {"maxLength": 1}}, [{}, {"a": 1}], [{"ab": 1}]),
    (D2020, {"required": ["a", "a"]}, [{"a": 1}, []], [{}]),
    (D2020, {"minProperties": 1, "maxProperties": 1}, [{"a": 1}], [{}, {"a": 1, "b": 1}]),
    (D2019, {"dependentRequired": {"a": ["b"]}}, [{}, {"b": 1}, {"a": 1, "b": 1}], [{"a": 1}]),
    (D2019, {"dependentRequired": {"a": []}}, [{"a": 1}], []),
    (D2019, {"dependentSchemas": {"a": {"required": ["b"]}}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
    (D7, {"dependencies": {"a": ["b"], "c": False}}, [{}, {"a": 1, "b": 1}], [{"a": 1}, {"c": 1}]),
    (D7, {"dependencies": {"a": "b"}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
    (D2019, {"dependencies": {"a": ["b"]}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
    (D2020, {"dependencies": {"a": {"required": ["b"]}}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
    (D2020, {"dependencies": {"a": True, "c": False}}, [{"a": 1}], [{"c": 1}]),
    (D2020, {"dependencies": {"a": "b"}}, [{"a": 1}], []),
    (D2020, {"dependencies": ["a"]}, [{"a": 1}], []),
]


@pytest.mark.parametrize(("draft", "document", "accepted", "rejected"), ACCEPTED, ids=str)
def test_values(draft: Draft, document: Any, accepted: list[Any], rejected: list[Any]) -> None:
    root = parse_schema(document, ParseOptions(draft=draft)).root
    assert [value for value in accepted if not satisfies(root, value)] == []
    assert [value for value in rejected if satisfies(root, value)] == []


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"prefixItems": {}}, "/prefixItems"),
        ({"prefixItems": [True], "items": [True]}, "/items"),
        ({"items": 3}, "/items"),
        ({"items": [3]}, "/items/0"),
        ({"contains": [], "minContains": 1}, "/contains"),
        ({"minContains": -1}, "/minContains"),
        ({"contains": {}, "maxContains": "1"}, "/maxContains"),
        ({"properties": []}, "/properties"),
        ({"properties": {}, "patternProperties": []}, "/patternProperties"),
        ({"properties": {"a/b": 3}}, "/properties/a~1b"),
        ({"patternProperties": {"^~": 3}}, "/patternProperties/^~0"),
        ({"additionalProperties": "x", "properties": {}}, "/additionalProperties"),
        ({"required": "a"}, "/required"),
        ({"required": [1]}, "/required/0"),
        ({"dependentRequired": {"a": [1]}}, "/dependentRequired/a/0"),
        ({"dependentSchemas": []}, "/dependentSchemas"),
        ({"dependentSchemas": {"a": 3}}, "/dependentSchemas/a"),
    ],
    ids=str,
)
def test_settings_of_the_wrong_type(document: Any, pointer: str) -> None:
    with pytest.raises(SchemaError) as raised:
        parse_schema(document, ParseOptions())
    assert raised.value.pointer == pointer


@pytest.mark.parametrize("first", ["properties", "patternProperties", "additionalProperties"])
def test_three_keywords_make_one_assertion(first: str) -> None:
    settings: dict[str, Any] = {
        "properties": {"a": INT},
        "patternProperties": {"^b": STR},
        "additionalProperties": False,
    }
    document = {first: settings.pop(first), **settings}
    (assertion,) = parse_schema(document, ParseOptions()).root.assertions
    assert isinstance(assertion, Properties)
    assert [*assertion.named] == ["a"]
    assert len(assertion.patterns) == 1
    assert assertion.additional.never
    assert assertion.covers_all


@pytest.mark.parametrize(
    ("document", "covers_all"),
    [
        ({"properties": {}}, False),
        ({"properties": {}, "additionalProperties": True}, True),
        ({"prefixItems": [True]}, False),
        ({"prefixItems": [True], "items": True}, True),
        ({"items": True}, True),
        ({"items": [True]}, False),
        ({"items": [True], "additionalItems": True}, True),
    ],
    ids=str,
)
def test_whether_all_members_or_items_are_evaluated(document: Any, covers_all: bool) -> None:
    (assertion,) = parse_schema(document, ParseOptions()).root.assertions
    assert isinstance(assertion, Items | Properties)
    assert assertion.covers_all is covers_all
