from __future__ import annotations

import json
from itertools import islice

import pytest

from maskwright.errors import BudgetError
from maskwright.mask import compile_json_schema, compile_regex
from maskwright.workbench.reading import Verdict, byte_vocabulary, read_text
from maskwright.workbench.sample.samples import (
    exploring_texts,
    longest_text,
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
