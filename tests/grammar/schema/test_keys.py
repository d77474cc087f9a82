"""Which schemas are told to be written alike."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Properties, Schema


def key(schema: Any) -> bytes | None:
    return parse_schema(schema, ParseOptions()).root.key


def member(schema: Any) -> Schema:
    """The schema of the property "a"."""
    (properties,) = (
        each
        for each in parse_schema(schema, ParseOptions()).root.assertions
        if isinstance(each, Properties)
    )
    return properties.named["a"]


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        ({"type": "string"}, {"type": "string"}, True),
        ({"type": "string"}, '{"type": "string"}', True),
        ({"const": 1}, {"const": True}, False),
        ({"const": 1}, {"const": 1.0}, False),
        ({"const": "a"}, {"enum": ["a"]}, False),
        ({"properties": {"a": {}, "b": {}}}, {"properties": {"b": {}, "a": {}}}, False),
        ({"exclusiveMinimum": 1}, {"$schema": "http://json-schema.org/draft-06/schema#"}, False),
    ],
)
def test_what_is_alike(left: Any, right: Any, alike: bool) -> None:
    assert (key(left) == key(right)) is alike


def test_the_draft_has_a_say() -> None:
    here = {"properties": {"a": {"type": "integer"}}}
    there = {"$schema": "http://json-schema.org/draft-04/schema#", **here}
    assert member(here).key is not None
    assert member(there).key not in (None, member(here).key)


def test_a_part_means_the_same_in_two_documents() -> None:
    part = {"type": "array", "items": {"maxLength": 3}}
    assert member({"properties": {"a": part}}).key == key(part)
    assert member({"properties": {"b": {}, "a": part}, "required": ["b"]}).key == key(part)


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "#/$defs/x"},
        {"items": {"$ref": "#"}},
        {"allOf": [{"$ref": "#/$defs/x"}]},
    ],
)
def test_a_part_that_refers_to_others_has_no_key(part: Any) -> None:
    document = {"properties": {"a": part}, "$defs": {"x": {"type": "null"}}}
    assert member(document).key is None
    assert key(document) == key(dict(document)) is not None
    assert key(document) != key({**document, "$defs": {"x": {"type": "string"}}})


@pytest.mark.parametrize(
    "document",
    [
        {"properties": {"a": {"$id": "urn:a"}}},
        {"properties": {"a": {"$ref": "#b"}, "b": {"$anchor": "b"}}},
        OrderedDict(type="string"),
    ],
)
def test_documents_that_may_mean_more_than_shows_have_no_keys(document: Any) -> None:
    assert key(document) is None
