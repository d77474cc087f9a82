"""Grammars of one regular language: accepted and rejected texts and prefixes."""

from __future__ import annotations

import pytest

from maskwright import compile_regex
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Bound, Ending
from maskwright.automaton.machine.exits import DONE, STAY, apply_exit
from maskwright.automaton.rules.text_contexts import TextContexts
from maskwright.grammar.pattern.translate import full_match
from tests.matching import EVERY_BYTE, after, matches

CASES: list[tuple[str, list[str], list[str], list[str]]] = [
    # pattern; texts; prefixes that are no texts; what is no prefix
    ("a|bc", ["a", "bc"], ["", "b"], ["ab", "c", "aa", "bcc"]),
    ("(ab)*", ["", "ab", "abab"], ["a", "aba"], ["b", "abb"]),
    ("[à-é]{2}", ["éà"], ["", "é"], ["e", "ééé"]),
    ("a{2,3}", ["aa", "aaa"], ["", "a"], ["aaaa"]),
]


@pytest.mark.parametrize(("pattern", "texts", "prefixes", "wrong"), CASES)
def test_texts_of_a_pattern(
    pattern: str, texts: list[str], prefixes: list[str], wrong: list[str]
) -> None:
    grammar = compile_regex(pattern, EVERY_BYTE)
    assert [text for text in texts if not matches(grammar, text)] == []
    for prefix in prefixes:
        assert after(grammar, prefix) is not None, prefix
        assert not matches(grammar, prefix), prefix
    assert [text for text in wrong if after(grammar, text) is not None] == []


def test_a_character_may_be_cut_anywhere() -> None:
    grammar = compile_regex("[à-é]", EVERY_BYTE)
    assert after(grammar, b"\xc3") is not None
    assert after(grammar, b"\xc2") is None
    assert after(grammar, b"\xc3\xb0") is None


def test_leaving_the_leaf_ends_the_text() -> None:
    leaves = LeafTable()
    contexts = TextContexts(full_match("ab"), leaves)
    context, leaf = contexts.start()
    assert set(leaves.next_states(leaf)) == {ord("a")}
    found = contexts.exit(context, 1)
    assert (found.kind, found.context, found.leaf) == (STAY, DONE, leaves.dead)
    assert apply_exit(found).added == (DONE,)
    assert contexts.gate(context) is contexts.level(context) is None
    assert contexts.finish([context], leaf, b"") == Ending(b"")
    assert contexts.bound(context) == Bound(0, 0)
