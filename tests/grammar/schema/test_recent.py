"""Documents that are parsed once."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError
from maskwright.grammar.schema.drafts import Draft
from maskwright.grammar.schema.parse import ParseOptions
from maskwright.grammar.schema.recent import RecentSchemas
from maskwright.grammar.schema.tree import Values

OPTIONS = ParseOptions()


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ({"type": "string"}, {"type": "string"}, True),
        ({"type": "string"}, '{"type":  "string"}', True),
        ({"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}, True),
        (True, True, True),
        ({"const": 1}, {"const": True}, False),
        ({"const": 1}, {"const": 1.0}, False),
        ({"const": 0.0}, {"const": -0.0}, False),
        ({"required": ["a"]}, {"required": ("a",)}, False),
        ({"properties": {"a": {}, "b": {}}}, {"properties": {"b": {}, "a": {}}}, False),
    ],
)
def test_a_document_is_known_by_its_bytes(left: Any, right: Any, same: bool) -> None:
    recent = RecentSchemas()
    first = recent.parse(left, OPTIONS)
    try:
        second = recent.parse(right, OPTIONS)
    except SchemaError:
        assert not same
        return
    assert (first is second) is same


@pytest.mark.parametrize(
    "other",
    [
        ParseOptions(draft=Draft.DRAFT7),
        ParseOptions(enforce_formats=False),
        ParseOptions(plain_integers=True),
        ParseOptions(closed=True),
    ],
)
def test_options_make_a_difference(other: ParseOptions) -> None:
    recent = RecentSchemas()
    document = {"type": "integer"}
    assert recent.parse(document, OPTIONS) is not recent.parse(document, other)
    assert recent.parse(document, other) is recent.parse(document, other)


def test_a_document_may_be_changed_after_it_was_parsed() -> None:
    recent = RecentSchemas()
    document: dict[str, Any] = {"enum": [{"a": [1]}]}
    first = recent.parse(document, OPTIONS)
    document["enum"][0]["a"].append(2)
    changed = recent.parse(document, OPTIONS)
    document["enum"][0]["a"].pop()
    assert recent.parse(document, OPTIONS) is first
    assert first.root.assertions == (Values(({"a": [1]},)),)
    assert changed.root.assertions == (Values(({"a": [1, 2]},)),)


def test_what_may_refer_to_other_documents_is_parsed_each_time() -> None:
    recent = RecentSchemas()
    others: dict[str, Any] = {"urn:other": {"type": "string"}}
    document = {"$ref": "urn:other"}
    first = recent.parse(document, ParseOptions(documents=others))
    others["urn:other"] = {"type": "null"}
    assert recent.parse(document, ParseOptions(documents=others)) is not first
    assert recent.nbytes == 0


def test_an_error_is_raised_each_time() -> None:
    recent = RecentSchemas()
    for _ in range(2):
        with pytest.raises(SchemaError, match="minimum"):
            recent.parse({"minimum": "1"}, OPTIONS)
    assert recent.nbytes == 0


def test_a_repeated_name_is_not_lost() -> None:
    """The object then has a class of its own, which has no bytes."""
    report = RecentSchemas().parse('{"type": "string", "type": "null"}', OPTIONS).report
    assert any("type" in warning for warning in report.warnings)


def test_the_least_recently_used_are_forgotten() -> None:
    recent = RecentSchemas(most_bytes=200)
    documents = [{"const": "x" * 60 + str(at)} for at in range(3)]
    first, second = (recent.parse(each, OPTIONS) for each in documents[:2])
    assert recent.parse(documents[0], OPTIONS) is first
    recent.parse(documents[2], OPTIONS)
    assert recent.nbytes <= 200
    assert recent.parse(documents[0], OPTIONS) is first
    assert recent.parse(documents[1], OPTIONS) is not second
