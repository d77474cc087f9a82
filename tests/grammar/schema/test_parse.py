"""What a schema document says: faults with their places, dialects, and the order of names."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import LimitError, SchemaError, UnsupportedSchemaError
from maskwright.grammar.schema.drafts import KEYWORDS, Draft
from maskwright.grammar.schema.parse import READERS, ParseOptions, parse_schema
from maskwright.grammar.schema.tree import AllOf, Items, NumberIn
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import Limits
from tests.grammar.shape.semantics import satisfies

NO_SCHEMA: list[tuple[Any, str]] = [
    ({"$defs": []}, "/$defs"),
    ({"$defs": {"a": 3}}, "/$defs/a"),
    ({"definitions": []}, "/definitions"),
    ({"$id": 3}, "/$id"),
    ({"properties": {"a": {"$anchor": []}}}, "/properties/a/$anchor"),
    ({"$schema": 7}, "/$schema"),
    ({"type": []}, "/type"),
    ({"type": [3]}, "/type"),
    ({"items": {"type": [{}]}}, "/items/type"),
    ({"pattern": "("}, "/pattern"),
    ({"pattern": "[z-a]"}, "/pattern"),
    ({"patternProperties": {"a{2,1}": {}}}, "/patternProperties/a{2,1}"),
]


@pytest.mark.parametrize(("document", "pointer"), NO_SCHEMA, ids=str)
def test_what_is_no_schema_is_refused_as_such(document: Any, pointer: str) -> None:
    with pytest.raises(SchemaError) as raised:
        parse_schema(document, ParseOptions())
    assert raised.value.pointer == pointer
    assert raised.value.code == "invalid_json_schema"


def test_a_pattern_that_is_not_regular_is_unsupported() -> None:
    with pytest.raises(UnsupportedSchemaError) as raised:
        parse_schema({"items": {"pattern": r"(a)\1"}}, ParseOptions())
    assert raised.value.pointer == "/items/pattern"


TOO_MUCH: list[tuple[Any, Limits, str, str]] = [
    ({"items": {"multipleOf": 0.123456789}}, Limits(), "divisor", "/items/multipleOf"),
    ({"multipleOf": 7}, Limits(divisor=6), "divisor", "/multipleOf"),
    ({"not": {"pattern": "a" * 30}}, Limits(pattern_length=29), "pattern_length", "/not/pattern"),
]


@pytest.mark.parametrize(("document", "limits", "limit", "pointer"), TOO_MUCH, ids=str)
def test_a_limit_names_its_place(document: Any, limits: Limits, limit: str, pointer: str) -> None:
    with pytest.raises(LimitError) as raised:
        parse_schema(document, ParseOptions(limits=limits))
    assert (raised.value.limit, raised.value.pointer) == (limit, pointer)
    assert pointer in raised.value.message


def test_limits_hold_as_given() -> None:
    """Both more and less than the defaults."""
    document = {"multipleOf": 2503, "type": "integer"}
    options = ParseOptions(limits=Limits(divisor=2503))
    root = frozenset([parse_schema(document, options).root])
    assert Shapes(options.limits).normal_form(root).scalars.nullable is False
    wide = {
        "anyOf": [{"properties": {f"p{n}": {}}} for n in range(4)],
        "unevaluatedProperties": False,
    }
    for most, fits in ((40, True), (3, False)):
        limits = Limits(alternatives=most)
        root = frozenset([parse_schema(wide, ParseOptions(limits=limits)).root])
        if fits:
            assert Shapes(limits).normal_form(root).objects
        else:
            with pytest.raises(LimitError) as raised:
                Shapes(limits).normal_form(root)
            assert raised.value.limit == "alternatives"


REPORTED: list[tuple[Any, str, str, str]] = [
    # a document beside a type, the name and the note of its entry, and the entry's rule
    ({}, "", "", ""),
    ({"title": "x"}, "title", "", ""),
    ({"dependencies": ["a"]}, "dependencies", "not a keyword of draft2020-12", ""),
    ({"dependencies": {"a": "1.0"}}, "dependencies", "not a keyword of draft2020-12", ""),
    ({"minLenght": 2}, "minLenght", "did you mean 'minLength'?", "unknown-keyword"),
    ({"require": ["a"]}, "require", "did you mean 'required'?", "unknown-keyword"),
    ({"divisibleBy": 2}, "divisibleBy", "did you mean 'multipleOf'?", "unknown-keyword"),
    ({"then": {}}, "then", "without 'if' it says nothing", ""),
    ({"else": {}}, "else", "without 'if' it says nothing", ""),
    ({"format": "hostname"}, "format", "left out", ""),
]


@pytest.mark.parametrize(("document", "keyword", "note", "rule"), REPORTED, ids=str)
def test_what_is_not_enforced_is_reported(
    document: Any, keyword: str, note: str, rule: str
) -> None:
    report = parse_schema({"type": "string", **document}, ParseOptions()).report
    entries = [entry for entry in report.annotations if note in entry.note]
    assert [entry.keyword for entry in entries] == ([keyword] if keyword else [])
    assert [entry.rule for entry in entries] == ([rule] if keyword else [])
    assert len(report.warnings) == bool(rule)
    assert {e.keyword for e in report.enforced} <= {"type", "format"}


NOTHING = "without an array in 'items' it says nothing"
IGNORED = "not a keyword of draft2020-12, which has it ignored"
ADDITIONAL_ITEMS: list[tuple[Draft, Any, str | None]] = [
    # draft, what stands beside `additionalItems`, and the note where it is not enforced
    (Draft.DRAFT7, {"items": [{}]}, None),
    (Draft.DRAFT7, {"items": {}}, NOTHING),
    (Draft.DRAFT7, {}, NOTHING),
    (Draft.DRAFT2019, {"items": [{}]}, None),
    (Draft.DRAFT2019, {"prefixItems": [{}]}, NOTHING),
    (Draft.DRAFT2020, {"items": [{}]}, None),  # the array is read as in older drafts, and so is it
    (Draft.DRAFT2020, {"items": []}, None),
    (Draft.DRAFT2020, {"items": {}}, IGNORED),
    (Draft.DRAFT2020, {"items": True}, IGNORED),
    (Draft.DRAFT2020, {"prefixItems": [{}]}, IGNORED),
    (Draft.DRAFT2020, {"prefixItems": [{}], "items": {}}, IGNORED),
    (Draft.DRAFT2020, {}, IGNORED),
]


@pytest.mark.parametrize(("draft", "beside", "note"), ADDITIONAL_ITEMS, ids=str)
@pytest.mark.parametrize("first", [True, False])
def test_the_report_says_whether_additional_items_are_enforced(
    draft: Draft, beside: Any, note: str | None, first: bool
) -> None:
    own = {"additionalItems": {"type": "string"}}
    document = {**own, **beside} if first else {**beside, **own}
    parsed = parse_schema(document, ParseOptions(draft=draft))
    enforced = [entry.keyword for entry in parsed.report.enforced]
    notes = [e.note for e in parsed.report.annotations if e.keyword == "additionalItems"]
    assert ("additionalItems" in enforced, notes) == (note is None, [] if note is None else [note])
    assert satisfies(parsed.root, [1, 2]) is (note is not None), "as the report says"


def test_a_reference_hides_its_siblings_in_old_drafts() -> None:
    document = {"$ref": "#/definitions/a", "minimum": 3, "definitions": {"a": {"type": "null"}}}
    for draft, hidden in ((Draft.DRAFT7, True), (Draft.DRAFT2019, False)):
        parsed = parse_schema(document, ParseOptions(draft=draft))
        kinds = [type(each) for each in parsed.root.assertions]
        assert kinds == ([AllOf] if hidden else [AllOf, NumberIn])
        (entry,) = [e for e in parsed.report.annotations if e.keyword == "minimum"] or [None]
        assert (entry is not None) is hidden
        if entry is not None:
            assert entry.rule == "hidden-keyword"
            assert entry.note == "hidden by $ref, as this draft has it; put both into 'allOf'"


def test_every_keyword_has_a_reader() -> None:
    assert set(READERS) == frozenset[str]().union(*KEYWORDS.values())


def test_a_subschema_is_parsed_once_and_recursion_is_a_circle() -> None:
    document = {
        "items": {"$ref": "#"},
        "prefixItems": [{"$ref": "#/$defs/a"}] * 2,
        "$defs": {"a": {}},
    }
    root = parse_schema(document, ParseOptions()).root
    (items,) = (each for each in root.assertions if isinstance(each, Items))
    assert items.rest.assertions == (AllOf((root,)),)
    assert items.prefix[0].assertions == items.prefix[1].assertions


def test_the_longest_one_of_is_known() -> None:
    document = {"oneOf": [{}, {}], "items": {"oneOf": [{}, {}, {}]}}
    assert parse_schema(document, ParseOptions()).widest == 3
    assert parse_schema({}, ParseOptions()).widest == 0


def test_every_one_of_is_known() -> None:
    document = {"oneOf": [{}, {}], "items": {"oneOf": [{}, {}, {}], "anyOf": [{}]}}
    found = parse_schema(document, ParseOptions()).one_ofs
    assert sorted(len(union.options) for union in found) == [2, 3]
    assert not [*parse_schema({}, ParseOptions()).one_ofs]


@pytest.mark.parametrize(
    ("schema", "intricate"),
    [
        ({}, False),
        ({"oneOf": [{}, {}], "minItems": 100, "not": {"anyOf": [{}, {}]}}, False),
        ({"items": {"oneOf": [{}, {}, {}]}}, True),
        ({"not": {"anyOf": [{}] * 9}}, True),
        ({"unevaluatedProperties": False}, True),
        ({"items": {"minItems": 101}}, True),
        ({"additionalProperties": {"minProperties": 101}}, True),
        ({"allOf": [{"anyOf": [{"minLength": at}, {}]} for at in range(13)]}, True),
        ({"properties": {f"p{at}": {"anyOf": [{"minLength": at}, {}]} for at in range(13)}}, False),
        ({"dependentSchemas": {f"p{at}": {"minProperties": at} for at in range(13)}}, True),
    ],
    ids=lambda each: str(each)[:40],
)
def test_keywords_of_which_few_may_exceed_a_limit_are_noted(schema: Any, intricate: bool) -> None:
    assert parse_schema(schema, ParseOptions()).intricate is intricate
