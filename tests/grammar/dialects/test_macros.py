"""xgrammar's macros: all texts up to a length against a plain reading of them, and special
tokens."""

from __future__ import annotations

from itertools import product

import pytest

from maskwright import compile_grammar
from maskwright.errors import GrammarError
from tests.grammar.dialects.test_special import END_THINK, THINK, TOOL, VOCAB, accepts
from tests.matching import EVERY_BYTE, matches

RULES = 'a ::= "a" | "<"\nb ::= "b" | ""\n'
CONTENTS = {"a": ("a", "<"), "b": ("b", "")}


def dispatched(
    text: str, rules: list[tuple[str, str]], excludes: tuple[str, ...], loop: bool
) -> bool:
    """Whether a text is free text in which the rule of each trigger follows it."""

    def rest(at: int) -> bool:
        for end in range(at + 1, len(text) + 1):
            read = text[at:end]
            if read.endswith(excludes):
                return False
            begun = [rule for trigger, rule in rules if read.endswith(trigger)]
            if begun:
                after = [
                    end + len(content)
                    for rule in begun
                    for content in CONTENTS[rule]
                    if text.startswith(content, end)
                ]
                return any(rest(one) if loop else one == len(text) for one in after)
        return True

    return rest(0)


@pytest.mark.parametrize("loop", [True, False])
@pytest.mark.parametrize(
    ("rules", "excludes"),
    [
        ([("<a", "a")], ()),
        ([("<", "a"), ("ab", "b")], ()),
        ([("<a", "a"), ("<b", "b")], ("b<", "aab")),
        ([("<", "a"), ("<", "b")], ("ba",)),
        ([], ("ab",)),
    ],
)
def test_text_with_triggers(
    rules: list[tuple[str, str]], excludes: tuple[str, ...], loop: bool
) -> None:
    pairs = "".join(f'("{trigger}", {rule}), ' for trigger, rule in rules)
    excluded = ", ".join(f'"{one}"' for one in excludes)
    options = f"loop_after_dispatch={str(loop).lower()}, excludes=({excluded})"
    grammar = compile_grammar(
        f"root ::= TagDispatch({pairs}{options})\n{RULES}", EVERY_BYTE, dialect="ebnf"
    )
    texts = ["".join(letters) for size in range(6) for letters in product("<ab", repeat=size)]
    wanted = [text for text in texts if dispatched(text, rules, excludes, loop)]
    assert 0 < len(wanted) < len(texts)
    assert [text for text in texts if matches(grammar, text)] == wanted


def test_a_dispatch_is_one_part_of_a_rule() -> None:
    text = 'root ::= "(" TagDispatch( # a comment\n ("<t>", t),\n) ")" | "k"\nt ::= "é"'
    grammar = compile_grammar(text, EVERY_BYTE, dialect="ebnf")
    inside = ["()", "(a)", "(a<t>éb)", "k", "())"]
    assert [one for one in [*inside, "(<t>)", "(<t>e)", "("] if matches(grammar, one)] == inside


def test_special_tokens() -> None:
    text = "root ::= Token(256) ExcludeToken(257)* Token(257, 258) [0-9]+"
    assert accepts(text, [THINK, "why", TOOL, "é", END_THINK, "42"], "ebnf")
    assert accepts(text, [THINK, TOOL, "4"], "ebnf")
    assert not accepts(text, [THINK, "why", "42"], "ebnf")
    assert not accepts(text, ["<think>", END_THINK, "1"], "ebnf")


@pytest.mark.parametrize("loop", [True, False])
def test_special_tokens_as_triggers(loop: bool) -> None:
    options = f"loop_after_dispatch={str(loop).lower()}, excludes=(258)"
    text = f'root ::= TokenTagDispatch((256, a), {options})\na ::= "a"'
    assert accepts(text, ["why", END_THINK, "é"], "ebnf")
    assert accepts(text, [END_THINK, "b", THINK, "a"], "ebnf")
    assert accepts(text, [THINK, "ab", THINK, "a", END_THINK], "ebnf") is loop
    assert not accepts(text, [THINK], "ebnf")
    assert not accepts(text, [THINK, "b"], "ebnf")
    assert not accepts(text, [TOOL], "ebnf")


REFUSED = [
    ('a ::= TagDispatch(("", a))', 19, "must not be empty"),
    ('a ::= TagDispatch(("<", a)', 17, "not closed"),
    ('a ::= TagDispatch(("<", a), ', 17, "not closed"),
    ("a ::= TagDispatch(", 18, "an argument is"),
    ('a ::= TagDispatch(("<", "b"))', 24, "the name of a rule"),
    ('a ::= TagDispatch(("<" b))', 23, "a comma and the name"),
    ('a ::= TagDispatch(("<", b) c)', 27, "separated by commas"),
    ('a ::= TagDispatch(("<", b))', 24, "b is not defined"),
    ('a ::= TagDispatch(stop_str=("x"))', 18, "an argument is"),
    ('a ::= TagDispatch(("ab", a), ("b", a))', 6, "'b' stands within the trigger 'ab'"),
    ('a ::= TagDispatch(("ab", a), excludes=("a"))', 6, "'a' stands within the trigger 'ab'"),
    ('a ::= TagDispatch(("a", a), excludes=("a"))', 6, "the trigger 'a' is excluded"),
    ("a ::= TokenTagDispatch((256, a), excludes=(256))", 6, "the trigger 256 is excluded"),
    ("a ::= TokenTagDispatch((5, a))", 24, "5 is no special token"),
    ("a ::= Token(259)", 6, "an end token may follow"),
    ("a ::= Token(97, 200)", 6, "token 200 is a part of a character"),
    ('a ::= Token("x")', 12, "the id of a token"),
    ("a ::= ExcludeToken(257)", 6, "repeat it"),
]


@pytest.mark.parametrize(("text", "at", "reason"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused(text: str, at: int, reason: str) -> None:
    with pytest.raises(GrammarError) as raised:
        compile_grammar(text, VOCAB, dialect="ebnf")
    assert reason in raised.value.reason
    assert raised.value.column == at + 1
