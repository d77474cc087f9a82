"""The rough bound of a budget is never below the exact one, and is asked for first."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from maskwright import (
    Grammar,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
    compile_tools,
)
from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.position import UNKNOWN, Position
from maskwright.mask.shared.leaf_bounds import ENDLESS
from tests.matching import EVERY_BYTE, allowed, vocabulary

VOCABULARY = vocabulary(
    '":', '{"', '"}', '",', '","', '":"', "[]", "[[", "true", '\\"', "ab", "é", "12"
)


def closed(required: int, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties)[:required],
        "additionalProperties": False,
    }


SCHEMAS: list[Any] = [
    True,
    {"type": "string", "maxLength": 5},
    {"type": "string", "pattern": "^(a|b[0-9]{20})$"},
    {"type": "string", "pattern": '^[\\u0000-\\u001f]{3}["]{2}(é[äö]{4})?[\\u0800-\\uffff]{3}$'},
    {"type": "string", "pattern": "^([^,]+,)([^a-z]{2}[^0-9A-Za-z ]{3})$", "maxLength": 12},
    {"type": "integer", "minimum": 1000},
    {"enum": ["a", "abab", 12, None, [1], {"a": "b"}]},
    {"type": "array", "items": {"type": "array", "items": True, "minItems": 2}, "minItems": 3},
    {"prefixItems": [{"const": 1}, {"const": "long enough"}], "minItems": 5, "items": {"const": 7}},
    closed(2, a={"type": "string"}, ab={"const": "a long constant"}, c=closed(1, d={"enum": [1]})),
    closed(0, a={"pattern": "^x{9}$"}, b={"minItems": 4}),
    {"type": "object", "additionalProperties": {"const": "twelve bytes"}, "required": ["z"]},
    {"anyOf": [closed(1, a={"const": 1}), closed(2, a={"const": 1}, b={"const": 123456})]},
    {"patternProperties": {"^a": {"const": "under a"}}, "additionalProperties": {"const": 1}},
    {"$defs": {"t": closed(1, v={"const": 1}, t={"$ref": "#/$defs/t"})}, "$ref": "#/$defs/t"},
    # Counts: of members with any names, with listed ones, with names of a language
    {"type": "object", "minProperties": 3},
    {"type": "object", "properties": {"ab": {"const": "a constant"}}, "minProperties": 3},
    {**closed(1, a={"const": 1}, b={"const": "twelve bytes"}, c=True), "minProperties": 2},
    {**closed(0, a={"const": 1}), "patternProperties": {"^b{3,}$": {"const": 12}}},
    {"patternProperties": {"^(a|bb*c)$": True}, "additionalProperties": False, "minProperties": 3},
    {"patternProperties": {"^a{9}$": True}, "additionalProperties": False},
    {"propertyNames": {"pattern": "^[a-c]{2,5}$"}, "additionalProperties": {"const": 123}},
    # Counts of items
    {"type": "array", "contains": {"const": "within"}},
    {"prefixItems": [{"const": 1}] * 3, "contains": {"const": "within"}, "minContains": 2},
    {"items": {"type": "integer"}, "contains": {"minimum": 999}, "maxContains": 1, "minItems": 3},
    # Members that others require
    {"properties": {"a": True, "b": {"minLength": 9}}, "dependentRequired": {"a": ["b", "c"]}},
    {"not": {"required": ["a", "b"]}, "required": ["b"], "minProperties": 2},
    {"type": "object", "not": {"additionalProperties": {"type": "string"}}},
]
TO_SEARCH: list[Any] = [
    {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2, 3]}, "minItems": 2},
    {"type": "array", "allOf": [{"contains": {"const": each}} for each in range(4)]},
    {"type": "array", "not": {"uniqueItems": True}},
]


def walked(grammar: Grammar, seed: int) -> list[tuple[Position, bytes]]:
    """Positions along random texts, each with a text that leads there."""
    random = Random(seed)
    found: dict[Position, bytes] = {}
    for _ in range(6):
        matcher = grammar.matcher()
        for _ in range(25):
            found.setdefault(matcher._path[-1], bytes(matcher._read()))
            tokens = sorted(allowed(matcher) - set(grammar.vocabulary.eos))
            if not tokens:
                break
            matcher.accept(random.choice(tokens))
    return list(found.items())


def longest(grammar: Grammar, position: Position, text: bytes) -> int:
    """The tokens of the longest of the shortest completions behind the tokens at a position."""
    vocabulary, costs = grammar.vocabulary, grammar.budgets.costs
    sizes = [
        len(vocabulary.spelled(costs.shortest(place, text + vocabulary.spellings[token])))
        for place, token in steps(grammar, position, text)
    ]
    return max(sizes, default=0)


def steps(grammar: Grammar, position: Position, text: bytes) -> list[tuple[Configuration, int]]:
    """The places to which the tokens at a position lead, each with a token that leads there; where
    the text excludes names, every token that remains."""
    here = position.configuration
    if not position.excluded:
        return grammar.walker.successors(here)
    spellings = grammar.vocabulary.spellings
    reached = (
        (grammar.recognizer.advance(here, spellings[token], text), token)
        for token in tokens_of(grammar, position.row)
    )
    return [(place, token) for place, token in reached if place is not None]


def tokens_of(grammar: Grammar, row: int) -> set[int]:
    """The tokens of a mask row."""
    words = grammar.recognizer.tables.rows[row]
    return set(np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist())


def repeating(grammar: Grammar, position: Position, text: bytes) -> set[int]:
    """The tokens that the configuration of a position allows, and `text` refuses."""
    here, spellings = position.configuration, grammar.vocabulary.spellings
    return {
        token
        for token in tokens_of(grammar, grammar.walker.row(here))
        if grammar.recognizer.advance(here, spellings[token], text) is None
    }


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("whitespace", ["compact", "spaced", "flexible", "pretty"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_bounds_hold(schema: Any, order: Any, whitespace: Any) -> None:
    grammar = compile_json_schema(schema, VOCABULARY, property_order=order, whitespace=whitespace)
    bounded = 0
    for position, text in walked(grammar, seed=3):
        grammar.walker.measure(position, bytes)
        row = grammar.walker.row(position.configuration)
        if position.excluded:
            left_out = tokens_of(grammar, row) - tokens_of(grammar, position.row)
            assert left_out == repeating(grammar, position, text)
        else:
            assert position.row == row
        exact = longest(grammar, position, text)
        assert position.sufficient_budget > exact, (text, position.configuration)
        bounded += position.sufficient_budget < ENDLESS
    assert bounded > 5 or schema == {"type": "integer", "minimum": 1000}


PERSON = closed(2, name={"type": "string"}, age={"type": "integer"})
OPEN = {**PERSON, "additionalProperties": True}
NESTED = 'start: "(" start ")" | "[" start "]" | NAME ("," NAME){0,2}\nNAME: /[a-z]{2,4}/'
LEFT = 'start: start "+" term | term\nterm: /[0-9]+/ | "(" start ")"'
WITH_JSON = """
start: part part?
part: "<" %json {"type": "object", "additionalProperties": {"const": 12}} ">"
"""
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<f"],
        "tags": [
            {
                "begin": "<f>",
                "content": {"type": "json_schema", "json_schema": OPEN},
                "end": "</f>",
            }
        ],
    },
}


def tools(choice: Any, **more: Any) -> Grammar:
    offered = [
        {"type": "function", "function": {"name": name, "parameters": parameters}}
        for name, parameters in (("f", PERSON), ("long_name", OPEN))
    ]
    return compile_tools(offered, choice, VOCABULARY, **more)


RULES: dict[str, Callable[[], Grammar]] = {
    "nested": lambda: compile_grammar(NESTED, VOCABULARY, dialect="lark"),
    "left recursive": lambda: compile_grammar(LEFT, VOCABULARY, dialect="lark"),
    "JSON in Lark": lambda: compile_grammar(WITH_JSON, VOCABULARY, dialect="lark"),
    "a tag": lambda: compile_structural_tag(TAG, VOCABULARY),
    "a call must come": lambda: tools("required", format="hermes"),
    "calls may come": lambda: tools("auto", format="json"),
    "one function": lambda: tools(
        {"type": "function", "function": {"name": "long_name"}}, format="hermes"
    ),
    "captured": lambda: compile_grammar(
        'start[capture]: a+ "."\na[capture="x"]: /[a-z]+/ "," | "!" %json {"const": [1, 2]} ";"',
        VOCABULARY,
        dialect="lark",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_bounds_hold_in_grammars_of_rules(name: str) -> None:
    """And there is one everywhere, so that no mask under an ample budget takes a search."""
    grammar = RULES[name]()
    for position, text in walked(grammar, seed=5):
        grammar.walker.measure(position, bytes)
        exact = longest(grammar, position, text)
        assert exact < position.sufficient_budget < 200, (text, position.configuration)


def test_long_texts_are_counted_in_tokens() -> None:
    """Else a search is made wherever fewer tokens are left than the required parts have bytes."""
    schema = closed(1, a={"const": "ab" * 40})
    grammar = compile_json_schema(schema, VOCABULARY, whitespace="compact")
    grammar.walker.measure(grammar.recognizer.first, bytes)
    assert (
        grammar.recognizer.first.sufficient_budget < 2 * 80
    )  # what is required, and what may come before that


def test_a_search_is_not_repeated_under_another_budget() -> None:
    schema = {"type": "array", "allOf": [{"contains": {"const": each}} for each in "abcd"]}
    grammar = compile_json_schema(schema, VOCABULARY)
    out = np.zeros(VOCABULARY.words, np.int32)
    matcher = grammar.matcher()
    assert matcher.accept(ord("["))
    matcher.fill_mask(out, 60)
    enough = matcher._path[-1].sufficient_budget
    assert enough < 60
    grammar.budgets._compute_masks = None  # type: ignore[assignment,method-assign]
    grammar.budgets._refuse_too_long = None  # type: ignore[assignment,method-assign]
    for budget in range(60, matcher.min_tokens - 1, -1):
        matcher.fill_mask(out, budget)
        fresh = compile_json_schema(schema, VOCABULARY).matcher()
        assert fresh.accept(ord("["))
        expected = np.zeros(VOCABULARY.words, np.int32)
        fresh.fill_mask(expected, budget)
        assert out.tolist() == expected.tolist(), f"{budget} left"
        assert (
            budget >= enough or out.tolist() != grammar.recognizer.tables.rows[matcher.row].tolist()
        )


@pytest.mark.parametrize("schema", TO_SEARCH, ids=str)
def test_what_only_a_search_can_tell(schema: Any) -> None:
    grammar = compile_json_schema(schema, VOCABULARY)
    found = {position for position, _ in walked(grammar, seed=1)}
    for position in found:
        grammar.walker.measure(position, bytes)
    assert any(position.sufficient_budget > ENDLESS for position in found)


def test_an_ample_budget_needs_no_search() -> None:
    schema = closed(2, a={"type": "string"}, ab={"const": "a long constant"})
    grammar = compile_json_schema(schema, VOCABULARY)
    matcher = grammar.matcher()
    out = np.zeros(VOCABULARY.words, np.int32)
    grammar.budgets._compute_masks = None  # type: ignore[assignment,method-assign]
    for token in b'{"a":"x","ab":"a ':
        matcher.fill_mask(out, 10_000)
        assert matcher._path[-1].sufficient_budget < UNKNOWN
        assert matcher.accept(token)
    with pytest.raises(TypeError):
        matcher.fill_mask(out, 20)


def test_a_plain_text() -> None:
    grammar = compile_regex("a{3}(b{50})?", VOCABULARY)
    for position, text in walked(grammar, seed=2):
        grammar.walker.measure(position, bytes)
        assert ENDLESS > position.sufficient_budget > longest(grammar, position, text)


def test_items_that_must_differ_are_looked_at_one_by_one_near_the_limit() -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string"}, "minItems": 2}
    matcher = compile_json_schema(schema, EVERY_BYTE, whitespace="compact").matcher()
    assert matcher.accept_bytes(b'["a","b') == 7
    kept = [len(allowed(matcher, budget)) for budget in (2, 3, 12)]
    assert kept[0] == 1  # the quote
    assert kept[1] >= 16  # a letter leaves two tokens, which are enough
    assert kept[2] == len(allowed(matcher))
