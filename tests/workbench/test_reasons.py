"""Why a text isn't allowed: the keywords and settings without which it would be."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from maskwright.errors import LimitError
from maskwright.mask import compile_json_schema
from maskwright.workbench.reading import byte_vocabulary, read_text
from maskwright.workbench.reasons import ReasonSearch
from maskwright.workbench.schema.variants import SchemaVariants

BYTES = byte_vocabulary()
SERVED: dict[str, Any] = {
    "whitespace": "spaced",
    "integers": "digits",
    "escapes": "needed",
    "additional_properties": "forbid",
}
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "age": {"$ref": "#/$defs/age"},
        "role": {"type": "string", "enum": ["admin", "author"]},
        "score": {"type": "integer", "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
        "type": {"allOf": [{"type": "integer"}, {"enum": [1, 2]}]},
        "either": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
    },
    "required": ["name", "age"],
    "$defs": {"age": {"type": "integer", "minimum": 0}},
}
HEAD = '{"name": "a", "age": 1, '


@pytest.fixture(autouse=True)
def time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that searches may have to collect the garbage of all tests before."""
    monkeypatch.setattr("maskwright.workbench.reasons.MOST_SECONDS", math.inf)


def variants(schema: Any, options: dict[str, Any]) -> SchemaVariants:
    return SchemaVariants(json.dumps(schema), options)


def reasons(text: str, schema: Any = PERSON, **options: Any) -> list[tuple[str | None, str]]:
    options = {**SERVED, **options}
    grammar = compile_json_schema(schema, BYTES, **options)
    reading = read_text(grammar, text.encode())
    assert reading.accepted < len(reading.text)
    search = ReasonSearch(variants(schema, options), reading.text, reading.accepted, BYTES)
    found = search.find(reading.place.schemas or ("",))
    assert search.is_complete
    return [(reason.pointer, reason.name) for reason in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"name": "a", "age": "34"}', [("/$defs/age/type", "type")]),
        ('{"name": "a", "age": -1}', [("/$defs/age/minimum", "minimum")]),
        ('{"name": "abcdef", "age": 1}', [("/properties/name/maxLength", "maxLength")]),
        (HEAD + '"role": "admn"}', [("/properties/role/enum", "enum")]),
        (HEAD + '"score": 1500}', [("/properties/score/maximum", "maximum")]),
        (HEAD + '"tags": ["a", "a"]}', [("/properties/tags/uniqueItems", "uniqueItems")]),
        (HEAD + '"tags": ["c"]}', [("/properties/tags/items/enum", "enum")]),
        (HEAD + '"either": 3}', [("/properties/either/anyOf", "anyOf")]),
        ('{"name": "a"}', [("/required", "required")]),
        (HEAD + '"other": 1}', [(None, "additional_properties")]),
        ('{"age": 1, "name": "a"}', [(None, "property_order")]),
        ('{"name":"a", "age": 1}', [(None, "whitespace")]),
        ('{"n\\u0061me": "a", "age": 1}', [(None, "escapes")]),
        ("[]", [("/type", "type")]),
        ("{,", []),
    ],
)
def test_reasons(text: str, found: list[tuple[str | None, str]]) -> None:
    assert reasons(text) == found


def test_what_forbids_a_text_at_once_is_told_together() -> None:
    both = [("/properties/type/allOf/0/type", "type"), ("/properties/type/allOf/1/enum", "enum")]
    assert reasons(HEAD + '"type": "x"}') == both
    schema = {"type": "integer", "enum": [1, 2]}
    assert reasons('"x"', schema) == [("/type", "type"), ("/enum", "enum")]


def test_an_explicit_additional_properties_is_the_reason() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    assert reasons('{"b": 1}', schema) == [("/additionalProperties", "additionalProperties")]


def test_values_are_shown_and_cut() -> None:
    schema = {"enum": ["x" * 1000]}
    reading = read_text(compile_json_schema(schema, BYTES), b'"y"')
    search = ReasonSearch(variants(schema, {}), reading.text, reading.accepted, BYTES)
    [reason] = search.find(("",))
    assert reason.value.startswith('["xxx')
    assert len(reason.value) == 200


def test_the_search_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskwright.workbench.reasons.MOST_VARIANTS", 3)
    reading = read_text(compile_json_schema(PERSON, BYTES, **SERVED), b'{"name": 3}')
    search = ReasonSearch(variants(PERSON, SERVED), reading.text, reading.accepted, BYTES)
    search.find(("/properties/name",))
    assert not search.is_complete


CLOSED = '{"name": "a", "age": 1, "other": 2}'


def search_of(text: str, schema: Any) -> tuple[list[str], bool]:
    reading = read_text(compile_json_schema(schema, BYTES, **SERVED), text.encode())
    search = ReasonSearch(variants(schema, SERVED), reading.text, reading.accepted, BYTES)
    found = search.find(reading.place.schemas or ("",))
    return [reason.name for reason in found], search.is_complete


def test_settings_are_no_reason_because_time_ran_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many variants are tried, a setting is named only if the text needs it relaxed."""
    complete: list[bool] = []
    for most in range(1, 30):
        monkeypatch.setattr("maskwright.workbench.reasons.MOST_VARIANTS", most)
        found, is_complete = search_of(CLOSED, PERSON)
        assert found in ([], ["additional_properties"])
        assert found or not is_complete
        complete.append(is_complete)
    assert complete == sorted(complete)
    assert [complete[0], complete[-1]] == [False, True]


def test_no_setting_is_a_reason_where_the_clock_stops_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where the first variant takes all of the time."""
    monkeypatch.setattr("maskwright.workbench.reasons.MOST_SECONDS", 2.0)
    spent = iter([0.0, 0.0, *[9.0] * 100])
    monkeypatch.setattr("time.thread_time", lambda: next(spent))
    assert search_of(CLOSED, PERSON) == ([], False)


def test_a_variant_beyond_a_limit_leaves_the_reasons_incomplete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_long(*_: Any) -> Any:
        raise LimitError("too long", limit="seconds")

    reading = read_text(compile_json_schema(PERSON, BYTES, **SERVED), CLOSED.encode())
    search = ReasonSearch(variants(PERSON, SERVED), reading.text, reading.accepted, BYTES)
    monkeypatch.setattr(SchemaVariants, "compile", too_long)
    assert search.find(("",)) == []
    assert not search.is_complete
