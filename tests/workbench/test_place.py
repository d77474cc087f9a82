from __future__ import annotations

from typing import Any

import pytest

from maskwright.mask import Grammar, compile_grammar, compile_json_schema, compile_regex
from maskwright.workbench.place import ShapePlace, place_of
from maskwright.workbench.reading import byte_vocabulary

VOCABULARY = byte_vocabulary()
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"$ref": "#/$defs/age"},
        "tags": {"type": "array", "prefixItems": [{"const": 1}], "items": {"enum": ["ab"]}},
        "either": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
    },
    "$defs": {"age": {"type": "integer"}},
}


def place(grammar: Grammar, text: str) -> ShapePlace:
    matcher = grammar.matcher()
    assert matcher.accept_bytes(text.encode()) == len(text.encode())
    return place_of(matcher, text.encode())


FIRST = "the first item or name, or the closing bracket"
NEXT = "a comma or the closing bracket"


@pytest.mark.parametrize(
    ("text", "waits_for", "instance", "schemas"),
    [
        ("", "a value", "", ("",)),
        ("{", FIRST, "", ("",)),
        ('{"na', FIRST, "", ("",)),
        ('{"name": "x', "a value", "/name", ("/properties/name",)),
        ('{"name": "x"', NEXT, "", ("",)),
        ('{"name": "x", ', "a name", "", ("",)),
        ('{"age": 1', "a value", "/age", ("/$defs/age",)),
        ('{"tags": [', FIRST, "/tags/0", ("/properties/tags/prefixItems/0",)),
        ('{"tags": [1, ', "a value", "/tags/1", ("/properties/tags/items",)),
        ('{"tags": [1, "ab"', NEXT, "/tags", ("/properties/tags",)),
        (
            '{"either": [',
            FIRST,
            "/either/0",
            ("/properties/either/anyOf/0/items",),
        ),
    ],
)
def test_places_in_a_schema(
    text: str, waits_for: str, instance: str, schemas: tuple[str, ...]
) -> None:
    grammar = compile_json_schema(SCHEMA, VOCABULARY)
    assert place(grammar, text) == (waits_for, instance, schemas, ())


GRAMMAR = """
start: statement+
statement: "let " NAME "=" sum ";"
sum: product ("+" product)*
product: atom ("*" atom)*
atom: NUMBER | NAME | "(" sum ")"
NAME: /[a-z]+/
NUMBER: /[0-9]+/
"""


@pytest.mark.parametrize(
    ("text", "deepest"),
    [
        ("", ("start", "statement")),
        ("let ", ("start", "statement")),
        ("let x=2", ("start", "statement", "sum", "product", "atom")),
        ("let x=(", ("start", "statement", *("sum", "product", "atom") * 2)),  # what begins here
    ],
)
def test_rules_of_a_grammar(text: str, deepest: tuple[str, ...]) -> None:
    found = place(compile_grammar(GRAMMAR, VOCABULARY), text)
    assert found.rules[0] == deepest
    assert (found.waits_for, found.instance, found.schemas) == (None, None, ())


def test_the_rule_around_ignored_text_is_left_out() -> None:
    grammar = compile_grammar('start: "a" "b"\n%ignore " "', VOCABULARY)
    assert place(grammar, "a").rules == (("start",),)


def test_a_value_within_a_grammar_has_its_schema() -> None:
    grammar = compile_grammar('start: "x=" %json {"items": {"const": 1}}', VOCABULARY)
    found = place(grammar, "x=[")
    assert (found.instance, found.schemas, found.rules) == (None, ("/items",), (("start",),))


def test_a_pattern_has_no_places() -> None:
    assert place(compile_regex("ab", VOCABULARY), "a") == (None, None, (), ())
