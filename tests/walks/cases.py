"""Walks within a budget: cases of every kind of grammar, and how tokens are chosen on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from maskwright import (
    Grammar,
    Vocabulary,
    compile_grammar,
    compile_json_schema,
    compile_structural_tag,
    compile_tools,
)
from tests.matching import allowed

PERSON: dict[str, Any] = {
    "properties": {
        "name": {"title": "Name", "type": "string"},
        "age": {"title": "Age", "type": "integer"},
    },
    "required": ["age", "name"],
    "type": "object",
}
"""Open to names that it doesn't list, as client libraries write it."""
MAP: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "string"}}

MANY = [f"member number {number:02}" for number in range(12)]
"""Names of objects that take more bytes together than `MOST_FOLLOWED`."""

SCHEMAS: dict[str, Any] = {
    "names that aren't listed": PERSON,
    "map of strings": MAP,
    "map of languages": {
        "type": "object",
        "patternProperties": {"^[a-z]{2}(-[A-Z]{2})?$": {"type": "string"}},
        "additionalProperties": False,
        "minProperties": 2,
    },
    "three of any name": {"type": "object", "minProperties": 3},
    "three, one listed": {
        "type": "object",
        "properties": {"ab": {"type": "number"}},
        "minProperties": 3,
    },
    "three of four": {
        "type": "object",
        "properties": {each: {"enum": [each * 3, 1]} for each in ("ab", "abc", "b", "c")},
        "additionalProperties": False,
        "minProperties": 3,
    },
    "nested counts": {
        "type": "object",
        "additionalProperties": {"type": "object", "minProperties": 2, "maxProperties": 3},
        "minProperties": 2,
    },
    "required by others": {
        "type": "object",
        "properties": {"ab": {"type": "integer"}, "b": {"type": "string"}},
        "dependentRequired": {"ab": ["b", "c"], "c": ["abc"]},
        "minProperties": 1,
    },
    "one of them": {
        "type": "object",
        "anyOf": [{"required": ["ab"]}, {"required": ["name", "b"]}],
        "properties": {"ab": {"type": "string", "minLength": 4}},
    },
    "items": {"type": "array", "items": PERSON, "minItems": 2},
    "contains": {"type": "array", "contains": {"const": "abc"}, "minContains": 2},
    "contains at most": {
        "type": "array",
        "items": {"type": "integer"},
        "contains": {"minimum": 10},
        "minContains": 1,
        "maxContains": 2,
        "minItems": 3,
    },
    "unique": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 3},
    "unique of few": {
        "type": "array",
        "items": {"enum": ["a", "ab", "abc", "b", 1, 2]},
        "uniqueItems": True,
        "minItems": 5,
    },
    "unique objects": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"a": {"enum": [1, 2]}, "b": {"type": "boolean"}},
            "required": ["a"],
        },
        "uniqueItems": True,
        "minItems": 3,
    },
    "repeated": {"type": "array", "items": {"type": "integer"}, "not": {"uniqueItems": True}},
    "more than is followed at once": {
        "type": "object",
        "properties": dict.fromkeys(MANY, PERSON),
        "required": MANY,
    },
    "anything": True,
}
LARK = {
    "JSON in Lark": 'start: "<" %json ' + json.dumps(PERSON) + ' ">"',
    "maps in Lark": 'start: item+\nitem: NAME "=" %json '
    + json.dumps(MAP)
    + ' ";"\nNAME: /[a-c]+/',
    "nested rules": 'start: "(" start ")" | value ("," value){1,3}\nvalue: /[0-9]{2,}/ | %json '
    + json.dumps({"type": "object", "minProperties": 2}),
}
FORMATS = ("json", "hermes", "llama3_json", "granite", "mistral")
CHOICES: dict[str, Any] = {
    "one": {"type": "function", "function": {"name": "person"}},
    "required": "required",
    "auto": "auto",
}
TAGS: dict[str, Any] = {
    "triggered": {
        "type": "triggered_tags",
        "triggers": ["<f"],
        "at_least_one": True,
        "tags": [
            {
                "type": "tag",
                "begin": "<f>",
                "content": {"type": "json_schema", "json_schema": PERSON},
                "end": "</f>",
            }
        ],
    },
    "sequence": {
        "type": "sequence",
        "elements": [
            {"type": "json_schema", "json_schema": MAP},
            {"type": "const_string", "value": " then "},
            {"type": "json_schema", "json_schema": SCHEMAS["three, one listed"]},
        ],
    },
}


def tools(vocab: Vocabulary, format: str, choice: str) -> Grammar:
    offered = [
        {"type": "function", "function": {"name": name, "parameters": parameters}}
        for name, parameters in (("person", PERSON), ("a_map", SCHEMAS["three, one listed"]))
    ]
    return compile_tools(offered, CHOICES[choice], vocab, format=format)


def _schema(schema: Any, order: Any, whitespace: Any) -> Callable[[Vocabulary], Grammar]:
    return lambda vocab: compile_json_schema(
        schema, vocab, property_order=order, whitespace=whitespace
    )


GRAMMARS: dict[str, Callable[[Vocabulary], Grammar]] = {
    **{
        f"{name}, {order}, {whitespace}": _schema(schema, order, whitespace)
        for name, schema in SCHEMAS.items()
        for order, whitespace in (("any", "compact"), ("schema", "flexible"))
    },
    **{
        f"{name}, pretty": _schema(SCHEMAS[name], "any", "pretty")
        for name in ("names that aren't listed", "three, one listed", "contains")
    },
    **{
        name: lambda vocab, text=text: compile_grammar(text, vocab, dialect="lark")
        for name, text in LARK.items()
    },
    **{
        f"tools, {format}, {choice}": lambda vocab, format=format, choice=choice: tools(
            vocab, format, choice
        )
        for format in FORMATS
        for choice in CHOICES
    },
    **{
        f"tag, {name}": lambda vocab, tag=tag: compile_structural_tag(
            {"type": "structural_tag", "format": tag}, vocab
        )
        for name, tag in TAGS.items()
    },
}


class Chooser:
    """Draws tokens: mostly ones that go on with a string or a name, as a small model does; at times
    any, and at times ones that end something."""

    def __init__(self, vocab: Vocabulary, random: Random) -> None:
        self._random = random
        self._words = {
            token
            for token, text in enumerate(vocab.tokens)
            if text and not set(text) & set(b'"\\]}')
        }

    def draw(self, mask: set[int]) -> int:
        """One of the tokens in a mask."""
        kind = self._random.random()
        some = sorted(
            mask if kind < 0.3 else mask & self._words if kind < 0.8 else mask - self._words
        )
        return self._random.choice(some or sorted(mask))


def walk(grammar: Grammar, budget: int, chooser: Chooser, random: Random) -> bytes:
    """A text within a budget, which its first mask has taken: none of the later ones may fail."""
    matcher, vocab = grammar.matcher(), grammar.vocabulary
    text, left = b"", budget
    while True:
        if matcher.complete or (matcher.accepting and (left == 0 or random.random() < 0.1)):
            return text
        assert left > 0, f"{text!r} is cut off"
        mask = allowed(matcher, left)
        if matcher.accepting and mask == set(vocab.eos):
            return text  # what may follow, like another call, takes more tokens than are left
        token = chooser.draw(mask - set(vocab.eos))
        assert matcher.accept(token), vocab.tokens[token]
        text += vocab.tokens[token]
        left -= 1
