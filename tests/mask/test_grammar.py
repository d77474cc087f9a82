"""What a compiled grammar offers: its matchers, its sizes in tokens and in bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from maskwright import (
    Grammar,
    Limits,
    UnspellableError,
    Vocabulary,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
)
from maskwright.errors import LimitError
from maskwright.mask.budget.verdicts import SpellableWalker
from maskwright.mask.matcher.counting import CountingMatcher
from maskwright.mask.matcher.matcher import Matcher
from maskwright.mask.walker import Walker
from tests.mask.compile.test_tags import tag_of
from tests.matching import EVERY_BYTE, after, allowed, vocabulary

LONGER = vocabulary("ddddd")
FEW = vocabulary(alphabet="ab")
"""Not every byte is a token here."""


def bounded(vocab: Vocabulary) -> Grammar:
    """A text of at most three tokens between `b` and `<e`, then a pattern."""
    text = {"type": "tag", "begin": "b", "content": {"type": "any_text", "max_tokens": 3}}
    pattern = {"type": "regex", "pattern": "abc|ddddd"}
    parts = [{**text, "end": "<e"}, pattern]
    return compile_structural_tag(tag_of({"type": "sequence", "elements": parts}), vocab)


@pytest.mark.parametrize(
    ("pattern", "vocab", "min_tokens"),
    [
        ("", EVERY_BYTE, 0),
        ("ab?", EVERY_BYTE, 1),
        ("a{3}|b{2}", EVERY_BYTE, 2),
        ("ddddd", LONGER, 1),
        ("abc|ddddd", LONGER, 3),  # the shortest in bytes
        ("é", EVERY_BYTE, 2),
    ],
)
def test_min_tokens(pattern: str, vocab: Vocabulary, min_tokens: int) -> None:
    assert compile_regex(pattern, vocab).min_tokens == min_tokens


def test_the_fewest_tokens_of_any_text() -> None:
    grammar = compile_regex("abc|ddddd", LONGER)
    assert grammar.least_tokens(3) == 3, "enough as it is"
    assert grammar.least_tokens(2) == 1


def test_where_tokens_are_bounded_only_the_shortest_text_counts() -> None:
    grammar = bounded(vocabulary("ddddd", alphabet="abcde<"))
    shortest = grammar.min_tokens
    assert shortest == len("b<eabc")
    assert grammar.least_tokens(1) == shortest, "b<eddddd might have too many tokens"


@pytest.mark.parametrize(
    ("grammar", "kind"),
    [
        (compile_regex("a*", EVERY_BYTE), Matcher),
        (compile_json_schema({"type": "string"}, EVERY_BYTE), Matcher),
        (bounded(EVERY_BYTE), CountingMatcher),
    ],
    ids=["pattern", "schema", "bounded text"],
)
def test_matchers_count_tokens_where_texts_are_bounded(grammar: Grammar, kind: type) -> None:
    assert type(grammar.matcher()) is kind


def test_matchers_are_independent() -> None:
    grammar = compile_regex("ab", EVERY_BYTE)
    one, other = grammar.matcher(), grammar.matcher()
    assert one.accept(ord("a"))
    assert (allowed(one), allowed(other)) == ({ord("b")}, {ord("a")})


@pytest.mark.parametrize(("vocab", "kind"), [(EVERY_BYTE, Walker), (FEW, SpellableWalker)])
def test_masks_look_at_spelling_where_bytes_are_missing(vocab: Vocabulary, kind: type) -> None:
    assert type(compile_regex("a+", vocab).walker) is kind


def test_a_grammar_without_a_text_that_can_be_spelled_is_refused() -> None:
    assert compile_regex("c|a", FEW).min_tokens == 1
    with pytest.raises(UnspellableError, match="nothing fits at 'c'"):
        compile_regex("c", FEW)


def test_the_size_grows_with_what_is_remembered() -> None:
    grammar = compile_json_schema({"type": "array", "items": {"enum": [1, 23]}}, EVERY_BYTE)
    sizes = [grammar.size]
    for text, budget in (("[1,", None), ("[1,", 50), ("[1,2", None)):
        for _ in range(2):  # what is known already is not counted again
            matcher = after(grammar, text)
            assert matcher is not None
            allowed(matcher, budget)
            sizes.append(grammar.size)
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0] > 0
    assert sizes[1::2] == sizes[2::2]


def test_what_a_grammar_was_compiled_for() -> None:
    grammar = compile_json_schema({"type": "string", "minLenght": 2}, EVERY_BYTE)
    assert grammar.vocabulary is EVERY_BYTE
    assert [entry.keyword for entry in grammar.report.enforced] == ["type"]
    assert len(grammar.report.warnings) == 1


OPEN: Any = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
IN_LARK = f"start: %json {json.dumps(OPEN)}"


def written(matcher: Matcher, text: str) -> None:
    out = np.zeros(EVERY_BYTE.words, np.int32)
    for byte in text.encode():
        matcher.fill_mask(out, 2_000)
        assert matcher.accept(byte), text
    assert matcher.accepting


@pytest.mark.parametrize(
    "begin",
    [
        lambda limits: compile_json_schema(OPEN, EVERY_BYTE, limits=limits),
        lambda limits: compile_grammar(
            f"start: %json {json.dumps(OPEN)}", EVERY_BYTE, limits=limits
        ),
    ],
    ids=["schema", "Lark"],
)
def test_what_one_text_adds_is_no_error_of_another(begin: Callable[[Limits], Grammar]) -> None:
    """Names that aren't listed are new in each text; together they exceed the limits of one."""
    grammar = begin(Limits(contexts=200, leaf_states=400))
    for number in range(120):
        names = ", ".join(f'"{name}{number}": [{number}]' for name in ("b", "cd"))
        written(grammar.matcher(), f'{{"a": 1, {names}}}')


UNIQUE: Any = {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}


@pytest.mark.parametrize(
    "begin",
    [
        lambda limits: compile_json_schema(UNIQUE, EVERY_BYTE, limits=limits),
        lambda limits: compile_grammar(
            f"start: %json {json.dumps(UNIQUE)}", EVERY_BYTE, limits=limits
        ),
    ],
    ids=["schema", "Lark"],
)
def test_what_texts_add_at_a_time_is_no_error_of_any(begin: Callable[[Limits], Grammar]) -> None:
    """Each item that was read takes a context. Texts that have begun stay in one machine."""
    grammar = begin(Limits(contexts=100))
    matchers = [grammar.matcher() for _ in range(30)]
    for item in range(12):
        for number, matcher in enumerate(matchers):
            text = f"{'[' if item == 0 else ','}{number + 10}{item:02}"
            assert matcher.accept_bytes(text.encode()) == len(text)
    for matcher in matchers:
        assert matcher.accept_bytes(b"]") == 1
        assert matcher.accepting


def test_a_text_that_meets_a_limit_is_no_error_of_the_next() -> None:
    grammar = compile_json_schema(UNIQUE, EVERY_BYTE, limits=Limits(contexts=100))
    for first in range(3):
        too_long = "[" + ",".join(f"{first + 1}{at:03}" for at in range(200))
        with pytest.raises(LimitError, match="100 contexts"):
            grammar.matcher().accept_bytes(too_long.encode())
        written(grammar.matcher(), "[1,2,3]")
        assert grammar.least_tokens(5) == grammar.min_tokens == 2
