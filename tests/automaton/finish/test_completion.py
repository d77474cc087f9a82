"""The shortest text that completes a configuration, for each way in which a leaf can be left."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from maskwright import Grammar, compile_grammar, compile_json_schema, compile_regex
from maskwright.automaton.finish.completion import CompletionSearch
from maskwright.automaton.machine.exits import Configuration
from maskwright.errors import LimitError
from maskwright.limits import DEFAULT_LIMITS, Limits
from tests.matching import EVERY_BYTE


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def search(grammar: Grammar, limits: Limits = DEFAULT_LIMITS) -> CompletionSearch:
    shared = grammar.recognizer.shared
    return CompletionSearch(shared.machine, shared.text_names, limits)


def configuration(grammar: Grammar, data: bytes) -> Configuration:
    here = grammar.recognizer.start
    for at in range(len(data)):
        after = grammar.recognizer.advance(here, data[at : at + 1], data[:at])
        assert after is not None, data[: at + 1]
        here = after
    return here


def completion(grammar: Grammar, text: str | bytes) -> bytes | None:
    """The completion after a text, which the grammar accepts as a prefix."""
    data = text.encode() if isinstance(text, str) else text
    return search(grammar).find(configuration(grammar, data), data)


LONG = {"const": "x" * 20}
FORK = {
    "type": "object",
    "properties": {"a": LONG, "abcd": {"const": 1}},
    "minProperties": 1,
    "additionalProperties": False,
}
DISTINCT = {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}
PAIR = {"prefixItems": [{"type": "integer"}, {"type": "integer"}], "minItems": 2, "items": False}
CASES: list[tuple[Any, str, str]] = [
    # The text may end, or the leaf at once
    ({"const": 1}, "1", ""),
    ({"type": "integer"}, "-", "0"),
    ({"type": "number"}, "1.", "0"),
    ({"type": "number"}, "1e", "0"),
    # A string is completed by the shortest rest of its language
    ({"type": "string"}, '"ab', '"'),
    ({"type": "string", "minLength": 3}, '"a', 'aa"'),
    ({"type": "string", "pattern": "^(ab|cdefg)$"}, '"c', 'defg"'),
    ({"type": "string"}, '"\\', 'b"'),
    ({"type": "string"}, '"\\u00', '00"'),
    # The nearest exit isn't the best
    (FORK, '{"', 'abcd":1}'),
    (FORK, '{"a', 'bcd":1}'),
    (FORK, '{"a"', ':"' + "x" * 20 + '"}'),
    ({"enum": ["b", "abc"]}, '"a', 'bc"'),
    # What the containers around a leaf still lack
    (
        object_of(a={"type": "boolean"}, b=object_of(c=LONG)),
        '{"a":',
        'true,"b":{"c":"' + "x" * 20 + '"}}',
    ),
    (object_of(a={"type": "integer"}, b={"const": [1]}), '{"a":1', ',"b":[1]}'),
    ({"type": "array", "items": {"const": 1}, "minItems": 3}, "[1", ",1,1]"),
    (PAIR, "[1", ",0]"),
    # An exit that depends on the text: an item must not come twice
    (DISTINCT, "[1,1", "0]"),
    (DISTINCT, "[1,2", "]"),
    (DISTINCT, "[1,10,1", "1]"),
]


@pytest.mark.parametrize(("schema", "text", "expected"), CASES)
def test_completions_of_json(schema: Any, text: str, expected: str) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    assert completion(grammar, text) == expected.encode()


def test_what_is_left_of_a_completion_is_the_completion_from_there() -> None:
    """Names come in the schema's order, wherever the completion begins: how many tokens are needed
    would depend on where they were counted first otherwise, and so would masks within a budget."""
    schema = object_of(zebra={"const": 1}, bee={"type": "null"}, ape={"const": "ab"}, yak={})
    for order in ("any", "schema"):
        grammar = compile_json_schema(schema, EVERY_BYTE, property_order=order)
        text, rest = b"", completion(grammar, "")
        assert rest is not None
        assert list(json.loads(rest)) == list(schema["properties"])
        while rest:
            text, rest = text + rest[:1], rest[1:]
            assert completion(grammar, text) == rest, text


@pytest.mark.parametrize(
    ("rules", "text", "expected"),
    [
        # Which text has been read is open until one of them ends
        ('start: /[a-z]+/ "!!!!" | /[a-z]b/', "a", "b"),
        ('start: /[a-z]+/ "!" | /[a-z]b+/ "?"', "ab", "!"),
        ('start: "ab" tail | "abc"\ntail: "xyz"', "ab", "c"),
        # The return addresses: recursion on either side, and in the middle
        ('start: e\ne: "(" e ")" | "x"', "((", "x))"),
        ('start: e\ne: "(" e ")" | "x"', "((x", "))"),
        ('start: e\ne: e "+" t | t\nt: /[0-9]/', "1+", "0"),
        ('start: l\nl: "a" l | "b"', "aaa", "b"),
        # Counted loops: what is missing of the inner one, then of the outer one
        ('start: (/[a-z]/~2 ";")~3', "ab;c", "a;aa;"),
        ('start: e~2..5\ne: "(" e ")" | "x"', "(x", ")x"),
        # A JSON value within a rule
        (
            'start: "<" %json {"type": "array", "minItems": 2, "items": {"const": 1}} ">"',
            "<[1",
            ",1]>",
        ),
    ],
)
def test_completions_of_rules(rules: str, text: str, expected: str) -> None:
    assert completion(compile_grammar(rules, EVERY_BYTE, dialect="lark"), text) == expected.encode()


def test_within_a_character_the_nearest_one_is_not_the_best() -> None:
    """After the first byte of é and è, both are one byte away."""
    for first, second in ("éè", "èé"):
        rules = f'start: "{first}" "xxxxxx" | "{second}" "y"'
        grammar = compile_grammar(rules, EVERY_BYTE, dialect="lark")
        assert completion(grammar, b"\xc3") == second.encode()[1:] + b"y"


@pytest.mark.parametrize(
    ("pattern", "text", "expected"), [("a{3}(b{50})?", "a", "aa"), ("(ab|c)*d", "a", "bd")]
)
def test_completions_of_a_pattern(pattern: str, text: str, expected: str) -> None:
    assert completion(compile_regex(pattern, EVERY_BYTE), text) == expected.encode()


@pytest.mark.parametrize(
    ("schema", "text", "is_kept"),
    [({"type": "integer"}, "-", True), (DISTINCT, "[1,2", False), (FORK, "{", True)],
)
def test_what_depends_on_the_text_is_not_kept(schema: Any, text: str, is_kept: bool) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    here, found = configuration(grammar, text.encode()), search(grammar)
    assert not found.is_known(here)
    found.find(here, text.encode())
    assert found.is_known(here) is is_kept


def test_a_search_in_a_leaf_is_bounded() -> None:
    names = {"patternProperties": {"^a{300,}$": {"const": 1}}, "additionalProperties": False}
    schema = {"type": "object", **names, "minProperties": 1}
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    few = search(grammar, replace(DEFAULT_LIMITS, witness_search=100))
    with pytest.raises(LimitError, match="witness_search"):
        few.find(configuration(grammar, b'{"'), b'{"')
