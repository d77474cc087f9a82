"""Where the tokens of a text can be counted, because it is certain where the text begins."""

from __future__ import annotations

import pytest

from maskwright.errors import UnsupportedGrammarError
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.rules.begins import bounded_rules, check_bounded_begins, refuse_bounded
from maskwright.grammar.rules.tree import Rules

TOKENS = GrammarTokens({"<t>": 300}, frozenset())
BOUNDED = "\ng[max_tokens=2]: /[a-z]*/"


def rules(grammar: str) -> Rules:
    return read_grammar(grammar + BOUNDED, "lark", tokens=TOKENS).rules


@pytest.mark.parametrize(
    "grammar",
    [
        "start: g",
        'start: "x" g',
        'start: "x"? /[0-9]{3}/ "y"',  # nothing is bounded
        'start: "a" ("x" | "yz") g',
        "start: /[0-9]{3}/ g",
        'start: g "." g ";" g',
        'start: a ": " g "."\na[suffix="!"]: /.*/',
        "start: /(.|\\n)*/ <t> g",
        'start: %json {"type": "object"} g',
        'start: (g ";")*',
        'start: ("<a>" g "</a>" | "<b>" g "</b>")*',
        'start: "a" g | "a" g "."',
        'start: "a" a\na[capture]: g',
        'start: list\nlist: list "," "x" | "x"',  # nothing is bounded
    ],
)
def test_the_beginning_is_certain(grammar: str) -> None:
    check_bounded_begins(rules(grammar))


@pytest.mark.parametrize(
    "grammar",
    [
        "start: /[0-9]*/ g",
        'start: "x"? g',
        'start: ("a" | "ab") g',
        "start: g g",
        "start: (g)*",
        'start: (g ";")* "." g',
        'start: ("<t" <t>)* /(.|\\n)*/ <t> g',
        'start: "<" g ">" | "<a" g ">"',
        'start: "(" start ")" | g',
        'start: /[a-z]*/ g ";" g',
    ],
)
def test_the_beginning_is_not_certain(grammar: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match="the tokens of 'g' can't be counted"):
        check_bounded_begins(rules(grammar))


def test_recursion_counts_each_rule_once() -> None:
    """Reading `a` to every depth would take 2 to the power of 40 steps."""
    names = [f"a{number}" for number in range(40)]
    body = " | ".join(f"{a} {b}" for a in names for b in names[:3])
    grammar = "start: a0 g\n" + "\n".join(f'{name}: "x" | {body}' for name in names)
    with pytest.raises(UnsupportedGrammarError):
        check_bounded_begins(rules(grammar))


def test_no_bound_within_other_rules() -> None:
    assert bounded_rules(rules("start: g")) == ["g"]
    assert bounded_rules(rules('start: "x"')) == []
    refuse_bounded(rules('start: "x"'), "a tag")
    with pytest.raises(
        UnsupportedGrammarError, match=r"the tokens of 'g' can't be .* within a tag"
    ):
        refuse_bounded(rules("start: g"), "a tag")
