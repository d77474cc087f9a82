"""The terminals that a text is in."""

from __future__ import annotations

import pytest

from maskwright.mask import Grammar, compile_grammar, compile_json_schema, compile_regex
from maskwright.vocab import Vocabulary
from maskwright.workbench.explanation import ShownTerminal, terminals_of
from maskwright.workbench.reading import byte_vocabulary

BYTES = byte_vocabulary()
NESTED = compile_grammar('start: "(" start ")" | NAME\nNAME: /[a-z]{3,}/', BYTES)


def terminals(grammar: Grammar, text: str) -> list[ShownTerminal]:
    matcher = grammar.matcher()
    assert matcher.accept_bytes(text.encode()) == len(text)
    return terminals_of(matcher)


def test_a_terminal_has_its_rules_and_what_remains_of_it() -> None:
    assert terminals(NESTED, "((ab") == [ShownTerminal(("start",) * 2, "text", "aaa", "a")]
    assert terminals(NESTED, "((abc)") == [ShownTerminal(("start",), "text", ")", ")")]


def test_every_terminal_that_may_come_is_reported() -> None:
    assert {each.text for each in terminals(NESTED, "(")} == {"(", "aaa"}


def test_a_pattern_has_no_rules() -> None:
    assert terminals(compile_regex("abc+d", BYTES), "ab") == [ShownTerminal((), "text", None, "cd")]


@pytest.mark.parametrize("text", ["x", "x1"])
def test_values_in_grammars(text: str) -> None:
    grammar = compile_grammar('start: "x" v\nv: %json {"type": "integer"}', BYTES)
    assert terminals(grammar, text) == [ShownTerminal(("start",), "JSON value", None, None)]


def test_control_tokens_have_their_names() -> None:
    vocabulary = Vocabulary([b"a", b"<x>", b""], special=[1], eos=2)
    grammar = compile_grammar('start: "a" <x>', vocabulary)
    assert terminals(grammar, "a") == [ShownTerminal(("start",), "control token", "<x>", "<x>")]


def test_a_schema_has_none() -> None:
    assert terminals(compile_json_schema(True, BYTES), "[") == []
