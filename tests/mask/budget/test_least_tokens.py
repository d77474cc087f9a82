"""Texts with fewer tokens than the one with the fewest bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from maskwright import (
    BudgetError,
    Grammar,
    Limits,
    Vocabulary,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
)
from maskwright.mask.budget import masks as search
from maskwright.mask.shared.generations import generations_of
from tests.bounds import counted_calls
from tests.matching import allowed, vocabulary

VOCAB = vocabulary("ddddd", "eeeee")
LONG = 256
"""The token ddddd."""


@pytest.mark.parametrize(
    ("pattern", "enough", "least"),
    [
        ("abc|ddddd", 1, 1),
        ("abc|ddddd", 2, 1),
        ("abc|ddddd", 3, 3),  # enough as it is: nothing is looked for
        ("x(abc|ddddd)", 1, 2),
        ("abc|dddddd", 1, 2),
        ("abc|abcd", 1, 3),
        ("(abc|ddddd){2}", 1, 2),
        ("", 0, 0),
    ],
)
def test_least_tokens(pattern: str, enough: int, least: int) -> None:
    assert compile_regex(pattern, VOCAB).least_tokens(enough) == least


def test_masks_follow_a_shorter_way_that_is_found_later() -> None:
    """Masks that were remembered before are not stricter than the way that is known now."""
    grammar = compile_regex("x(abc|ddddd)", VOCAB)
    assert grammar.min_tokens == 4
    matcher = grammar.matcher()
    assert allowed(matcher, 4) == {ord("x")}
    assert grammar.least_tokens(1) == 2
    assert allowed(matcher, 2) == {ord("x")}
    assert matcher.accept(ord("x"))
    assert allowed(matcher, 1) == {LONG}
    assert grammar.min_tokens == 2


@pytest.mark.parametrize("matcher_first", [True, False])
@pytest.mark.parametrize(
    ("grammar", "least"),
    [
        (lambda vocab: compile_regex("x(abc|ddddd)", vocab), 2),
        (lambda vocab: compile_grammar('start: "x" ("abc" | "ddddd")', vocab), 2),
        (lambda vocab: compile_choice(["xabc", "xddddd"], vocab), 2),
        (lambda vocab: compile_json_schema({"enum": ["abc", "ddddd"]}, vocab), 3),
        (
            lambda vocab: compile_json_schema(
                {
                    "type": "array",
                    "items": {"type": "string", "minLength": 5, "maxLength": 9},
                    "minItems": 4,
                    "maxItems": 4,
                },
                vocab,
            ),
            4 * 3 + 5,  # in each string one token; quotation marks, commas, brackets
        ),
    ],
    ids=["pattern", "grammar", "choice", "enum", "strings"],
)
def test_a_mask_looks_for_a_shorter_way_itself(
    grammar: Callable[[Vocabulary], Grammar], least: int, matcher_first: bool
) -> None:
    """A budget is refused only if no way was found within it, whoever has asked for what before."""
    compiled = grammar(vocabulary("ddddd", "eeeee"))
    assert compiled.min_tokens > least
    for _ in range(2):  # in vain at first, then it is known to be
        with pytest.raises(BudgetError, match=f"a budget of {least - 1} token") as raised:
            allowed(compiled.matcher(), least - 1)
        assert raised.value.needed >= least
    if not matcher_first:
        assert compiled.least_tokens(least) == least
    for limit in (least, least + 1, raised.value.needed):
        matcher = compiled.matcher()
        for left in range(limit, 0, -1):
            if matcher.complete:
                break
            assert matcher.accept(min(allowed(matcher, left)))
        assert matcher.complete


def test_a_bound_on_tokens_keeps_its_mask_from_looking_for_a_shorter_way() -> None:
    """What is searched for doesn't heed it."""
    grammar = compile_grammar('start: "abc" | part\npart[max_tokens=1]: /d*/', VOCAB)
    assert grammar.min_tokens == grammar.least_tokens(0) == 0
    bounded = compile_grammar('start: "x" ("abc" | "dddddd" part)\npart[max_tokens=1]: /d*/', VOCAB)
    assert bounded.min_tokens == bounded.least_tokens(1) == 4
    with pytest.raises(BudgetError):
        allowed(bounded.matcher(), 3)
    assert allowed(bounded.matcher(), 4) == {ord("x")}


WORDS = vocabulary("and has its ", "Introduction", " " * 40, "=" * 30, "aaaaaaaa", "x" * 20)


@pytest.mark.parametrize(
    ("pattern", "most"),
    [
        ("(.*a.{60}){3}", 16),
        ("(?=.*x)(?=.*qz).{300}", 14),
        ("[^ ]{200}", 11),
        ("([a-z]+;.{90};){2}", 16),
    ],
)
def test_long_texts_are_written_with_long_tokens(pattern: str, most: int) -> None:
    """Where any of many characters may come, the shortest text is one of many, and few tokens may
    spell another one."""
    grammar = compile_regex(pattern, WORDS)
    assert grammar.min_tokens > most
    least = grammar.least_tokens(most)
    assert least <= most
    matcher = grammar.matcher()
    for left in range(least, 0, -1):
        if not matcher.accepting:
            assert matcher.accept(min(allowed(matcher, left)))
    assert matcher.accepting


def test_the_search_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_TRIES", 1)
    assert compile_regex("x(abc|ddddd)", VOCAB).least_tokens(1) == 4


def test_a_text_that_was_found_is_found_again_over_new_tables() -> None:
    """As after a text that has filled the tables: what was promised of the grammar stays true."""
    grammar = compile_regex("y(abc|ddddd)", VOCAB)
    assert grammar.least_tokens(2) == 2
    generations_of(VOCAB).retire(grammar.recognizer.tables)
    matcher = grammar.matcher()
    assert grammar.min_tokens == 4
    assert allowed(matcher, 2) == {ord("y")}
    assert matcher.accept(ord("y"))
    assert allowed(matcher, 1) == {LONG}
    with pytest.raises(BudgetError, match="needs 2"):
        allowed(grammar.matcher(), 1)


def test_the_search_is_one_question() -> None:
    """What it takes counts together, and where that is too much, what has been found so far is the
    answer: a thousand members took minutes."""
    schema = {"type": "object", "minProperties": 120}
    grammar = compile_json_schema(schema, VOCAB, limits=Limits(work=10_000))
    needed = grammar.min_tokens
    with counted_calls() as calls:
        assert grammar.least_tokens(20) == needed
    assert calls.count < 400_000
