"""The texts that cover a grammar: each is one of its texts, and together they use everything."""

from __future__ import annotations

import pytest

from maskwright.errors import UnsupportedGrammarError
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.rules.tree import Ref, Rules, SpecialToken
from maskwright.mask import compile_grammar
from maskwright.shipped import shipped
from maskwright.workbench.reading import Verdict, byte_vocabulary, read_text
from maskwright.workbench.sample.covering import covered_rules

VOCABULARY = byte_vocabulary()


def texts_of(grammar: str) -> set[str]:
    return {text for text, _ in covered_rules(read_grammar(grammar).rules).texts}


@pytest.mark.parametrize(
    ("grammar", "texts"),
    [
        ('root ::= "a" | "b" root', {"a", "ba"}),
        ('root ::= "a"? x\nx ::= "b" | "c"', {"b", "ab", "c"}),
        ('root ::= "a"{2,3}', {"aa", "aaa"}),
        ('root ::= ("a" | "b")+ "c"', {"ac", "bc", "aac"}),
        ('root ::= "(" x ")"\nx ::= "1" | y\ny ::= "2" x "3"', {"(1)", "(213)"}),
        ('root ::= "a" | never\nnever ::= "b" never', {"a"}),  # which has no text
        ('start: "x" %json {"type": "null"}', {"xnull"}),
    ],
)
def test_the_texts_of_small_grammars(grammar: str, texts: set[str]) -> None:
    assert texts_of(grammar) == texts


@pytest.mark.parametrize("name", shipped("grammar"))
def test_every_rule_of_the_shipped_grammars_is_used_in_texts_that_match(name: str) -> None:
    text = shipped("grammar")[name].file.read_text()
    rules = read_grammar(text).rules
    covered = covered_rules(rules).texts
    used = {each.rpartition(":")[0] for _, alternatives in covered for each in alternatives}
    assert used == set(rules.rules)
    grammar = compile_grammar(text, VOCABULARY)
    for written, _ in covered:
        assert read_text(grammar, written.encode()).verdict is Verdict.MATCH, written


def test_a_special_token_has_no_text() -> None:
    rules = Rules("s", {"s": Ref("t"), "t": SpecialToken(((1, 1),))})
    with pytest.raises(UnsupportedGrammarError):
        covered_rules(rules)
