"""Which keywords hold in a schema whose meta-schema names vocabularies."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.schema.drafts import KEYWORDS, Draft
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.vocabularies import SchemaDialect, dialect_of

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


LATEST = SchemaDialect.of_draft(Draft.DRAFT2020)


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
    assert dialect == (draft, KEYWORDS[draft])
    assert dialect.keywords is KEYWORDS[draft]  # which `DocumentParser` looks at
