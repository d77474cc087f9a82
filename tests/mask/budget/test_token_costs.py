"""Tokens that complete a text: how many, under which key they are remembered, and detours."""

from __future__ import annotations

from itertools import count
from random import Random
from typing import Any

import pytest

from maskwright import (
    Grammar,
    Limits,
    UnspellableError,
    Vocabulary,
    compile_json_schema,
    compile_regex,
)
from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.budget import token_costs
from tests.bounds import counted_calls
from tests.matching import EVERY_BYTE, allowed, configuration, vocabulary

VOCAB = vocabulary("abc", "ddddd", "cd")
DISTINCT: Any = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
_works = count(800_000)
LACKING = vocabulary("xabc", "xde", alphabet="xdz")
"""Spells neither abc nor e alone."""


def json(schema: Any, vocab: Vocabulary = EVERY_BYTE) -> Grammar:
    return compile_json_schema(schema, vocab, whitespace="compact")


@pytest.mark.parametrize(
    ("pattern", "text", "completion", "needed"),
    [
        ("abc|ddddd", b"", b"abc", 1),
        ("abcd", b"", b"abcd", 2),
        ("abcd", b"ab", b"cd", 1),
        ("abcd", b"abcd", b"", 0),
        ("ab|ddddd", b"", b"ab", 2),  # the shortest in bytes, not in tokens
        ("(abc){3}a*", b"", b"abcabcabc", 3),
        ("x*", b"xx", b"", 0),
    ],
)
def test_tokens_of_the_shortest_completion(
    pattern: str, text: bytes, completion: bytes, needed: int
) -> None:
    costs = compile_regex(pattern, VOCAB).budgets.costs
    here = configuration(compile_regex(pattern, VOCAB), text)
    assert costs.shortest(here, text) == completion
    assert costs.tokens_needed(here, text) == needed
    assert costs.tokens_needed(here, text) == needed, "what is remembered"


@pytest.mark.parametrize(
    ("budget", "fits"), [(-1, False), (0, False), (1, False), (2, True), (4, True), (5, True)]
)
def test_a_budget_fits_from_the_tokens_needed_on(budget: int, fits: bool) -> None:
    grammar = compile_regex("abcd", VOCAB)
    assert grammar.budgets.costs.fits(grammar.recognizer.start, b"", budget) is fits


@pytest.mark.parametrize(
    ("schema", "text", "by_text"),
    [
        (DISTINCT, b'["a"', True),
        (DISTINCT, b'["a","b', True),
        (DISTINCT, b"", False),
        ({"type": "array", "items": DISTINCT}, b'[["a"],', False),
        ({"type": "array", "items": DISTINCT}, b'[["a"', True),
        ({"type": "array", "items": {"type": "string"}}, b'["a"', False),
        ({"type": "object", "additionalProperties": {"type": "null"}}, b'{"a":null', False),
    ],
)
def test_costs_belong_to_a_text_where_items_around_must_differ(
    schema: Any, text: bytes, by_text: bool
) -> None:
    grammar = json(schema)
    here = configuration(grammar, text)
    costs = grammar.budgets.costs
    assert isinstance(costs.place(here, text), Configuration) is not by_text
    assert (costs.place(here, text) != costs.place(here, text + b" ")) is by_text


def test_every_place_on_the_way_is_remembered() -> None:
    grammar = compile_regex("abcxddddd", VOCAB)
    costs = grammar.budgets.costs
    assert costs.tokens_needed(grammar.recognizer.start) == 3
    for text, needed, first in ((b"abc", 2, b"x"), (b"abcx", 1, b"ddddd")):
        here = configuration(grammar, text)
        assert costs.cache.needed[here] == needed
        assert VOCAB.tokens[costs.cache.first[here]] == first
    assert configuration(grammar, b"a") not in costs.cache.needed


def test_one_step_is_remembered_with_the_rest_where_the_text_decides() -> None:
    schema = {**DISTINCT, "items": {"enum": ["a", "b", "c"]}, "minItems": 3}
    grammar = json(schema)
    costs, text = grammar.budgets.costs, b'["a"'
    needed = costs.tokens_needed(configuration(grammar, text), text)
    assert needed == len(',"b","c"]')
    for left, byte in enumerate(b',"b","', start=1 - needed):
        text += bytes([byte])
        assert costs.tokens_needed(configuration(grammar, text), text) == -left


def test_a_long_completion_is_followed_only_as_far_as_the_text_goes() -> None:
    """Its states are built when texts come there, and the rest of the way is remembered."""
    grammar = compile_regex("d{60000}", VOCAB)
    costs, leaves = grammar.budgets.costs, grammar.recognizer.tables.leaves
    before = len(leaves.keys)
    matcher, left = grammar.matcher(), 12_000
    assert matcher.min_tokens == left
    assert len(leaves.keys) - before < 1_000
    for _ in range(300):
        assert matcher.accept(VOCAB.tokens.index(b"ddddd"))
        left -= 1
        assert matcher.min_tokens == left
    assert len(leaves.keys) - before < 4_000
    assert len(costs.cache.ways) == 1


