"""Structural tags from JSON to their tree: every kind of format, its fields and its faults."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.errors import StructuralTagError
from maskwright.grammar.tags.parse import MOST_DEPTH, MOST_REPEATS, parse_tag
from maskwright.grammar.tags.tree import (
    AnyText,
    AnyToken,
    AnyTokens,
    ConstString,
    Format,
    GrammarText,
    JsonSchemaText,
    Or,
    RegexText,
    Repeated,
    SeparatedTags,
    Tag,
    TagSequence,
    Token,
    TriggeredTags,
)

A = {"type": "const_string", "value": "a"}
A_READ = ConstString("a")


def tag(format: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


def named(begin: str, end: Any = "</a>", **fields: Any) -> dict[str, Any]:
    return {"begin": begin, "content": A, "end": end, **fields}


def tag_read(place: str, end: str = "</a>") -> Tag:
    return Tag("<a>", A_READ, (end,), f"/format/{place}")


TRIGGERED = {"type": "triggered_tags", "triggers": ["<a"], "tags": [named("<a>")]}


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        (A, A_READ),
        (
            {"type": "json_schema", "json_schema": {"type": "integer"}},
            JsonSchemaText({"type": "integer"}, "/format/json_schema"),
        ),
        (
            {"type": "json_schema", "json_schema": True, "any_order": True},
            JsonSchemaText(True, "/format/json_schema", "json", True, False),
        ),
        (
            {"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": 0},
            JsonSchemaText({}, "/format/json_schema", "json", None, True),
        ),
        (
            {"type": "qwen_xml_parameter", "json_schema": {}},
            JsonSchemaText({}, "/format/json_schema", "qwen_xml"),
        ),
        ({"type": "regex", "pattern": "a+"}, RegexText("a+", "/format/pattern")),
        (
            {"type": "grammar", "grammar": 'root ::= "a"'},
            GrammarText('root ::= "a"', "/format/grammar"),
        ),
        (
            {"type": "any_text", "excludes": ["x"], "max_chars": 3},
            AnyText(("x",), 3, None, "/format"),
        ),
        ({"type": "any_text", "max_tokens": 5}, AnyText((), None, 5, "/format")),
        (
            {"type": "exclude_token", "exclude_tokens": [7]},
            AnyToken((Token(7, "/format/exclude_tokens/0"),), "/format"),
        ),
        ({"type": "exclude_token"}, AnyToken((), "/format")),
        ({"type": "any_text", "max_tokens": -1, "max_chars": -1}, AnyText(pointer="/format")),
        ({"type": "any_tokens", "max_tokens": -1}, AnyTokens((), None, "/format")),
        (
            {"type": "any_tokens", "exclude_tokens": ["<|end|>", 7], "max_tokens": 2},
            AnyTokens(
                (
                    Token("<|end|>", "/format/exclude_tokens/0"),
                    Token(7, "/format/exclude_tokens/1"),
                ),
                2,
                "/format",
            ),
        ),
        ({"type": "token", "token": 3}, Token(3, "/format/token")),
        ({"type": "sequence", "elements": [A, A]}, TagSequence((A_READ, A_READ))),
        ({"type": "sequence", "elements": []}, TagSequence(())),
        ({"type": "or", "elements": [A]}, Or((A_READ,))),
        ({"type": "optional", "content": A}, Repeated(A_READ, 0, 1)),
        ({"type": "star", "content": A}, Repeated(A_READ, 0, None)),
        ({"type": "plus", "content": A}, Repeated(A_READ, 1, None)),
        ({"type": "repeat", "content": A, "min": 2, "max": 3}, Repeated(A_READ, 2, 3)),
        ({"type": "repeat", "content": A, "min": 0, "max": 3}, Repeated(A_READ, 0, 3)),
        ({"type": "repeat", "content": A, "max": 3}, Repeated(A_READ, 0, 3)),
        ({"type": "repeat", "content": A, "min": 2}, Repeated(A_READ, 2, None)),
        ({"type": "repeat", "content": A, "min": 2, "max": -1}, Repeated(A_READ, 2, None)),
        ({"type": "tag", **named("<a>")}, Tag("<a>", A_READ, ("</a>",), "/format")),
        (
            {"type": "tag", **named("<a>", ["x", "y"])},
            Tag("<a>", A_READ, ("x", "y"), "/format"),
        ),
        (
            {"type": "tag", **named("<a>", {"type": "token", "token": 9})},
            Tag("<a>", A_READ, (Token(9, "/format/end/token"),), "/format"),
        ),
        (
            {
                "type": "triggered_tags",
                "triggers": ["<a"],
                "tags": [named("<a>")],
                "excludes": ["z"],
            },
            TriggeredTags(("<a",), (tag_read("tags/0"),), False, False, ("z",)),
        ),
        (
            {
                "type": "token_triggered_tags",
                "trigger_tokens": [4],
                "tags": [named("<a>")],
                "at_least_one": True,
                "stop_after_first": True,
            },
            TriggeredTags(
                (Token(4, "/format/trigger_tokens/0"),),
                (tag_read("tags/0"),),
                True,
                True,
                (),
            ),
        ),
        (
            {
                "type": "tags_with_separator",
                "tags": [named("<a>")],
                "separator": ", ",
                "at_least_one": True,
            },
            SeparatedTags((tag_read("tags/0"),), ", ", True, False),
        ),
        (
            {"type": "dispatch", "rules": [["<a>", A]], "loop": False},
            TriggeredTags(("<a>",), (tag_read("rules/0", ""),), False, True, ()),
        ),
        (
            {"type": "dispatch", "rules": [["<a>", A]]},
            TriggeredTags(("<a>",), (tag_read("rules/0", ""),), False, False, ()),
        ),
        (
            {"type": "token_dispatch", "rules": [[6, A]], "exclude_tokens": [8]},
            TriggeredTags(
                (Token(6, "/format/rules/0/0"),),
                (Tag(Token(6, "/format/rules/0/0"), A_READ, ("",), "/format/rules/0"),),
                False,
                False,
                (Token(8, "/format/exclude_tokens/0"),),
            ),
        ),
    ],
)
def test_formats(format: Any, expected: Format) -> None:
    assert parse_tag(tag(format)) == expected
    assert parse_tag(json.dumps(tag(format))) == expected


def test_the_older_spelling() -> None:
    """A list of structures, whose schemas stand between fixed beginnings and ends."""
    source = {
        "type": "structural_tag",
        "structures": [{"begin": "<f>", "schema": {"type": "null"}, "end": "</f>"}],
        "triggers": ["<f"],
    }
    content = JsonSchemaText({"type": "null"}, "/structures/0/schema")
    structure = Tag("<f>", content, ("</f>",), "/structures/0")
    assert parse_tag(source) == TriggeredTags(("<f",), (structure,), False, False, ())


@pytest.mark.parametrize(
    ("format", "pointer", "message"),
    [
        ({}, "/format", "type is required"),
        (
            {"type": "word"},
            "/format/type",
            "unknown format 'word'; known are const_string",
        ),
        ({"type": "exclude_token", "token": 1}, "/format/token", "unknown field"),
        ({**A, "extra": 1}, "/format/extra", "unknown field 'extra'; known here: type, value"),
        ({"type": "const_string", "value": 1}, "/format/value", "value must be a string"),
        ({"type": "or", "elements": []}, "/format/elements", "elements"),
        ({"type": "repeat", "content": A, "min": 3, "max": 2}, "/format/max", "less than min"),
        ({"type": "repeat", "content": A, "max": MOST_REPEATS + 1}, "/format", "more than 100,000"),
        ({"type": "tag", **named("<a>", [])}, "/format/end", "a string, a token, or some strings"),
        ({"type": "tag", **named("<a>", ["", "x"])}, "/format/end", "an empty end"),
        ({"type": "tag", **named(1)}, "/format/begin", "a string or a token"),  # pyright: ignore
        (
            {"type": "triggered_tags", "triggers": [""], "tags": [named("<a>")]},
            "/format",
            "none of them empty",
        ),
        (
            {"type": "triggered_tags", "triggers": ["<ab", "a"], "tags": [named("<a>")]},
            "/format",
            "trigger 'a' stands within trigger '<ab'",
        ),
        (
            {
                "type": "triggered_tags",
                "triggers": ["<a"],
                "tags": [named("<a>")],
                "excludes": ["a"],
            },
            "/format",
            "the excluded 'a' stands within",
        ),
        ({"type": "dispatch", "rules": [["<a>"]]}, "/format/rules/0", "a pattern and a format"),
        (
            {"type": "dispatch", "rules": [["<a>", A], ["<a>", A]]},
            "/format/rules/1/0",
            "two rules for one pattern",
        ),
        (
            {"type": "json_schema", "json_schema": {}, "style": "toml"},
            "/format/style",
            "style 'toml' is not supported",
        ),
        (
            {"type": "json_schema", "json_schema": {}, "style": "qwen_xml", "any_order": True},
            "/format/any_order",
            "leave any_order out",
        ),
        (
            {"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": 2},
            "/format/max_whitespace_cnt",
            "can only be 0",
        ),
        ({"type": "json_schema", "json_schema": 1}, "/format/json_schema", "a JSON Schema"),
        (
            {"type": "triggered_tags", "triggers": ["<a"], "tags": [named("<a>", type="or")]},
            "/format/tags/0",
            "must be a tag",
        ),
    ],
)
def test_faults_are_named_with_their_place(format: Any, pointer: str, message: str) -> None:
    with pytest.raises(StructuralTagError, match=message) as caught:
        parse_tag(tag(format))
    assert caught.value.pointer == pointer


def test_formats_nest_to_a_limit() -> None:
    format: Any = A
    for _ in range(MOST_DEPTH + 1):
        format = {"type": "optional", "content": format}
    with pytest.raises(StructuralTagError, match="deeper than 64"):
        parse_tag(tag(format))


@pytest.mark.parametrize("source", ["{", "[" * 100_000])
def test_text_that_is_no_json_is_refused(source: str) -> None:
    with pytest.raises(StructuralTagError, match="not JSON"):
        parse_tag(source)
