"""Which keywords each draft has, what names a draft, and which keywords hold in a schema whose
meta-schema names vocabularies."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.schema.drafts import (
    ANNOTATIONS,
    KEYWORDS,
    Draft,
    SchemaDialect,
    dialect_of,
    draft_of,
)
from maskwright.grammar.schema.parse import ParseOptions, parse_schema

VOCABULARY = "https://json-schema.org/draft/2020-12/vocab/"
META = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.com/meta",
    "$vocabulary": {f"{VOCABULARY}core": True, f"{VOCABULARY}applicator": True},
}
USER = {
    "$schema": "https://example.com/meta",
    "properties": {"a": {"minimum": 3}, "b": False},
    "required": ["a"],
}
LATEST = SchemaDialect.of_draft(Draft.DRAFT2020)
FIRST_AND_LAST = [
    ("type", Draft.DRAFT4, Draft.DRAFT2020),
    ("$ref", Draft.DRAFT4, Draft.DRAFT2020),
    ("const", Draft.DRAFT6, Draft.DRAFT2020),
    ("contains", Draft.DRAFT6, Draft.DRAFT2020),
    ("propertyNames", Draft.DRAFT6, Draft.DRAFT2020),
    ("if", Draft.DRAFT7, Draft.DRAFT2020),
    ("dependencies", Draft.DRAFT4, Draft.DRAFT2020),
    ("dependentRequired", Draft.DRAFT2019, Draft.DRAFT2020),
    ("minContains", Draft.DRAFT2019, Draft.DRAFT2020),
    ("unevaluatedItems", Draft.DRAFT2019, Draft.DRAFT2020),
    ("additionalItems", Draft.DRAFT4, Draft.DRAFT2019),
    ("prefixItems", Draft.DRAFT2020, Draft.DRAFT2020),
    ("$recursiveRef", Draft.DRAFT2019, Draft.DRAFT2019),
    ("$dynamicRef", Draft.DRAFT2020, Draft.DRAFT2020),
]


@pytest.mark.parametrize(("keyword", "first", "last"), FIRST_AND_LAST)
def test_the_drafts_of_a_keyword(keyword: str, first: Draft, last: Draft) -> None:
    drafts = [*Draft]
    expected = drafts[drafts.index(first) : drafts.index(last) + 1]
    assert [draft for draft in drafts if keyword in KEYWORDS[draft]] == expected


@pytest.mark.parametrize("draft", Draft)
def test_every_keyword_of_the_meta_schema_is_known(draft: Draft) -> None:
    """What the published meta-schemas describe, we enforce or call an annotation."""
    name = draft.title.removeprefix("draft").replace("-", "").upper()
    package = files("jsonschema_specifications") / "schemas"
    folders = {"4": "draft4", "6": "draft6", "7": "draft7", "201909": "draft201909"}
    folder = package / folders.get(name, "draft202012")
    described: set[str] = set(json.loads((folder / "metaschema.json").read_text())["properties"])
    vocabularies = folder / "vocabularies"
    if vocabularies.is_dir():
        for each in vocabularies.iterdir():
            described |= set(json.loads(each.read_text()).get("properties", {}))
        described -= {"definitions", "$recursiveRef", "$recursiveAnchor"}
    assert described - KEYWORDS[draft] - ANNOTATIONS == set()


@pytest.mark.parametrize(
    ("uri", "draft"),
    [
        ("http://json-schema.org/draft-04/schema#", Draft.DRAFT4),
        ("https://json-schema.org/draft-06/schema", Draft.DRAFT6),
        ("http://json-schema.org/draft-07/schema##", Draft.DRAFT7),
        ("https://json-schema.org/draft/2019-09/schema", Draft.DRAFT2019),
        ("http://json-schema.org/draft/2020-12/schema#", Draft.DRAFT2020),
        ("http://json-schema.org/schema#", None),
        ("draft-07", None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_the_draft_that_a_uri_names(uri: object, draft: Draft | None) -> None:
    assert draft_of(uri) is draft


def test_titles() -> None:
    titles = ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"]
    assert [draft.title for draft in Draft] == titles
    assert [draft.is_old for draft in Draft] == [True, True, True, False, False]


def test_a_vocabulary_left_out_makes_annotations_of_its_keywords() -> None:
    parsed = parse_schema(USER, ParseOptions(documents={"https://example.com/meta": META}))
    assert {entry.keyword for entry in parsed.report.enforced} == {"properties"}
    notes = {e.keyword: e.note for e in parsed.report.annotations}
    assert "vocabularies" in notes["minimum"]
    assert "vocabularies" in notes["required"]


def test_without_the_document_its_schema_is_read_as_by_default() -> None:
    parsed = parse_schema(USER, ParseOptions())
    assert {"minimum", "required"} <= {entry.keyword for entry in parsed.report.enforced}


def test_a_required_vocabulary_that_is_not_known_is_refused() -> None:
    for required in (True, False):
        vocabularies = {**META["$vocabulary"], "https://example.com/vocab/units": required}
        documents = {"https://example.com/meta": {**META, "$vocabulary": vocabularies}}
        if required:
            with pytest.raises(UnsupportedSchemaError) as raised:
                parse_schema(USER, ParseOptions(documents=documents))
            assert raised.value.pointer == "/$schema"
        else:
            parse_schema(USER, ParseOptions(documents=documents))


def keywords(draft: str, *names: str) -> frozenset[str]:
    """Those of a meta-schema of some draft that requires vocabularies of that draft."""
    uri = f"https://json-schema.org/draft/{draft}"
    vocabularies = {f"{uri}/vocab/{name}": True for name in names}
    meta: dict[str, Any] = {"$schema": f"{uri}/schema", "$vocabulary": vocabularies}
    return dialect_of({"$schema": "urn:meta"}, {"urn:meta": meta}, LATEST, "").keywords


@pytest.mark.parametrize(
    ("draft", "names", "has", "lacks"),
    [
        ("2020-12", [], "$ref $dynamicRef", "type $recursiveRef"),
        ("2020-12", ["validation"], "type const dependentRequired minContains", "items format"),
        ("2020-12", ["applicator"], "prefixItems if dependentSchemas not", "unevaluatedItems type"),
        ("2020-12", ["unevaluated"], "unevaluatedItems unevaluatedProperties", "items"),
        ("2020-12", ["format-assertion"], "format", "type"),
        ("2020-12", ["format-annotation", "meta-data", "content"], "format", "title"),
        ("2019-09", ["applicator"], "unevaluatedItems additionalItems items", "prefixItems type"),
        ("2019-09", ["format"], "format $recursiveRef", "$dynamicRef"),
    ],
    ids=str,
)
def test_keywords_of_vocabularies(draft: str, names: list[str], has: str, lacks: str) -> None:
    found = keywords(draft, *names)
    assert found >= {*has.split()}
    assert found.isdisjoint(lacks.split())


@pytest.mark.parametrize(
    ("schema", "draft"),
    [
        ({}, Draft.DRAFT2020),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, Draft.DRAFT7),
        ({"$schema": "urn:unknown"}, Draft.DRAFT2020),
        ({"$schema": "urn:old"}, Draft.DRAFT4),
        ({"$schema": "urn:bare#"}, Draft.DRAFT2020),
        ({"$schema": 3}, Draft.DRAFT2020),
    ],
    ids=str,
)
def test_the_draft_of_a_schema(schema: dict[str, Any], draft: Draft) -> None:
    old = {"$schema": "http://json-schema.org/draft-04/schema", "$vocabulary": {"urn:x": True}}
    dialect = dialect_of(schema, {"urn:old": old, "urn:bare": {}}, LATEST, "")
    assert dialect == SchemaDialect(draft, KEYWORDS[draft])
    assert dialect.keywords is KEYWORDS[draft]  # which `DocumentParser` looks at
