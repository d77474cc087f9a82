"""Masks of configurations, the tokens that a walk lists, and where single tokens lead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskwright import Grammar, compile_json_schema, compile_regex
from maskwright.automaton.machine.exits import Configuration
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.rules.tree import Choice, Concat, Ref, Rules, Terminal
from maskwright.mask.compile.rules import compile_rules
from maskwright.mask.position import UNKNOWN
from maskwright.mask.ready_rows.text_rows import widest_run
from maskwright.mask.recognizer import Recognizer
from maskwright.mask.shared.leaf_bounds import ENDLESS
from maskwright.mask.walk.walk import NOTHING
from maskwright.mask.walker import Walker
from tests.matching import allowed, configuration, vocabulary

VOCAB = vocabulary("ab", "aab", ' "', '"a', 'x"', '",', '"]', "a ", " a", "1,", "é")
WORDS: Any = {"type": "array", "items": {"type": "string"}}
DISTINCT: Any = {**WORDS, "uniqueItems": True}


def grammar_of(source: Any) -> Grammar:
    """A pattern, or the schema of a JSON text without whitespace."""
    if isinstance(source, str):
        return compile_regex(source, VOCAB)
    return compile_json_schema(source, VOCAB, whitespace="compact")


def accepted_alone(grammar: Grammar, here: Configuration) -> set[bytes]:
    """The tokens whose bytes the recognizer reads from a configuration, each asked for alone."""
    tokens = {token for token in VOCAB.tokens if token}
    return {token for token in tokens if grammar.recognizer.advance(here, token) is not None}


CONFIGURATIONS: list[tuple[Any, bytes]] = [
    ("a{2}b|ab", b""),
    ("a{2}b|ab", b"a"),
    ("a{2}b|ab", b"ab"),
    ("[^b]*", b"a"),  # the mask of a run of characters is precomputed
    ("( [^b]+)+x", b""),  # the run comes after a space
    ("[^b]*", b"\xc3"),
    (WORDS, b""),
    (WORDS, b"["),
    (WORDS, b'["'),  # the mask inside a string is precomputed
    (WORDS, b'["a'),
    (WORDS, b'["\\'),
    (WORDS, b'["a"'),
    ({"type": "string", "maxLength": 2}, b'"a'),
    ({"type": "integer"}, b"1"),
]


@pytest.mark.parametrize(("source", "text"), CONFIGURATIONS)
def test_the_mask_holds_the_tokens_that_are_read_alone(source: Any, text: bytes) -> None:
    grammar = grammar_of(source)
    here = configuration(grammar, text)
    walker = grammar.walker
    row = walker.tables.rows[walker.row(here)]
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    mask = {VOCAB.tokens[token] for token in np.flatnonzero(bits).tolist()}
    assert mask - {b""} == accepted_alone(grammar, here)
    assert walker.row(here) == walker.row(here), "a row is computed once"


LOWER = full_match("[a-z]+")
NESTED = Choice((Terminal(LOWER), Concat((Terminal(full_match("<")), Ref("r")))))


def nested(first: str) -> Grammar:
    """A text of `first`, after which a rule that refers to itself begins with letters."""
    parts = Concat((Terminal(full_match(first)), Ref("r")))
    return compile_rules(Rules("start", {"start": parts, "r": NESTED}), VOCAB)


RUNS: list[tuple[str | Grammar, bytes, str | None, str | None]] = [
    # pattern or grammar, text read; the characters that may be repeated, at once and after a space
    ("[a-z]+( [A-Z]+)*", b"", "[a-z]", None),
    ("[a-z]+( [A-Z]+)*", b"ab", "[a-z]", "[A-Z]"),
    ("[a-z]+( [A-Z]+)*", b"ab ", "[A-Z]", None),
    ("( [a-z]+)+!", b"", None, "[a-z]"),
    ("(  [a-z]+)+!", b"", None, None),  # after two spaces
    ("[0-9]+( [a-z]+)?", b"1", None, "[a-z]"),
    ("[a-h]*1|[A-Z]*2", b"", "[A-Z]", None),  # the widest
    (nested("[0-9]+"), b"1", "[a-z]", None),  # after the digits, which may have ended
    (nested("[0-9]+"), b"", None, None),
    (nested("[0-9]+ ?"), b"1", "[a-z]", "[a-z]"),
    (nested("[A-L]+"), b"A", "[a-z]", None),  # wider than what goes on with the first text
    (nested("[A-Z0-9]+"), b"A", "[A-Z0-9]", None),
    (nested("[A-Za-z]+"), b"a", "[A-Za-z]", None),
    (nested("[a-z]{1,3}!"), b"ab", None, None),  # the first text has not ended yet
]


@pytest.mark.parametrize(("source", "text", "at_once", "after_space"), RUNS)
def test_the_widest_runs_of_characters(
    source: str | Grammar,
    text: bytes,
    at_once: str | None,
    after_space: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grammar = compile_regex(source, VOCAB) if isinstance(source, str) else source
    expected = [
        None if letters is None else widest_run(full_match(f"{letters}+"))
        for letters in (at_once, after_space)
    ]
    asked: list[Any] = []

    def precomputed(run: Any, spaced: Any) -> Any:
        asked.append([run, spaced])
        return NOTHING

    monkeypatch.setattr(grammar.walker.tables.texts, "precomputed", precomputed)
    assert grammar.walker.precomputed(configuration(grammar, text)) == NOTHING
    assert asked == ([] if expected == [None, None] else [expected])


@pytest.mark.parametrize("pattern", ["[a-l]*1|[A-Z]*2", "[a-z]{1,9}", r"(\p{Lu}+ ){3}"])
def test_a_text_without_a_run_of_most_of_its_letters_has_a_row_of_its_own(pattern: str) -> None:
    """The row holds all tokens, so that none is left to walk."""
    grammar = compile_regex(pattern, VOCAB)
    start = configuration(grammar, b"")
    row = grammar.walker.precomputed(start)
    assert row.rests == ()
    tokens = [t for t, text in enumerate(VOCAB.tokens) if text]
    assert allowed(grammar.matcher()) == {
        t for t in tokens if grammar.matcher().accept_bytes(VOCAB.tokens[t]) == len(VOCAB.tokens[t])
    }


@pytest.mark.parametrize(("source", "text"), CONFIGURATIONS)
def test_successors_are_each_configuration_with_its_first_token(source: Any, text: bytes) -> None:
    grammar = grammar_of(source)
    here = configuration(grammar, text)
    expected: dict[Configuration, set[bytes]] = {}
    for token in accepted_alone(grammar, here):
        target = grammar.recognizer.advance(here, token)
        assert target is not None
        expected.setdefault(target, set()).add(token)
    found = grammar.walker.successors(here)
    assert len(found) == len(expected)
    for target, token in found:
        assert VOCAB.tokens[token] in expected[target]


@pytest.mark.parametrize(
    ("source", "text", "budget", "expected"),
    [
        ("a{3}|b", b"", -1, {b"a", b"b"}),
        ("a{3}|b", b"", 0, {b"a"}),
        ("a{3}|b", b"", 1, {b"a"}),
        ("a{3}|b", b"", 2, set()),
        ("x(ab|a)c", b"x", 0, {b"a", b"ab"}),
        ("x(ab|a)c", b"x", 1, set()),
        ("a{4}|b", b"", 2, {b"a"}),
        (WORDS, b"[", -1, {b'"', b'"a', b'",', b'"]', b"]"}),
        (WORDS, b"[", 0, {b'"', b'"a', b'",', b'"]'}),
        (WORDS, b"[", 1, {b'"', b'"a', b'",', b'"]'}),
        (WORDS, b"[", 99, set()),
        (WORDS, b'["a"', 0, {b","}),
        # of a run of characters, whose part of the mask is precomputed
        (
            "[a-z]*,12",
            b"",
            2,
            {token for token in VOCAB.tokens if token.isalpha() and token.islower()},
        ),
        ("[a-z]*,12", b"", 3, set()),
    ],
)
def test_tokens_after_which_more_may_be_needed(
    source: Any, text: bytes, budget: int, expected: set[bytes]
) -> None:
    grammar = grammar_of(source)
    groups = grammar.walker.tokens_needing_more_than(configuration(grammar, text), budget)
    assert {VOCAB.tokens[token] for token in groups.tokens.tolist()} == expected


@pytest.mark.parametrize(
    ("source", "text", "sufficient"),
    [
        ("b", b"", 1),
        ("a{3}|b", b"", 3),
        ("x(ab|a)c", b"x", 2),
        (WORDS, b'["a"', 4),
    ],
)
def test_the_measured_budget(source: Any, text: bytes, sufficient: int) -> None:
    grammar = grammar_of(source)
    position = grammar.recognizer.position(configuration(grammar, text))
    grammar.walker.find(position, bytes)
    row = position.row
    assert position.sufficient_budget == UNKNOWN
    grammar.walker.measure(position, bytes)
    assert position.row == row
    assert position.sufficient_budget == sufficient


@pytest.mark.parametrize(("source", "text"), CONFIGURATIONS)
def test_the_measured_budget_suffices_after_any_token(source: Any, text: bytes) -> None:
    grammar = grammar_of(source)
    here = configuration(grammar, text)
    position = grammar.recognizer.position(here)
    grammar.walker.measure(position, bytes)
    for target, token in grammar.walker.successors(here):
        needed = grammar.budgets.costs.tokens_needed(target, text + VOCAB.tokens[token])
        assert 1 + needed <= position.sufficient_budget, VOCAB.tokens[token]
    assert position.sufficient_budget < ENDLESS


@pytest.mark.parametrize(
    ("schema", "token", "remembered"),
    [(WORDS, ord('"'), True), (DISTINCT, ord('"'), False), (DISTINCT, ord("b"), True)],
)
def test_a_move_is_remembered_unless_it_depends_on_the_text(
    schema: Any, token: int, remembered: bool
) -> None:
    grammar = grammar_of(schema)
    position = grammar.recognizer.position(configuration(grammar, b'["a'))
    assert grammar.walker.after(position, 0, lambda: b'["a') is None
    following = grammar.walker.after(position, token, lambda: b'["a')
    assert following is not None
    assert following.configuration == configuration(grammar, b'["a' + VOCAB.tokens[token])
    assert (position.moved(token) is following) is remembered


def test_a_move_that_depends_on_the_text_is_that_of_the_text() -> None:
    """After an empty name the next one may not be empty; the configuration doesn't show it."""
    grammar = grammar_of({"additionalProperties": {"const": 1}})
    texts = (b'{"":1,', b'{"b":1,')
    position, same = (grammar.recognizer.position(configuration(grammar, text)) for text in texts)
    assert position is same
    for _ in range(2):
        empty, b = (
            grammar.walker.after(position, ord('"'), lambda text=text: text) for text in texts
        )
        assert empty is not None
        assert b is not None
        assert b'"' in empty.excluded
        assert b'"' not in b.excluded


