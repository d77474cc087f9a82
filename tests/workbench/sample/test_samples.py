from __future__ import annotations

import json
import re
from collections import Counter
from itertools import islice
from typing import Any

import pytest

from maskwright.errors import BudgetError
from maskwright.mask import compile_grammar, compile_json_schema, compile_regex
from maskwright.workbench.reading import Verdict, byte_vocabulary, read_text
from maskwright.workbench.sample.samples import (
    exploring_texts,
    longest_text,
    plain_json,
    random_texts,
    shortest_text,
)

VOCABULARY = byte_vocabulary()


@pytest.mark.parametrize(
    ("pattern", "shortest"),
    [("red|green|blue", b"red"), ("a*", b""), ("[0-9]{3}-x?", b"000-"), ("(ab)+|c{5}", b"ab")],
)
def test_the_shortest_text(pattern: str, shortest: bytes) -> None:
    assert shortest_text(compile_regex(pattern, VOCABULARY)) == shortest


def test_the_shortest_json() -> None:
    schema = {"type": "object", "properties": {"a": {"minLength": 2}}, "required": ["a"]}
    grammar = compile_json_schema(schema, VOCABULARY, whitespace="compact")
    assert len(shortest_text(grammar)) == len('{"a":0}')


def test_random_texts_match_within_the_limit_and_depend_on_the_seed() -> None:
    grammar = compile_regex("(a|bb|[0-9]+;){2,}", VOCABULARY)
    texts = [*islice(random_texts(grammar, 30, 1), 40)]
    assert all(read_text(grammar, text).verdict is Verdict.MATCH for text in texts)
    assert max(map(len, texts)) <= 30
    assert len(set(texts)) > 30
    assert texts == [*islice(random_texts(grammar, 30, 1), 40)]
    assert texts != [*islice(random_texts(grammar, 30, 2), 40)]


@pytest.mark.parametrize(
    ("rules", "deeper"),
    [
        ('start: e\ne: e "+" e | "(" e ")" | N\nN: /[0-9]/', rb"\+|\("),
        ('start: e\ne: e e | "a"', rb"aa"),
        ('start: list\nlist: "[" list ("," list)* "]" | "x"', rb"\["),
    ],
    ids=["ambiguous", "without a sign", "brackets"],
)
def test_random_texts_recur_as_often_as_not(rules: str, deeper: bytes) -> None:
    grammar = compile_grammar(rules, VOCABULARY)
    texts = [*islice(random_texts(grammar, 60, 0), 200)]
    share = sum(re.search(deeper, text) is not None for text in texts) / len(texts)
    assert 0.25 < share < 0.9
    assert max(map(len, texts)) <= 60


def test_random_texts_are_such_as_people_read() -> None:
    """Strings are words rather than as long as they may be, and each alternative comes up."""
    grammar = compile_json_schema(
        {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}, VOCABULARY
    )
    texts = [text.decode().strip() for text in islice(random_texts(grammar, 100, 0), 300)]
    strings = [text for text in texts if text.startswith('"')]
    assert 25 < len(strings) < 100
    assert 3 < sum(map(len, strings)) / len(strings) < 25
    assert sum("\\" in text for text in strings) < len(strings) / 3
    assert 25 < texts.count("null") < 100


LISTED = [
    {"enum": ["a", "é"]},
    {"enum": ["é", "x-y/z", "日本", "b\n"]},
    {"pattern": "^(a|ß)$", "type": "string"},
    {"enum": [{"ä": None}, {"a": None}]},
]


@pytest.mark.parametrize("schema", LISTED, ids=str)
def test_what_a_schema_lists_comes_up_in_whatever_script(schema: dict[str, Any]) -> None:
    values = schema.get("enum", ["a", "ß"])
    grammar = compile_json_schema(schema, VOCABULARY, whitespace="compact")
    found = Counter(text.decode() for text in islice(random_texts(grammar, 40, 0), 200))
    counts = Counter(json.dumps(json.loads(text)) for text in found.elements())
    assert counts.keys() == {json.dumps(value) for value in values}
    assert min(counts.values()) > 20
    explored = {json.dumps(json.loads(t)) for t in islice(exploring_texts(grammar, 40, 0), 40)}
    assert explored == counts.keys()


def test_free_text_is_seldom_beyond_ascii() -> None:
    grammar = compile_json_schema({"type": "string", "minLength": 4}, VOCABULARY)
    texts = "".join(text.decode() for text in islice(random_texts(grammar, 40, 0), 100))
    assert sum(not character.isascii() for character in texts) < len(texts) / 20


def test_lines_are_ended_and_begun_again() -> None:
    """A line break that leads elsewhere is an alternative beside the letters of a line."""
    grammar = compile_regex(r"([a-zA-Z0-9 ,.]*\n)*[a-zA-Z0-9 ,.]*", VOCABULARY)
    lines = [text.count(b"\n") for text in islice(random_texts(grammar, 80, 0), 200)]
    assert 0.2 < sum(count > 0 for count in lines) / len(lines) < 0.9
    assert max(lines) > 2


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r'{"a\u002Db": ["\u0041\/", 1e5, "\n"]}', r'{"a-b": ["A/", 1e5, "\n"]}'),
        (r'"\u005C\u0022\u000a\u0001"', r'"\\\"\n\u0001"'),
        (r'"\ud83d\ude00 \ud800"', r'"\ud83d\ude00 \ud800"'),
        (r'"\ud83d\ude00"', '"😀"'),
        ('[ -0.0 , "é" ]', '[ -0.0 , "é" ]'),
    ],
)
def test_plain_json_has_the_same_values(text: str, plain: str) -> None:
    """Half of a surrogate pair can't be written otherwise, and its string stays as it is."""
    assert plain_json(text) == plain
    assert json.loads(plain_json(text)) == json.loads(text)


def test_a_limit_below_the_shortest_text() -> None:
    grammar = compile_regex("abc", VOCABULARY)
    assert next(random_texts(grammar, 3, 0)) == b"abc"
    with pytest.raises(BudgetError) as caught:
        next(random_texts(grammar, 2, 0))
    assert caught.value.needed == 3


def test_a_long_text_reaches_the_limit() -> None:
    assert len(longest_text(compile_regex("[a-z]+", VOCABULARY), 50, 0)) == 50
    assert longest_text(compile_regex("red|green|blue", VOCABULARY), 50, 0) == b"green"


def test_exploring_texts_go_everywhere_soon() -> None:
    schema = {"enum": [*range(40)]}
    grammar = compile_json_schema(schema, VOCABULARY, whitespace="compact")
    texts = [json.loads(text) for text in islice(exploring_texts(grammar, 20, 0), 150)]
    assert set(texts) == set(range(40))
