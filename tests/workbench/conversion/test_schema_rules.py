"""The grammar of a schema accepts the schema's instances and nothing else, as `compare` decides."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest

from maskwright.errors import SchemaError, UnsatisfiableSchemaError, UnsupportedSchemaError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.lower import Lowered
from maskwright.grammar.dialects.write import write_grammar
from maskwright.grammar.regular.terms import EMPTY
from maskwright.mask import Grammar, compile_grammar, compile_json_schema
from maskwright.vocab import Vocabulary
from maskwright.workbench.choices import LayoutName
from maskwright.workbench.conversion.schema_rules import schema_rules
from maskwright.workbench.difference.compared import compare
from maskwright.workbench.reading import Verdict, byte_vocabulary, read_lines
from maskwright.workbench.sample.samples import random_texts
from tests.source_tree import ROOT

VOCABULARY = byte_vocabulary()
B: Any = {"type": "boolean"}
N: Any = {"type": "null"}
I: Any = {"type": "integer"}  # noqa: E741 - as the other types


def closed(properties: Any, required: Any = (), **others: Any) -> Any:
    return {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
        **others,
    }


SCHEMAS: dict[str, Any] = {
    "boolean": B,
    "integer": I,
    "bounded": {"type": "integer", "minimum": 0, "maximum": 150},
    "several types": {"type": ["null", "integer"], "minimum": -5},
    "number": {"type": "number", "maximum": 3},
    "pattern": {"type": "string", "pattern": '^[a-c\n"é😀]{2}$'},
    "date": {"type": "string", "format": "date"},
    "enum": {"enum": ["a\n", "é", 1, None, {"x": [1, 2]}, 1.5]},
    "names": closed({'a"b\n': B, "é": N, "/": B}, ["é"]),
    "array": {"type": "array", "items": B},
    "array of 1 to 3": {"type": "array", "items": B, "minItems": 1, "maxItems": 3},
    "array of at most 1": {"type": "array", "items": B, "maxItems": 1},
    "array of 2": {"type": "array", "items": B, "minItems": 2, "maxItems": 2},
    "empty array": {"type": "array", "maxItems": 0},
    "tuple": {"type": "array", "prefixItems": [B, N], "items": False},
    "tuple and items": {"type": "array", "prefixItems": [B, N], "items": I, "maxItems": 4},
    "long tuple": {"type": "array", "prefixItems": [B, N], "items": I, "minItems": 4},
    "tuple that ends": {"type": "array", "prefixItems": [B, False], "items": I},
    "contains": {
        "type": "array",
        "items": {"enum": [1, 2, 3]},
        "contains": {"const": 2},
        "maxContains": 2,
        "maxItems": 4,
    },
    "unique of 1": {"type": "array", "items": I, "uniqueItems": True, "maxItems": 1},
    "object": closed({"a": B, "b": N, "c": I}, ["b"]),
    "all optional": closed({"a": B, "b": N, "c": I}),
    "none": closed({}),
    "all required": closed({"a": B, "b": N, "c": I}, "abc"),
    "last required": closed({"a": B, "b": N, "c": I}, "c"),
    "never": closed({"a": B, "b": False, "c": I}, "c"),
    "at least 2": closed({"a": B, "b": N, "c": I}, minProperties=2),
    "at most 2": closed({"a": B, "b": N, "c": I}, maxProperties=2),
    "dependent": closed({"a": B, "b": N, "c": I}, dependentRequired={"a": ["c"]}),
    "few others": {"additionalProperties": N, "propertyNames": {"enum": ["a", "b", "c"]}}
    | {"type": "object"},
    "few others behind a required name": {
        "type": "object",
        "properties": {"a": B, "b": N},
        "required": ["a"],
        "propertyNames": {"enum": ["a", "b", "c"]},
        "additionalProperties": I,
    },
    "few others behind optional names": {
        "type": "object",
        "properties": {"a": B},
        "patternProperties": {"^x[ab]$": N},
        "additionalProperties": False,
    },
    "pattern of names": {
        "type": "object",
        "patternProperties": {"^x[ab]$": B},
        "additionalProperties": False,
    },
    "union": {
        "anyOf": [
            closed({"k": {"const": "a"}, "v": B}, "kv"),
            closed({"k": {"const": "b"}, "v": N}, "k"),
        ]
    },
    "one of": {"oneOf": [{"type": "integer", "minimum": 3}, {"type": "integer", "maximum": 5}]},
    "condition": closed(
        {"a": B, "b": N},
        **{"if": {"properties": {"a": {"const": True}}, "required": ["a"]}},
        then={"required": ["b"]},
    ),
    "recursion": {
        "$ref": "#/$defs/t",
        "$defs": {"t": closed({"v": B, "next": {"$ref": "#/$defs/t"}}, "v")},
    },
    "tree": {
        "$ref": "#/$defs/n",
        "$defs": {"n": closed({"c": {"type": "array", "items": {"$ref": "#/$defs/n"}}})},
    },
}


def converted(
    schema: Any,
    dialect: Dialect,
    whitespace: LayoutName,
    vocabulary: Vocabulary = VOCABULARY,
    **options: Any,
) -> Grammar:
    rules, _ = schema_rules(schema, whitespace=whitespace, **options)
    text = write_grammar(Lowered(rules, (), EMPTY, {}), dialect)
    return compile_grammar(text, vocabulary, dialect=dialect)


def compiled(schema: Any, whitespace: LayoutName, integers: Any = "digits") -> Grammar:
    return compile_json_schema(
        schema, VOCABULARY, whitespace=whitespace, integers=integers, escapes="needed"
    )


OTHER_STYLES: list[tuple[Dialect, LayoutName, str]] = [
    ("lark", "flexible", "all optional"),
    ("lark", "flexible", "tuple"),
    ("lark", "flexible", "empty array"),
    ("ebnf", "compact", "at least 2"),
    ("ebnf", "compact", "array of 1 to 3"),
]


@pytest.mark.parametrize(
    ("dialect", "whitespace", "name"),
    [*(("gbnf", "spaced", name) for name in SCHEMAS), *OTHER_STYLES],
)
def test_equal_languages(dialect: Dialect, whitespace: LayoutName, name: str) -> None:
    schema = SCHEMAS[name]
    found = compare(compiled(schema, whitespace), converted(schema, dialect, whitespace))
    assert found.equal, found


def test_every_spelling_of_integers() -> None:
    schema = {"type": "integer", "minimum": 2, "maximum": 30}
    mine = converted(schema, "gbnf", "spaced", digits=False)
    assert compare(compiled(schema, "spaced", "any"), mine).equal


STRINGS = {
    "any": {"type": "string"},
    "of 2 to 4": {"type": "string", "minLength": 2, "maxLength": 4},
    "with a part": {"type": "string", "pattern": "ab", "maxLength": 4},
    "not listed": {"type": "string", "not": {"enum": ["ab", "ac"]}, "maxLength": 2},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STRINGS)
def test_equal_languages_of_strings(name: str) -> None:
    found = compare(
        compiled(STRINGS[name], "spaced"), converted(STRINGS[name], "gbnf", "spaced"), seconds=90
    )
    assert found.equal, found


@pytest.mark.parametrize("name", ["any", "of 2 to 4"])
def test_samples_of_strings(name: str) -> None:
    """Random texts of the schema match the grammar, and the other way round."""
    grammars = compiled(STRINGS[name], "spaced"), converted(STRINGS[name], "gbnf", "spaced")
    for one, other in (grammars, grammars[::-1]):
        for text in islice(random_texts(one, 24, 0), 12):
            assert read_lines(other, text).verdict is Verdict.MATCH, text


SHIPPED = sorted((ROOT / "schemas").glob("*.json"))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_shipped_schemas(file: Any) -> None:
    """Each text of a shipped schema is one of its grammar; without losses also vice versa."""
    schema = json.loads(file.read_text())
    losses = schema_rules(schema, approximate=True).losses
    mine = converted(schema, "gbnf", "spaced", byte_vocabulary(), approximate=True)
    theirs = compiled(schema, "spaced")
    pairs = [(theirs, mine, 6)] if losses else [(theirs, mine, 6), (mine, theirs, 2)]
    for one, other, count in pairs:
        for text in islice(random_texts(one, one.min_tokens + 60, 0), count):
            assert read_lines(other, text).verdict is Verdict.MATCH, text


@pytest.mark.parametrize(
    ("schema", "pointer", "message"),
    [
        ({"type": "object"}, "", "the names of other members differ"),
        (
            {"properties": {"a": B}, "required": ["a"], "additionalProperties": B}
            | {"type": "object"},
            "/additionalProperties",
            "the names of other members differ",
        ),
        (
            {"properties": {"a": B, "b": N}, "required": ["b"], "additionalProperties": N}
            | {"type": "object"},
            "/additionalProperties",
            "the names of other members differ",
        ),
        (
            {"properties": {"a": {"additionalProperties": N, "type": "object"}}}
            | {"type": "object", "additionalProperties": False},
            "/properties/a/additionalProperties",
            "the names of other members differ",
        ),
        (
            {"type": "array", "items": I, "uniqueItems": True},
            "/uniqueItems",
            "the items of an array differ",
        ),
        (
            {"anyOf": [B, {"type": "array", "items": I, "uniqueItems": True}]},
            "/anyOf/1/uniqueItems",
            "the items of an array differ",
        ),
        (
            {"type": "array", "items": I, "not": {"uniqueItems": True}},
            "/not/uniqueItems",
            "two items of an array are equal",
        ),
        (
            {"type": "string", "format": "email", "maxLength": 254},
            "",
            "this string's length would take too many rules",
        ),
    ],
)
def test_what_no_grammar_says_is_refused_or_listed(schema: Any, pointer: str, message: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=message) as refused:
        schema_rules(schema)
    assert refused.value.pointer == pointer
    [loss] = schema_rules(schema, approximate=True).losses
    assert loss.pointer == pointer
    assert message in loss.message
    mine = converted(schema, "gbnf", "spaced", approximate=True)
    for text in islice(random_texts(compiled(schema, "spaced"), 60, 0), 10):
        assert read_lines(mine, text).verdict is Verdict.MATCH, text


@pytest.mark.parametrize("required", [[], ["a"]])
def test_objects_can_be_closed(required: list[str]) -> None:
    schema = {"type": "object", "properties": {"a": B}, "required": required}
    found = compare(
        compiled(schema | {"additionalProperties": False}, "spaced"),
        converted(schema, "gbnf", "spaced", closed=True),
    )
    assert found.equal


def test_a_schema_without_instances() -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        schema_rules({"type": "integer", "minimum": 2, "maximum": 1})
    with pytest.raises(SchemaError):
        schema_rules({"type": "integr"})
