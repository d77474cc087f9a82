"""What a document's text says, and which schemas are written alike."""

from __future__ import annotations

import marshal
import random
from collections import OrderedDict
from typing import Any

import pytest

from maskwright.grammar.schema.document_text import LARGE, DocumentText, document_of
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Properties, Schema


class WithUnit(int):
    """A number that may be more than its value shows."""


class Names(list[str]):
    """A list that may be more than its items show."""


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
        (
            {"type": "string"},
            '{"type": "null", "type": "string"}',
            True,
        ),  # the last one counts
        ({"type": "string"}, {"type": "string", "minLength": None}, True),  # which is absent
        ({"type": "string"}, OrderedDict(type="string"), True),
        ({"not": {"a": 1}}, {"not": {"a": 1, "b": 2}}, False),
        ({"enum": ["a", "b"]}, {"enum": ["ab"]}, False),
        ({"enum": [["a"], "b"]}, {"enum": [["a", "b"]]}, False),
        ({"const": 0.0}, {"const": -0.0}, False),
        ({"const": 2**63}, {"const": 2**63 + 1}, False),
        ({"const": 2**63}, {"const": float(2**63)}, False),
        ({"const": "é"}, {"const": "\u00e9"}, True),
        ({"const": "\ud800"}, {"const": "\ud801"}, False),  # halves of surrogate pairs
        ({"const": 1}, {"const": True}, False),
        ({"const": 1}, {"const": 1.0}, False),
        ({"const": "a"}, {"enum": ["a"]}, False),
        ({"properties": {"a": {}, "b": {}}}, {"properties": {"b": {}, "a": {}}}, False),
        ({"type": "string", "title": "A"}, {"type": "string"}, True),
        ({"description": "A", "maxItems": 1}, {"maxItems": 1, "description": "B"}, True),
        ({"items": {"default": "A"}}, {"items": {"default": -1.5}}, True),
        ({"items": {"default": 3}}, {"items": {}}, True),
        ({"enum": [{"title": "A"}]}, {"enum": [{"title": "B"}]}, False),
        ({"items": {"const": [{"default": 1}]}}, {"items": {"const": [{}]}}, False),
        ({"properties": {"title": {}}}, {"properties": {}}, False),
        ({"properties": {"default": True}}, {"properties": {"default": False}}, False),
        ({"required": ["title"]}, {"required": ["default"]}, False),
        ({"dependentRequired": {"default": ["a"]}}, {"dependentRequired": {}}, False),
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
        {"properties": {"a": {"$id": "urn:a", "$ref": "#"}}},
        {"properties": {"a": {"$ref": "#b"}, "b": {"$anchor": "b"}}},
        {"enum": [WithUnit(3)]},
        {"required": Names(["a"])},
    ],
)
def test_documents_that_may_mean_more_than_shows_have_no_keys(document: Any) -> None:
    assert key(document) is None


def test_an_identifier_without_references_changes_nothing() -> None:
    document = {"properties": {"a": {"$id": "urn:a"}}}
    assert key(document) == key(dict(document)) is not None
    assert member(document).key is None


@pytest.mark.parametrize("name", ["$ref", "$id", "$", "$comment"])
def test_a_part_with_a_name_that_may_refer_has_no_key(name: str) -> None:
    inner = {name: "#/properties/b"}
    document: Any = {"properties": {"a": {"not": {"allOf": [True, inner, {}]}}, "b": {}}}
    if name != "$id":
        assert key(document) is not None
        assert member(document).key is None
    for other in ({"pattern": "^a$"}, {"enum": [name]}, {"title": "x" * 36}):
        assert member({"properties": {"a": other}}).key == key(other), "a text is no name"


@pytest.mark.parametrize(("size", "known"), [(LARGE - 200, True), (LARGE + 1, False)])
def test_only_small_documents_have_a_key_for_each_part(size: int, known: bool) -> None:
    document = {"properties": {"a": {"type": "string"}}, "title": "x" * size}
    assert (member(document).key is not None) is known
    assert key(document) is not None


def written(value: Any, nodes: int = 1_000, depth: int = 100) -> DocumentText:
    return DocumentText(value, nodes, depth)


def some_value(draw: random.Random, depth: int) -> Any:
    """A value like others in some part, so that two are often equal or nearly so."""
    kind = draw.randrange(9 if depth else 6)
    if kind > 6:
        return [some_value(draw, depth - 1) for _ in range(draw.randrange(3))]
    if kind > 5:
        names = draw.sample(["a", "b", "$a", "", "ab"], draw.randrange(3))
        return {name: some_value(draw, depth - 1) for name in names}
    return draw.choice(
        [None, True, False, 0, 1, -1, 1.0, 0.0, -0.0, 2**70, "", "a", "ab", "é", "n"]
    )


