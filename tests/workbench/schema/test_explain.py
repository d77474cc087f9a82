from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError
from maskwright.workbench.schema.explain import counted, explain_schema, is_usable


def states(schema: object) -> dict[str, str]:
    return {row.pointer: row.state for row in explain_schema(schema)}  # type: ignore[arg-type]


def test_each_keyword_has_its_state() -> None:
    schema = {
        "title": "t",
        "properties": {"a/b": {"type": "string", "patern": "x"}, "c": {"$ref": "#/$defs/d"}},
        "$defs": {"d": {"minimum": 1}},
    }
    assert states(schema) == {
        "/title": "annotation",
        "/properties": "enforced",
        "/properties/a~1b/type": "enforced",
        "/properties/a~1b/patern": "annotation",
        "/properties/c/$ref": "enforced",
        "/$defs": "annotation",
        "/$defs/d/minimum": "enforced",
    }
    assert is_usable(explain_schema(schema))


def test_all_that_is_refused_is_found_and_the_rest_explained() -> None:
    schema = {
        "type": "str",
        "properties": {"a": {"$ref": "https://example.org/x"}, "b": {"pattern": "(", "type": []}},
        "required": ["a"],
    }
    rows = explain_schema(schema)
    assert {row.pointer: row.state for row in rows} == {
        "/type": "invalid",
        "/properties": "enforced",
        "/properties/a/$ref": "refused",
        "/properties/b/pattern": "invalid",
        "/properties/b/type": "invalid",
        "/required": "enforced",
    }
    assert counted(rows) == {"enforced": 2, "annotation": 0, "refused": 1, "invalid": 3}
    assert not is_usable(rows)
    assert "not registered" in next(row.note for row in rows if row.state == "refused")


def test_rows_are_in_the_order_of_the_document_and_the_schema_is_left_as_it_is() -> None:
    schema = {"required": ["a"], "type": "nothing", "maxProperties": 3}
    assert [row.keyword for row in explain_schema(schema)] == [*schema]
    assert schema == {"required": ["a"], "type": "nothing", "maxProperties": 3}


def test_what_is_no_schema_is_an_error() -> None:
    with pytest.raises(SchemaError):
        explain_schema([1])
    assert explain_schema(True) == []


@pytest.mark.parametrize(
    ("schema", "note"),
    [
        ({"format": "hostname"}, "labels that begin with xn-- are left out"),
        ({"format": "idn-hostname"}, "accents apart from their letters are left out"),
        ({"format": "regex"}, "back-references, a second named group"),
        ({"format": "ipv4"}, ""),
        ({"$schema": "http://json-schema.org/draft-06/schema#", "format": "hostname"}, ""),
    ],
    ids=str,
)
def test_what_an_enforced_format_leaves_out_is_reported(schema: Any, note: str) -> None:
    [row] = [row for row in explain_schema(schema) if row.keyword == "format"]
    assert row.state == "enforced"
    assert note in row.note
    assert bool(row.note) == bool(note)
