"""Which strings satisfy a schema, whatever it is made of."""

from __future__ import annotations

import pytest

from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import EMPTY
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.shape.shapes import StringLanguages
from maskwright.grammar.shape.unevaluated import ResolvedAssertions
from tests.grammar.shape.semantics import schema

TEXTS = ["", "a", "ab", "abc", "b", "ba"]
TABLE: list[tuple[Json, str]] = [
    ({}, "- a ab abc b ba"),
    (False, ""),
    ({"type": "integer"}, ""),
    ({"type": ["string", "null"]}, "- a ab abc b ba"),
    ({"minimum": 3, "required": ["a"]}, "- a ab abc b ba"),
    ({"enum": ["a", "zz", 1]}, "a"),
    ({"pattern": "a", "maxLength": 2}, "a ab ba"),
    ({"allOf": [{"pattern": "^a"}, {"pattern": "b"}]}, "ab abc"),
    ({"anyOf": [{"const": "a"}, {"minLength": 3}]}, "a abc"),
    ({"oneOf": [{"pattern": "a"}, {"pattern": "b"}]}, "a b"),
    ({"oneOf": [{"pattern": "a"}, {"pattern": "b"}, {"type": "null"}]}, "a b"),
    ({"oneOf": [{"pattern": "a"}, {"pattern": "b"}, {"pattern": "c"}]}, "a b"),
    ({"oneOf": [{"type": "null"}, {"pattern": "b"}]}, "ab abc b ba"),
    ({"oneOf": [True, True]}, ""),
    ({"not": {"pattern": "a"}}, "- b"),
    ({"not": {"enum": ["a", "b"]}}, "- ab abc ba"),
    ({"not": {"type": "integer"}}, "- a ab abc b ba"),
    ({"if": {"pattern": "^a"}, "then": {"minLength": 2}, "else": {"const": "b"}}, "ab abc b"),
    ({"$ref": "#/$defs/b", "maxLength": 1, "$defs": {"b": {"pattern": "b"}}}, "b"),
    ({"anyOf": [{"const": "a"}], "unevaluatedProperties": False}, "a"),
]


def languages() -> StringLanguages:
    return StringLanguages(ResolvedAssertions())


@pytest.mark.parametrize(("document", "expected"), TABLE, ids=str)
def test_strings(document: Json, expected: str) -> None:
    language = languages().language(schema(document))
    accepted = [text or "-" for text in TEXTS if contains(language, text)]
    assert " ".join(accepted) == expected
    assert (language is EMPTY) is (expected == "")


def test_a_language_is_made_once() -> None:
    of, root = languages(), schema({"pattern": "a"})
    assert of.language(root) is of.language(root)


def test_a_schema_may_refer_to_itself_below() -> None:
    document: Json = {"pattern": "a", "items": {"$ref": "#"}}
    assert contains(languages().language(schema(document)), "a")