def test_texts_are_equal_for_equal_json_alone() -> None:
    draw = random.Random(5)
    values = [some_value(draw, 3) for _ in range(4_000)]
    texts = [written(value).text for value in values]
    # The second version of marshal's format has equal bytes for equal values of these types.
    others = [marshal.dumps(value, 2) for value in values]
    assert len(set(texts)) == len(set(others)) == len(set(zip(texts, others, strict=True))) > 500


@pytest.mark.parametrize(
    ("value", "nodes"), [(None, 1), ([], 1), ({"a": [1, {}]}, 4), ([[[]], {"a": "b"}], 5)], ids=str
)
def test_values_are_counted(value: Any, nodes: int) -> None:
    assert written(value).nodes == written(value, nodes).nodes == nodes
    assert written(value, nodes - 1).nodes == nodes, "counting ends with the first too many"


@pytest.mark.parametrize(
    ("value", "is_json"),
    [
        ({"a": [1, 2.5, "x", None, True]}, True),
        ([float("nan")], False),
        ({"a": float("inf")}, False),
        ({1: 2}, False),
        ([()], False),
        ([[[]]], True),
        ([[[0]]], False),  # deeper than 2
    ],
    ids=str,
)
def test_what_is_json(value: Any, is_json: bool) -> None:
    assert written(value, depth=2).is_json is is_json


def test_a_value_within_itself_is_nested_too_deep() -> None:
    value: list[Any] = []
    value.append(value)
    assert not written(value).is_json


@pytest.mark.parametrize(
    ("value", "is_plain"),
    [({}, True), ({"a": None}, False), ([[None]], False), (OrderedDict(a=1), False)],
    ids=str,
)
def test_what_is_plain(value: Any, is_plain: bool) -> None:
    assert written(value).is_plain is is_plain


@pytest.mark.parametrize(
    ("value", "anchors", "ids", "old_ids"),
    [
        ({"$ref": "#"}, False, False, False),
        ({"$ref": "#/a/b", "items": {"$dynamicRef": "#/a"}}, False, False, False),
        ({"$ref": "#a"}, True, False, False),
        ({"items": [{"$recursiveRef": "other"}]}, True, False, False),
        ({"enum": [{"$anchor": 1}]}, True, False, False),
        ({"properties": {"$anchor": {}}}, False, False, False),
        ({"$ref": 3}, False, False, False),
        ({"$id": "urn:a", "id": "urn:b"}, False, False, False),  # of the root
        ({"items": {"$id": "urn:a"}}, False, True, False),
        ({"items": {"id": "urn:a"}}, False, False, True),
        ({"items": {"$id": 3, "id": {}}}, False, False, False),
    ],
    ids=str,
)
def test_what_is_seen_of_references(value: Any, anchors: bool, ids: bool, old_ids: bool) -> None:
    text = written(value)
    assert (text.has_anchors, text.has_ids("$id"), text.has_ids("id")) == (anchors, ids, old_ids)


@pytest.mark.parametrize(
    ("value", "has_references"),
    [
        ({"$ref": "#"}, True),
        ({"items": [{"$recursiveRef": "other"}]}, True),
        ({"items": {"$dynamicRef": "#a"}}, True),
        ({"properties": {"$ref": {"type": "string"}}}, False),  # a member of that name
        ({"$id": "urn:a", "items": {"$id": "urn:b", "$anchor": "c"}}, False),
    ],
    ids=str,
)
def test_whether_there_are_references(value: Any, has_references: bool) -> None:
    assert written(value).has_references is has_references


@pytest.mark.parametrize(
    "document",
    [
        *(True, False, None, 0, -1, 2**63, -(2**80), 1.5, -0.0, "", "é\U0001f600", "\ud800"),
        *([], {}, [[], {}, [None, "a"]], {"b": {"a": [1, 2.0]}, "a": {"": True}}),
    ],
)
def test_a_document_is_made_of_its_text_again(document: Any) -> None:
    text = DocumentText(document, 100, 100).text
    assert text is not None
    again = document_of(text)
    assert repr(again) == repr(document)  # types, signs and order as well


def test_a_text_that_is_nested_too_deep_is_refused() -> None:
    document: list[Any] = []
    for _ in range(50_000):
        document = [document]
    text = DocumentText(document, 100_000, 100_000).text
    assert text is not None
    with pytest.raises(RecursionError):
        document_of(text)
