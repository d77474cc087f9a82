"""Where references lead."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError, UnsupportedSchemaError
from maskwright.grammar.schema.document import check
from maskwright.grammar.schema.drafts import Draft
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.references import References
from maskwright.grammar.schema.tree import AllOf, Schema, Values
from maskwright.limits import DEFAULT_LIMITS

HELD: dict[str, Any] = {
    "a": {"const": "a"},
    "~1": {"const": "tilde one"},
    "/": {"const": "slash"},
    "~": {"const": "tilde"},
    "a b%": {"const": "escaped"},
    "list": [{"const": "first"}, {"const": "second"}],
    "0": {"const": "name 0"},
    "²": {"const": "square"},
}


def references_of(document: Any, draft: Draft) -> References:
    return References(check(document, DEFAULT_LIMITS), draft, {})


def target(reference: str, **options: Any) -> Any:
    """The constant of the schema that a reference in the property "here" leads to."""
    document = {"properties": {"here": {"$ref": reference}}, "held": HELD}
    root = parse_schema(document, ParseOptions(**options)).root
    (all_of,) = root.assertions[0].named["here"].assertions  # type: ignore[union-attr]
    assert isinstance(all_of, AllOf)
    (constant,) = all_of.parts[0].assertions
    assert isinstance(constant, Values)
    return constant.values[0]


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("#/held/a", "a"),
        ("#/held/~01", "tilde one"),
        ("#/held/~1", "slash"),
        ("#/held/~0", "tilde"),
        ("#/held/a%20b%25", "escaped"),
        ("#/h%65ld/a", "a"),
        ("#/held/list/1", "second"),
        ("#/held/0", "name 0"),
        ("#/held/%C2%B2", "square"),
    ],
)
def test_pointers(reference: str, value: str) -> None:
    assert target(reference) == value


@pytest.mark.parametrize(
    "reference",
    [
        "#/held/b",
        "#/held/list/2",
        "#/held/list/-1",
        "#/held/list/²",
        "#/held/list/01",
        "#/held/a/const/0",
        "#/held/list/first",
        "#/",
        "#/held//a",
    ],
)
def test_pointers_to_nothing(reference: str) -> None:
    with pytest.raises(SchemaError, match="points nowhere") as raised:
        target(reference)
    assert raised.value.pointer == "/properties/here/$ref"


@pytest.mark.parametrize("reference", ["other.json", "urn:x", "http://example.com/a#/b"])
def test_a_document_that_is_not_registered_is_not_fetched(reference: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="not registered; register it") as raised:
        parse_schema({"allOf": [{"$ref": reference}]}, ParseOptions())
    assert raised.value.pointer == "/allOf/0/$ref"


def test_a_registered_document() -> None:
    documents = {"urn:x": {"$defs": {"y": {"const": 1}}, "const": 0}}
    assert target("urn:x", documents=documents) == 0
    assert target("urn:x#/$defs/y", documents=documents) == 1
    with pytest.raises(SchemaError, match="points nowhere"):
        target("urn:x#/$defs/z", documents=documents)


@pytest.mark.parametrize(
    ("document", "plain"),
    [
        ({"$ref": "#"}, True),
        ({"$ref": "#/a"}, True),
        ({"properties": {"$ref": {"type": "string"}}}, True),
        ({"$id": "urn:root", "items": {"$ref": "#/a"}}, True),
        ({"items": [{"$ref": "#a"}]}, False),
        ({"$dynamicRef": "#a"}, False),
        ({"items": {"$anchor": "a"}, "$ref": "#/a"}, False),
        ({"items": {"$id": "urn:a"}, "$ref": "#/a"}, False),
        ({"items": {"id": "urn:a"}, "$ref": "#/a"}, True),
        ({"$recursiveAnchor": True, "items": {"$recursiveRef": "#"}}, False),
        # Nothing refers to these.
        ({"items": {"$anchor": "a"}}, True),
        ({"items": {"$id": "urn:a"}}, True),
        ({"$recursiveAnchor": True}, True),
        (True, True),
    ],
    ids=str,
)
def test_which_documents_need_a_registry(document: Any, plain: bool) -> None:
    references = references_of(document, Draft.DRAFT2020)
    assert references.plain is plain
    assert (references.root() is None) is plain


def test_the_name_of_an_identifier_depends_on_the_draft() -> None:
    document = {"items": {"id": "urn:a", "$ref": "#/a"}}
    assert not references_of(document, Draft.DRAFT4).plain
    assert references_of(document, Draft.DRAFT6).plain


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"id": 5, "properties": {"a": {"$ref": "b"}}}, "/id"),
        ({"properties": {"b": {"id": ["a"]}}, "items": {"$ref": "#c"}}, "/properties/b/id"),
        ({"items": {"id": {}, "items": {"$ref": "#c"}}}, "/items/id"),
    ],
)
def test_an_identifier_of_draft_4_is_a_string(document: Any, place: str) -> None:
    with pytest.raises(SchemaError) as raised:
        parse_schema({"$schema": Draft.DRAFT4.value, **document}, ParseOptions())
    assert raised.value.pointer == place


def test_a_dynamic_reference_depends_on_the_way() -> None:
    """The same subschema means two things, so it is parsed for each dynamic scope."""
    tree = {
        "$id": "urn:tree",
        "$dynamicAnchor": "node",
        "properties": {"child": {"$dynamicRef": "#node"}},
    }
    strict = {
        "$schema": Draft.DRAFT2020.value,
        "$id": "urn:strict",
        "$dynamicAnchor": "node",
        "$ref": "urn:tree",
        "const": 1,
    }
    documents = {"urn:tree": {"$schema": Draft.DRAFT2020.value, **tree}}

    def child(root: Schema) -> Schema:
        (properties,) = (each for each in root.assertions if hasattr(each, "named"))
        return properties.named["child"].assertions[0].parts[0]  # type: ignore[union-attr]

    inner = parse_schema(strict, ParseOptions(documents=documents)).root.assertions[0].parts[0]  # type: ignore[union-attr]
    assert any(isinstance(each, Values) for each in child(inner).assertions)
    alone = parse_schema(documents["urn:tree"], ParseOptions()).root
    assert not any(isinstance(each, Values) for each in child(alone).assertions)
