"""What schema objects share while they are parsed, and what one of them says of itself."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import LimitError, SchemaError, UnsupportedSchemaError
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.schema.document import check
from maskwright.grammar.schema.drafts import Draft, SchemaDialect
from maskwright.grammar.schema.parse_options import ParseOptions
from maskwright.grammar.schema.references import References
from maskwright.grammar.schema.schema_object import DocumentParser, SchemaObject
from maskwright.grammar.schema.tree import Schema
from maskwright.limits import DEFAULT_LIMITS, Limits


def parser_of(document: Any, options: ParseOptions | None = None) -> DocumentParser:
    references = References(check(document, DEFAULT_LIMITS), Draft.DRAFT2020, {})
    return DocumentParser(options or ParseOptions(), references)


def object_of(
    document: Any, draft: Draft = Draft.DRAFT2020, options: ParseOptions | None = None
) -> SchemaObject:
    """The root of a document, as the readers of its keywords get it."""
    parser = parser_of(document, options)
    return SchemaObject(parser, document, "/here", SchemaDialect.of_draft(draft), None)


def handed_out(parser: DocumentParser, value: Any, pointer: str = "/a") -> Schema:
    return parser.schema(value, pointer, SchemaDialect.of_draft(Draft.DRAFT2020), None)


@pytest.mark.parametrize(("value", "never"), [(True, False), (False, True)])
def test_a_boolean_needs_no_parsing(value: bool, never: bool) -> None:
    parser = parser_of({})
    schema = handed_out(parser, value)
    assert (schema.pointer, schema.never, schema.assertions) == ("/a", never, ())
    assert not parser.waiting


@pytest.mark.parametrize("value", [None, 0, "object", [], [{}]], ids=str)
def test_what_is_neither_object_nor_boolean_is_no_schema(value: Any) -> None:
    with pytest.raises(SchemaError, match="a schema is an object or a boolean") as raised:
        handed_out(parser_of({}), value)
    assert raised.value.pointer == "/a"


def test_an_object_is_handed_out_once_and_waits_to_be_parsed_once() -> None:
    parser = parser_of({})
    value: dict[str, Any] = {"type": "string"}
    equal = dict(value)
    first = handed_out(parser, value)
    assert handed_out(parser, value, "/elsewhere") is first
    assert handed_out(parser, equal) is not first, "equal objects at two places are two schemas"
    assert [(source.pointer, source.value) for source in parser.waiting] == [
        ("/a", value),
        ("/a", equal),
    ]


def test_names_are_checked_before_anything_is_parsed() -> None:
    parser = parser_of({})
    with pytest.raises(SchemaError) as raised:
        handed_out(parser, {"$defs": []})
    assert raised.value.pointer == "/a/$defs"


@pytest.mark.parametrize(
    ("value", "draft"),
    [
        ({"type": "string"}, Draft.DRAFT2020),
        ({"$schema": Draft.DRAFT4.value}, Draft.DRAFT4),
        ({"$schema": Draft.DRAFT7.value + "#"}, Draft.DRAFT7),
    ],
    ids=str,
)
def test_a_subschema_may_declare_a_draft_of_its_own(value: Any, draft: Draft) -> None:
    parser = parser_of({})
    handed_out(parser, value)
    (source,) = parser.waiting
    assert source.draft is draft


def test_a_schema_has_a_key_where_the_document_has_keys() -> None:
    value: dict[str, Any] = {"type": "string"}
    document = {"items": value, "not": dict(value), "contains": {"type": "null"}}
    parser = parser_of(document)
    assert handed_out(parser, value).key is None
    parser = parser_of(document)
    parser.text = check(document, DEFAULT_LIMITS)
    one, alike, other = (handed_out(parser, document[name]) for name in document)
    assert one.key is not None
    assert one.key == alike.key != other.key
    assert handed_out(parser, {"type": "string"}).key is None, "which is no part of the document"


@pytest.mark.parametrize(
    ("keyword", "draft", "has"),
    [
        ("type", Draft.DRAFT2020, True),
        ("pattern", Draft.DRAFT2020, False),  # a keyword, but not written
        ("prefixItems", Draft.DRAFT2020, True),
        ("prefixItems", Draft.DRAFT2019, False),  # written, but no keyword of the draft
        ("title", Draft.DRAFT2020, False),  # written, but an annotation
    ],
)
def test_has_a_keyword(keyword: str, draft: Draft, has: bool) -> None:
    document = {"type": "array", "prefixItems": [], "title": "t"}
    assert object_of(document, draft).has(keyword) is has


def test_places_of_keywords_and_of_subschemas() -> None:
    source = object_of({"items": {"type": "null"}, "allOf": [{}, True]})
    assert source.place("items") == "/here/items"
    assert source.optional("items").pointer == "/here/items"
    children = source.children(source.value["allOf"], "/here/allOf")
    assert [child.pointer for child in children] == ["/here/allOf/0", "/here/allOf/1"]


def test_an_absent_subschema_is_the_schema_of_all_values() -> None:
    schema = object_of({"type": "array"}).optional("items")
    assert (schema.assertions, schema.never) == ((), False)
    assert object_of({"items": False}).optional("items").never


@pytest.mark.parametrize("setting", [[], {}, "x", None, True], ids=str)
def test_children_are_a_non_empty_array(setting: Any) -> None:
    with pytest.raises(SchemaError, match="expected a non-empty array of schemas") as raised:
        object_of({}).children(setting, "/here/anyOf")
    assert raised.value.pointer == "/here/anyOf"


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        ("b", ["b", "abc"], ["", "ac"]),  # anywhere in the string
        ("^b", ["b", "bc"], ["ab"]),
        ("^b$", ["b"], ["ab", "bc"]),
    ],
)
def test_a_pattern_is_searched_for(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    language = object_of({}).pattern(pattern, "/here/pattern")
    assert [text for text in accepted if not contains(language, text)] == []
    assert [text for text in rejected if contains(language, text)] == []


PATTERNS: list[tuple[Any, Limits, type[Exception], str]] = [
    (3, Limits(), SchemaError, "invalid_json_schema"),
    ("(", Limits(), SchemaError, "invalid_json_schema"),
    (r"(a)\1", Limits(), UnsupportedSchemaError, "unsupported_json_schema"),
    ("aaa", Limits(pattern_length=2), LimitError, "limit_exceeded"),
]


@pytest.mark.parametrize(("pattern", "limits", "kind", "code"), PATTERNS, ids=str)
def test_a_pattern_that_is_refused(
    pattern: Any, limits: Limits, kind: type[Exception], code: str
) -> None:
    source = object_of({}, options=ParseOptions(limits=limits))
    with pytest.raises(kind) as raised:
        source.pattern(pattern, "/here/pattern")
    assert type(raised.value) is kind
    assert (raised.value.pointer, raised.value.code) == ("/here/pattern", code)  # type: ignore[attr-defined]
