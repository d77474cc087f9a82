"""Ready rows of plain text: every mask against what each token does on its own."""

from __future__ import annotations

import pytest

from maskwright import Grammar, compile_regex
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.terms import complement, concat, intersection, words
from maskwright.grammar.rules.tree import (
    Choice,
    Concat,
    Expression,
    Ref,
    Repeat,
    Rules,
    Terminal,
)
from maskwright.grammar.tags.free_text import text_until, text_without
from maskwright.mask.compile.rules import compile_rules
from tests.matching import allowed, vocabulary

VOCAB = vocabulary(
    *(
        "foo",
        "Foo",
        " foo",
        " Foo",
        "foo_bar",
        "foo(",
        " foo(",
        "don't",
        " don't",
        "f",
        " f1",
        "  ",
    ),
    *(
        "é",
        "éa",
        "naïve",
        " é",
        " éa",
        "日本",
        " 日",
        "12",
        " 12",
        "a1",
        "1a",
        "\n",
        " \n",
        "fé",
        "<end",
    ),
    *(
        b"\xe6\x97",
        b" \xc3",
        b"a\xc3",
        b"\xa9b",
        b"\xed\xa0\x80",
        b"a\xff",
        b"\xc3(",
        "a<",
        " a<",
        "> ",
    ),
)


def text(pattern: str) -> Terminal:
    return Terminal(full_match(pattern))


def rules(*parts: Expression, **others: Expression) -> Grammar:
    return compile_rules(Rules("start", {"start": Concat(parts), **others}), VOCAB)


NAMES = text("[a-z_][a-z0-9_]*")
CALL = Choice((NAMES, Concat((NAMES, text(r"\("), Ref("call"), text(r"\)")))))

KEYS = words(["foo", "Foo", "f", "in"])
NO_KEY = intersection(full_match("[A-Za-z_][A-Za-z0-9_]*"), complement(KEYS))

CASES = [
    (compile_regex("[a-z]+( [a-z]+)*", VOCAB), "foo bar"),
    (compile_regex("[^ !]+ [^ !]+!", VOCAB), "foo naïve!"),
    (compile_regex("[^<]*<end>", VOCAB), "a é 日<end>"),
    (rules(Ref("call"), call=CALL), "foo(bar_1(a))"),
    (rules(text("SELECT"), text(" "), NAMES, text(" ?,? ?"), NAMES), "SELECT foo , a1"),
    (rules(Repeat(Concat((text('"[^"]*"'), text(" ?"))))), '"a b" "é\nc"'),
    (rules(Choice((text("[a-z]*"), text("[a-zé]+[0-9]+"), text("[A-Za-z ]*x")))), "fée12"),
    (
        rules(Choice((Terminal(text_without(("<end",))), Terminal(text_until("<go>"))))),
        "a 日<en <go>",
    ),
    (rules(Terminal(words(["foo bar", "foo_bar", " foo"])), text("[a-z ]*")), "foo bar foo"),
    (rules(text(".*"), text("é")), "naïve é"),
    (rules(text("[À-ÿ]+"), text("[a-c]")), "éa"),
    (rules(Choice((text(r"[\p{L}_]\w*"), text("[^é]+")))), "naïve日"),
    (rules(text(r"[一-龠α-ωa]+"), text("[é-ÿ𝒜]+!")), "日本aé𝒜!"),
    (rules(text("SELECT *"), Terminal(NO_KEY), text(r" *\(?")), "SELECT foo_bar ("),
    (rules(Terminal(concat(full_match(" +AS +"), NO_KEY))), " AS fo"),
    (
        rules(
            Terminal(concat(intersection(full_match("[a-z]"), complement(KEYS)), NAMES.language))
        ),
        "afoo",
    ),
    (rules(text("f ?"), NAMES, text("<?"), text(".*")), "f foo<é"),
]


@pytest.mark.parametrize(("grammar", "sample"), CASES)
def test_masks_are_what_each_token_does(grammar: Grammar, sample: str) -> None:
    matcher = grammar.matcher()
    for byte in (*sample.encode(), None):
        taken = {token for token in range(VOCAB.size) if matcher.copy().accept(token)}
        assert allowed(matcher) == taken, f"in {sample!r} before {byte}"
        for begun in taken & set(range(0x80, 0x100)):  # a character begun can be completed
            there = matcher.copy()
            assert there.accept(begun)
            assert there.min_tokens >= 0
        if byte is not None:
            assert matcher.accept(byte)
    assert matcher.accepting
