"""Grammars written in another dialect keep their language, or are refused by name."""

from __future__ import annotations

import tomllib
from itertools import product

import pytest

from maskwright import Vocabulary, compile_grammar
from maskwright.errors import UnsatisfiableGrammarError, UnsupportedGrammarError
from maskwright.grammar.dialects.detect import DIALECTS, Dialect, detect
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.dialects.write import write_grammar
from tests.grammar.dialects.test_against_lark import STRINGS, _grammar
from tests.grammars.test_shipped import FOLDER, NAMES
from tests.matching import BYTES, EVERY_BYTE, matches


def converted(text: str, dialect: Dialect) -> str:
    return write_grammar(read_grammar(text).lowered, dialect)


@pytest.mark.parametrize(("name", "dialect"), [*product(NAMES, DIALECTS)])
def test_shipped_grammars(name: str, dialect: Dialect) -> None:
    written = converted((FOLDER / f"{name}.lark").read_text(), dialect)
    grammar = compile_grammar(written, EVERY_BYTE, dialect=dialect)
    examples = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    assert [s for s in examples["accepted"] if not matches(grammar, s)] == []
    assert [s for s in examples["rejected"] if matches(grammar, s)] == []
    assert detect(written) == ("gbnf" if dialect == "ebnf" else dialect)


@pytest.mark.parametrize(("seed", "dialect"), [*product(range(12), DIALECTS)])
def test_random_grammars(seed: int, dialect: Dialect) -> None:
    text = _grammar(seed)
    try:
        grammar = compile_grammar(text, EVERY_BYTE)
    except UnsatisfiableGrammarError:
        return
    other = compile_grammar(converted(text, dialect), EVERY_BYTE, dialect=dialect)
    assert [s for s in STRINGS if matches(grammar, s)] == [s for s in STRINGS if matches(other, s)]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "text",
    [
        r'start: "\"\\\n\x00é😀]/^-"',
        r"start: /[\]\^\\\/\-~&#|\x00-\x1f\ud7ff-\ue001é]+/",
        r"start: /[^a]/ /(?s:.)/ /[^\x00-\x7f]{2,}/ /(a|b){,2}/",
        "start: A\nA: /[a-c]*/ & ~/.*bb.*/",
        'start: "" | "a"',
    ],
)
def test_odd_characters(text: str, dialect: Dialect) -> None:
    grammar = compile_grammar(text, EVERY_BYTE)
    other = compile_grammar(converted(text, dialect), EVERY_BYTE, dialect=dialect)
    alphabet = '"\\\n\x00é😀]/^-a'
    strings = ["".join(s) for n in range(5) for s in product(alphabet, repeat=n)] + [alphabet[:-1]]
    assert [s for s in strings if matches(grammar, s)] == [s for s in strings if matches(other, s)]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "text",
    [
        'start: ("" ("b" "ba"))~0..2',
        'start: (("" ("b" "a"))?)~1..3',
        'start: (x "a" | "" x "a")+\nx: "b" | ""',
        'start: (A "b")~1..3\nA: "a" | /./s & "ab"',
    ],
)
def test_what_is_beside_empty_texts_or_none(text: str, dialect: Dialect) -> None:
    """Alone it keeps the parentheses that it needs, and options without texts are left out."""
    grammar = compile_grammar(text, EVERY_BYTE)
    other = compile_grammar(converted(text, dialect), EVERY_BYTE, dialect=dialect)
    assert [s for s in STRINGS if matches(grammar, s)] == [s for s in STRINGS if matches(other, s)]


SPECIAL = GrammarTokens({"<a>": 256, "<b>": 257})


def test_special_tokens() -> None:
    vocab = Vocabulary((*BYTES, b"<a>", b"<b>", b"<e>"), special=(256, 257, 258), eos=258)
    lowered = read_grammar("start: <a> /x/ <[256-257]>", tokens=SPECIAL).lowered
    for dialect in ("lark", "gbnf"):
        written = write_grammar(lowered, dialect)
        matcher = compile_grammar(written, vocab).matcher()
        assert all(map(matcher.accept, (256, ord("x"), 257))), written
    with pytest.raises(UnsupportedGrammarError, match="ebnf has no special tokens"):
        write_grammar(lowered, "ebnf")


@pytest.mark.parametrize(
    ("text", "dialect", "reason"),
    [
        ('start: "a" %json {}', "gbnf", "JSON values"),
        ("start: a\na[capture]: /b/", "ebnf", "capture 'a'"),
        ("start: /(a|b)*/ & ~/(a|b)*a(a|b){12}/", "gbnf", "states"),
    ],
)
def test_refused(text: str, dialect: Dialect, reason: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match=reason):
        converted(text, dialect)