def test_a_long_completion_is_not_followed_where_tokens_would_be_cut_only_if_items_had_to_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its bytes are read once to see that no item has to."""
    vocab = vocabulary("1,1,")
    monkeypatch.setattr(token_costs, "MOST_FOLLOWED", 4)
    grammar = json({"type": "array", "items": {"const": 1}, "minItems": 21}, vocab)
    costs, start = grammar.budgets.costs, grammar.recognizer.start
    assert costs.tokens_needed(start) == len("[") + 10 + len("1]")
    assert len(costs.cache.ways) == 1
    assert not costs.fits(start, b"", 12)
    assert costs.fits(start, b"", 13)


def test_a_long_completion_is_followed_to_its_end_where_tokens_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vocab = vocabulary("1,2,")
    monkeypatch.setattr(token_costs, "MOST_FOLLOWED", 4)
    distinct = {**DISTINCT, "items": {"enum": [1, 2, 3]}, "minItems": 3}
    items = [{"const": 1}] * 9
    schema = {"type": "array", "prefixItems": [*items, distinct], "minItems": 10}
    grammar = json(schema, vocab)
    needed = grammar.budgets.costs.tokens_needed(grammar.recognizer.start)
    assert needed == len("[" + "1," * 9 + "[1,2,3]]")


def test_the_tokens_of_hundreds_of_arrays_of_hundreds_are_counted_with_little_work() -> None:
    vocab = vocabulary("0,0,", "],[")
    array = {"type": "array", "minItems": 150, "items": {"const": 0}}
    schema: Any = {"type": "array", "minItems": 150, "items": array}
    inner = "[" + ",".join("0" * 150) + "]"
    text = "[" + ",".join([inner] * 150) + "]"
    expected = vocab.fewest_count(text.encode())
    with counted_calls() as calls:
        assert json(schema, vocab).min_tokens == expected
    assert calls.count < 200_000  # 640,000 if every place on the way is remembered


LONG: list[Any] = [
    {"type": "string", "minLength": 20, "maxLength": 25, "pattern": "^a"},
    {"type": "array", "items": {"enum": ["aaaaaaaaaaaa", "aaaab", 1]}, "minItems": 4},
    {
        "type": "object",
        "properties": {"b": {"const": "a" * 20}, "a": {"type": "string", "minLength": 9}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    {**DISTINCT, "items": {"enum": ["a" * 9, "a" * 11, "a" * 6]}, "minItems": 2},
    {
        "type": "array",
        "prefixItems": [
            {"const": "a" * 9},
            {**DISTINCT, "items": {"enum": ["a", "aa", "aaa"]}, "minItems": 3},
        ],
        "minItems": 2,
    },
]


@pytest.mark.parametrize("schema", LONG)
def test_texts_end_within_budgets_that_just_suffice_where_completions_are_long(
    schema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is refused where tokens are only counted would be refused if each way were followed."""
    vocab = vocabulary("aa", "aaaaa", '"a', 'a"', '"]', '",', '"}', "aaa", 'a","a')
    random = Random(5)
    for spare in (0, 1, 4):
        masks: list[list[set[int]]] = []
        for followed in (2, 1 << 30):
            monkeypatch.setattr(token_costs, "MOST_FOLLOWED", followed)
            limits = Limits(work=next(_works))  # so that no other grammar has its tables
            grammar = compile_json_schema(schema, vocab, whitespace="compact", limits=limits)
            masks.append([])
            random.seed(spare)
            for _ in range(4):
                matcher = grammar.matcher()
                left = matcher.min_tokens + spare
                while not matcher.complete:
                    mask = allowed(matcher, budget=left)
                    masks[-1].append(mask)
                    assert matcher.accept(random.choice(sorted(mask)))
                    left -= 1
                assert left >= 0
        assert masks[0] == masks[1]


@pytest.mark.parametrize(
    ("pattern", "text", "spellable"),
    [
        ("xabc|zz", b"", True),
        ("x(abc|zz)", b"x", True),
        ("x(abc|ze)|z", b"x", False),
        ("z(x|e)*", b"z", True),
        ("x(de|z)", b"x", True),
        ("z|xde", b"xd", False),
    ],
)
def test_what_can_be_spelled(pattern: str, text: bytes, spellable: bool) -> None:
    grammar = compile_regex(pattern, LACKING)
    here = configuration(grammar, text)
    costs = grammar.budgets.costs
    for _ in range(2):  # found, then remembered
        assert costs.is_spellable(here, text) is spellable
        assert costs.fits(here, text, 9) is spellable


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("ab|zzz", 3),  # ab can't be spelled
        ("x(e|zzz)", 4),
        ("xabc|zzzzz", 1),
    ],
)
def test_a_detour_where_the_shortest_completion_has_no_spelling(pattern: str, needed: int) -> None:
    grammar = compile_regex(pattern, LACKING)
    assert grammar.budgets.costs.tokens_needed(grammar.recognizer.start) == needed


def test_the_search_for_a_detour_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_costs, "MOST_DETOURS", 2)
    with pytest.raises(UnspellableError):
        compile_regex("e|zz(e|zz(ee|zzzz))", LACKING)
    monkeypatch.setattr(token_costs, "MOST_DETOURS", 9)
    assert compile_regex("a|zz(e|zz(ee|zzzx))", LACKING).min_tokens == 8


def test_a_recorded_way_counts_where_it_is_shorter() -> None:
    grammar = compile_regex("abxy|ddddd", VOCAB)
    costs, start = grammar.budgets.costs, grammar.recognizer.start
    assert costs.tokens_needed(start) == 4
    assert not costs.record_way(start, b"", [ord("a"), ord("x")])
    assert costs.tokens_needed(start) == 4
    assert costs.record_way(start, b"", [VOCAB.tokens.index(b"ddddd")])
    assert costs.tokens_needed(start) == 1
    assert costs.record_way(start, b"", list(b"abxy"))
    assert costs.tokens_needed(start) == 1


def test_a_recorded_way_counts_down_to_its_end() -> None:
    grammar = compile_regex("abx[yz]", VOCAB)
    costs = grammar.budgets.costs
    assert costs.record_way(grammar.recognizer.start, b"", list(b"abxz"))
    for text, needed in ((b"", 4), (b"a", 3), (b"abx", 1), (b"abxz", 0)):
        assert costs.cache.needed[configuration(grammar, text)] == needed
