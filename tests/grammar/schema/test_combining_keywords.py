"""Which values the keywords that combine subschemas accept."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError
from maskwright.grammar.schema.drafts import Draft
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import AllOf, Unevaluated
from tests.grammar.shape.semantics import satisfies

INT, STR, LARGE = {"type": "integer"}, {"type": "string"}, {"minimum": 5}
D4, D6, D7, D2019, D2020 = Draft
ACCEPTED: list[tuple[Draft, Any, list[Any], list[Any]]] = [
    (D4, {"allOf": [INT, LARGE]}, [7], [1, "a"]),
    (D4, {"anyOf": [INT, LARGE]}, [1, 7.5, "a"], [1.5]),
    (D4, {"oneOf": [INT, LARGE]}, [1, 7.5, "a"], [7, 1.5]),
    (D4, {"not": INT}, [1.5, "a"], [1]),
    (D7, {"if": INT, "then": LARGE, "else": STR}, [7, "a"], [1, 7.5, None]),
    (D7, {"if": INT, "else": STR}, [1, "a"], [1.5]),
    (D7, {"if": INT, "then": False}, [1.5, "a"], [1]),
    (D7, {"then": False, "else": False}, [1, "a"], []),
    (D6, {"if": True, "then": False}, [1, "a"], []),
    (D2020, {"$ref": "#/$defs/int", **LARGE, "$defs": {"int": INT}}, [7], [1, 7.5]),
    (D7, {"$ref": "#/definitions/int", **LARGE, "definitions": {"int": INT}}, [1, 7], [7.5]),
    (D2020, {"$dynamicRef": "#/$defs/int", "$defs": {"int": INT}}, [1], ["a"]),
    (D2020, {"$recursiveRef": "#/$defs/int", "$defs": {"int": INT}}, [1, "a"], []),
    (
        D2019,
        {"properties": {"a": {"$recursiveRef": "#"}}, "type": "object"},
        [{"a": {}}],
        [{"a": 1}],
    ),
    (D2020, {"type": ["array", "null"], "items": {"$ref": "#"}}, [[[None], []]], [[[1]]]),
]


@pytest.mark.parametrize(("draft", "document", "accepted", "rejected"), ACCEPTED, ids=str)
def test_values(draft: Draft, document: Any, accepted: list[Any], rejected: list[Any]) -> None:
    root = parse_schema(document, ParseOptions(draft=draft)).root
    assert [value for value in accepted if not satisfies(root, value)] == []
    assert [value for value in rejected if satisfies(root, value)] == []


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"allOf": []}, "/allOf"),
        ({"anyOf": {}}, "/anyOf"),
        ({"oneOf": [True, 3]}, "/oneOf/1"),
        ({"not": []}, "/not"),
        ({"if": 3}, "/if"),
        ({"if": True, "then": 3}, "/then"),
        ({"unevaluatedItems": []}, "/unevaluatedItems"),
        ({"$ref": 3}, "/$ref"),
        ({"$dynamicRef": 3}, "/$dynamicRef"),
    ],
    ids=str,
)
def test_settings_of_the_wrong_type(document: Any, pointer: str) -> None:
    with pytest.raises(SchemaError) as raised:
        parse_schema(document, ParseOptions())
    assert raised.value.pointer == pointer


def test_what_is_unevaluated_is_left_to_the_normal_form() -> None:
    document = {"unevaluatedItems": False, "unevaluatedProperties": INT}
    assertions = parse_schema(document, ParseOptions()).root.assertions
    assert [each.kind for each in assertions if isinstance(each, Unevaluated)] == [
        "items",
        "properties",
    ]


def test_a_recursive_reference_leads_to_the_outermost_anchor() -> None:
    """Draft 2019-09: with `$recursiveAnchor`, the schema that was entered first."""
    tree = {
        "$schema": D2019.value,
        "$id": "urn:tree",
        "$recursiveAnchor": True,
        "properties": {"child": {"$recursiveRef": "#"}},
    }
    strict = {
        "$schema": D2019.value,
        "$id": "urn:strict",
        "$recursiveAnchor": True,
        "$ref": "urn:tree",
        "required": ["child"],
        "maxProperties": 1,
    }
    options = ParseOptions(documents={"urn:tree": tree})
    root = parse_schema(strict, options).root
    assert isinstance(root.assertions[0], AllOf)
    assert not satisfies(root, {"child": {}})  # the child has to have a child, and so on
    assert satisfies(parse_schema(tree, options).root, {"child": {}})
