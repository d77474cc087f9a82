"""Telling the dialects apart."""

from __future__ import annotations

import pytest

from maskwright import compile_grammar
from maskwright.errors import GrammarError, InputError
from maskwright.grammar.dialects.detect import detect
from tests.matching import EVERY_BYTE, matches

TEXTS = [
    ('start: "a"', "lark"),
    ("// a\n%ignore / /\nstart: x", "lark"),
    ("?start: expr -> x", "lark"),
    ('start[capture]: "::="', "lark"),
    ("X.2: /a/\nstart: X", "lark"),
    ("_sep{x}: x\nstart: _sep{A}", "lark"),
    ('\n    start: "a" b\n    b: "c"\n', "lark"),
    ('\t%ignore / /\n\tstart: "a"', "lark"),
    ("  // a: b\n  ?start: x\n  x: /a/", "lark"),
    ('\ufeffstart: "a"', "lark"),
    ('\ufeff\n  start: "a"', "lark"),
    ('root ::= "a"', "gbnf"),
    ('\ufeffroot ::= "a"', "gbnf"),
    ('\n    root ::= "a"\n      | "b: c"', "gbnf"),
    ("\ufeff  [1] main ::= 'a'", "ebnf"),
    ('# start: x\nroot ::= "a: b" # it\'s', "gbnf"),
    ('ws ::= [ \\t\'-]*\nroot ::= "//" ws', "gbnf"),
    ('main ::= "a"', "ebnf"),
    ("root ::= 'a'", "ebnf"),
    ('root ::= TagDispatch(("<", a))\na ::= "b"', "ebnf"),
    ("root ::= Token(7)", "ebnf"),
    ('root ::= "Token(7)"', "gbnf"),
    ("root ::= [a-z] - [b]", "ebnf"),
    ("root ::= #x41", "ebnf"),
    ('root ::= a\na ::= "b" (="c")', "ebnf"),
    ("/* c */ root ::= [a]", "ebnf"),
    ("[1] root ::= [a]\n[2] x ::= [b]", "ebnf"),
]


@pytest.mark.parametrize(("text", "dialect"), TEXTS, ids=[row[0] for row in TEXTS])
def test_detected(text: str, dialect: str) -> None:
    assert detect(text) == dialect


INDENTED = [
    '\n    start: "a" b\n    b: "c"\n',
    '\ufeffstart: "a" b\nb: "c"\n',
    '\ufeff    start: "a" b\n  b: "c"',
    '\ufeff\n    root ::= "a" b\n    b ::= "c"',
    "\ufeff\n    [1] main ::= 'a' b\n    [2] b ::= 'c'",
]


@pytest.mark.parametrize("text", INDENTED)
def test_texts_that_begin_with_space_or_a_byte_order_mark(text: str) -> None:
    """The same, whether their dialect is recognised or named."""
    for dialect in ("auto", detect(text)):
        grammar = compile_grammar(text, EVERY_BYTE, dialect=dialect)
        assert matches(grammar, "ac")
        assert not matches(grammar, "a")


def test_a_byte_order_mark_takes_no_column() -> None:
    for text in ("start: b", "\ufeffstart: b"):
        with pytest.raises(GrammarError) as raised:
            compile_grammar(text, EVERY_BYTE)
        assert (raised.value.line, raised.value.column) == (1, 8)
        assert str(raised.value).endswith("\n  start: b\n         ^")
    with pytest.raises(GrammarError, match="expected a name") as raised:
        compile_grammar('start: "a" \ufeff "b"', EVERY_BYTE)
    assert raised.value.column == 12


@pytest.mark.parametrize("text", ["", "hello", "\ufeff", '{"type": "object"}', "a = b"])
def test_what_is_no_grammar(text: str) -> None:
    with pytest.raises(GrammarError, match="neither a rule of Lark"):
        compile_grammar(text, EVERY_BYTE)


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ('{"type": "object"}', "not like a grammar; give it as a schema ("),
        ("type: object\n", "not like a grammar; write it in JSON, and give it as a schema ("),
    ],
)
def test_a_schema_is_no_grammar(text: str, way_out: str) -> None:
    with pytest.raises(GrammarError) as raised:
        compile_grammar(text, EVERY_BYTE)
    assert way_out in raised.value.reason


def test_a_dialect_that_is_none() -> None:
    with pytest.raises(InputError, match="dialect is one of auto, lark, gbnf, ebnf") as raised:
        compile_grammar('start: "a"', EVERY_BYTE, dialect="peg")  # type: ignore[arg-type]
    assert raised.value.param == "dialect"


def test_another_start() -> None:
    assert compile_grammar("a ::= 'x'\nb ::= 'yy'", EVERY_BYTE, start="b").min_tokens == 2