def test_no_ready_row_is_looked_for_where_only_words_may_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Nobody else asks for this vocabulary and this name, so that the first mask finds all that the
    # next one needs.
    own = vocabulary("unasked")
    schema = {"properties": {"unasked": {}}, "additionalProperties": False}
    matcher = compile_json_schema(schema, own, whitespace="compact").matcher()
    matcher.mask()
    assert matcher.accept_bytes(b'{"') == 2
    monkeypatch.setattr(Walker, "precomputed", None)
    assert allowed(matcher) == {*map(ord, "u\\"), own.tokens.index(b"unasked")}


def test_a_text_that_was_read_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = grammar_of({"additionalProperties": {"const": 1}})
    text = b'{"ab":1,"ba":1,"a"'
    matchers = [grammar.matcher() for _ in range(3)]
    for matcher in matchers[:2]:  # the first notes what depends on the text
        assert all(matcher.accept(byte) for byte in text)
    with monkeypatch.context() as patch:
        patch.setattr(Recognizer, "take_token", None)
        assert all(matchers[2].accept(byte) for byte in text)
    assert matchers[2].position is matchers[0].position
    assert matchers[2].accept(ord(":"))
    assert not matchers[2].copy().accept(ord('"'))


def test_a_text_that_another_grammar_of_the_machine_has_read_is_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = {"additionalProperties": {"const": 1}}
    text = b'{"ab":1,"ba":1,"a"'
    first, again = grammar_of(schema), grammar_of(schema)
    assert first.recognizer.shared is again.recognizer.shared
    for _ in range(2):
        assert all(map(first.matcher().accept, text))
    matcher = again.matcher()
    monkeypatch.setattr(Recognizer, "take_token", None)
    assert all(map(matcher.accept, text))


def test_equal_texts_of_different_grammars_are_told_apart() -> None:
    """They share a machine, and the texts before the names are equal."""
    numbers = grammar_of({"additionalProperties": {"const": 1}})
    other = grammar_of({"additionalProperties": {"const": 1}, "maxProperties": 2})
    assert numbers.recognizer.shared is other.recognizer.shared
    text = b'{"ab":1,"ba":1'
    for _ in range(3):
        for grammar, may_go_on in ((numbers, True), (other, False)):
            matcher = grammar.matcher()
            assert all(map(matcher.accept, text))
            assert (ord(",") in allowed(matcher)) is may_go_on
            assert ord("}") in allowed(matcher)
