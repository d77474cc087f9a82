"""GBNF and EBNF: what each construct reads, and what is refused where."""

from __future__ import annotations

import pytest

from maskwright import compile_grammar
from maskwright.errors import GrammarError
from tests.matching import EVERY_BYTE, matches

BOTH = [
    ('root ::= "a"', ["a"], ["", "b", "aa"]),
    ('root ::= "a" | "b"', ["a", "b"], ["ab"]),
    ('root ::= "a" b\nb ::= "c"', ["ac"], ["a"]),
    ("root ::= [a-c]+", ["a", "cab"], ["", "d"]),
    ("root ::= [^a-c]", ["d", "\n", "é", "😀"], ["a", ""]),
    ("root ::= [a-]", ["a", "-"], ["b"]),
    ("root ::= [^]", ["a", "\n"], [""]),
    (r"root ::= [\]\\\-^]", ["]", "\\", "-", "^"], ["a"]),
    (r"root ::= [\x41\u0042\U00000043\n]", ["A", "B", "C", "\n"], ["x"]),
    (r'root ::= "\ud83d\ude00" [^\ud83d\ude00-\ud83d\ude02]', ["😀😃", "😀a"], ["😀😁", "a"]),
    (r'root ::= "\x41\u00e9\U0001F600\t\r\n\\\""', ['Aé😀\t\r\n\\"'], []),
    ("root ::= .", ["a", "\n", "é"], ["", "ab"]),
    ('root ::= "ab"* "c"', ["c", "ababc"], ["abb", "ac"]),
    ('root ::= "ab"?', ["", "ab"], ["a"]),
    ('root ::= "a"{2}', ["aa"], ["a", "aaa"]),
    ('root ::= "a"{2,}', ["aa", "aaaa"], ["a"]),
    ('root ::= "a"{1,2} "b"', ["ab", "aab"], ["b", "aaab"]),
    ('root ::= ("a" | "b") "c"', ["ac", "bc"], ["a"]),
    ('root ::= ("a"\n  # comment\n  | "b")\n', ["a", "b"], []),
    ('root ::= "a" |\n "b"\n', ["a", "b"], []),
    ('root ::= "a"\n  | "b"\n', ["a", "b"], []),
    ('root ::=\n  "a"', ["a"], []),
    ('root ::= "a" | ', ["a", ""], []),
    ('root ::= ""', [""], ["a"]),
    ('# first\nroot ::= a # second\na ::= "x" # third', ["x"], []),
    ('root ::= "#" "a"', ["#a"], []),
    ('root ::= a-b a_b\na-b ::= "1"\na_b ::= "2"', ["12"], []),
    ('root ::= root "a" | "b"', ["b", "baa"], ["a", ""]),
    ('root ::= "(" root ")" | ""', ["", "(())"], ["(", "(()"]),
    ('root ::= x x\nx ::= "a" x | ""', ["", "a", "aaa"], ["b"]),
    ('root ::= ("a" "b"?)+', ["a", "abaab"], ["b", ""]),
    ('root ::= "a"+?', ["", "aa"], []),
]


@pytest.mark.parametrize("dialect", ["gbnf", "ebnf"])
@pytest.mark.parametrize(("text", "inside", "outside"), BOTH, ids=[row[0] for row in BOTH])
def test_what_both_read(text: str, inside: list[str], outside: list[str], dialect: str) -> None:
    grammar = compile_grammar(text, EVERY_BYTE, dialect=dialect)  # type: ignore[arg-type]
    assert [s for s in inside + outside if matches(grammar, s)] == inside


EBNF = [
    ("doc ::= 'a' \"b\"", ["ab"], []),
    ("doc ::= #x41 [#x42-#x44#x46] [^#x20]", ["ABx", "AF-"], ["AE", "AB "]),
    ("doc ::= [a-z]+ - ('if' | 'in')", ["i", "inn"], ["if", "in", ""]),
    ("doc ::= 'x' [a-z] - 'b' 'y'", ["xay"], ["xby"]),
    ("doc ::= name - 'a'\nname ::= [a-c]", ["b"], ["a"]),
    ("[1] doc ::= a b\n[2] a ::= 'x' [12]\n[3a] b ::= [3]\n", ["x13"], []),
    ("doc ::= 'a' /* a comment\n over lines */ 'b' // to the end\n # and this", ["ab"], []),
    ("doc ::= 'a' [ wfc: No More ] 'b' [ vc: x ]", ["ab"], []),
    ("first ::= second\nsecond ::= 'x'", ["x"], []),
    ("other ::= 'x'\nroot ::= 'y'", ["y"], ["x"]),
    (r"doc ::= 'it\'s' '\n'", ["it's\n"], []),
    ("doc ::= a.b\na.b ::= 'x'", ["x"], []),
    # xgrammar's lookahead, which says again what follows
    ('doc ::= a "c"\na ::= [a-b]+ (= "c" | "d" e)\ne ::= "e"', ["abc"], ["ab", "c"]),
    ("doc ::= 'a' | 'b' (='c')", ["a", "b"], ["bc"]),
]


@pytest.mark.parametrize(("text", "inside", "outside"), EBNF, ids=[row[0] for row in EBNF])
def test_what_ebnf_reads(text: str, inside: list[str], outside: list[str]) -> None:
    grammar = compile_grammar(text, EVERY_BYTE, dialect="ebnf")
    assert [s for s in inside + outside if matches(grammar, s)] == inside


REFUSED = [
    ("", "gbnf", 1, 1, "no rules"),
    ('start ::= "a"', "gbnf", 1, 1, "no rule 'root'"),
    ('root ::= "a', "gbnf", 1, 10, "not closed"),
    ("root ::= [a", "gbnf", 1, 10, "not closed"),
    ('root ::= ("a"', "gbnf", 1, 10, "not closed"),
    ('root ::= "a")', "gbnf", 1, 13, "can't continue with ')'"),
    ('root ::= "a"\nroot ::= "b"', "gbnf", 2, 1, "twice, first on line 1"),
    ("root ::= a\n b ::= c", "gbnf", 1, 10, "a is not defined"),
    ('root ::= "a"\nb ::= c', "gbnf", 2, 7, "c is not defined"),
    ('root ::= Item\nitem ::= "a"', "gbnf", 1, 10, "did you mean item?"),
    (r'root ::= "\q"', "gbnf", 1, 11, "unknown escape"),
    (r'root ::= "\x4"', "gbnf", 1, 11, "2 hexadecimal digits"),
    (r"root ::= [\U00110000]", "gbnf", 1, 11, "code point"),
    ("root ::= [b-a]", "gbnf", 1, 11, "wrong order"),
    ("root ::= []", "gbnf", 1, 10, "matches nothing"),
    ('root ::= "a"{,3}', "gbnf", 1, 13, "{0,5}"),
    ('root ::= "a"{x}', "gbnf", 1, 13, "{3,5}"),
    ('root ::= "a"{3,1}', "gbnf", 1, 13, "wrong order"),
    ("root ::= *", "gbnf", 1, 10, "expected a rule"),
    ('root : "a"', "gbnf", 1, 1, "name ::="),
    ('root ::= "a" : "b"', "gbnf", 1, 14, "expected a rule"),
    ("root ::= 'a'", "gbnf", 1, 10, "expected a rule"),
    ("root ::= <think>", "gbnf", 1, 10, "no token <think>"),
    ("root ::= <[256]>", "gbnf", 1, 10, "an end token may follow"),
    ("root ::= !<[5]>", "gbnf", 1, 10, "repeat it"),
    ('a ::= (="b") "b"', "ebnf", 1, 7, "nothing may follow it"),
    ('a ::= "x" (="b" "b"', "ebnf", 1, 11, "not closed"),
    ('a ::= ("x" (="b"))', "ebnf", 1, 12, "at the end of a rule"),
    ("a ::= #x110000", "ebnf", 1, 7, "code point"),
    ("a ::= - 'b'", "ebnf", 1, 7, "on its left"),
    ("a ::= b - 'c'\nb ::= '(' b ')' | 'c'", "ebnf", 2, 11, "contains itself"),
    ("a ::= 'a' - 'a'", "ebnf", 1, 11, "matches no text"),
    ("a ::= /* b", "ebnf", 1, 7, "comment is not closed"),
]


@pytest.mark.parametrize(
    ("text", "dialect", "line", "column", "reason"), REFUSED, ids=[row[0] for row in REFUSED]
)
def test_refused(text: str, dialect: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(GrammarError) as raised:
        compile_grammar(text, EVERY_BYTE, dialect=dialect)  # type: ignore[arg-type]
    assert reason in raised.value.reason
    assert (raised.value.line, raised.value.column) == (line, column)
    *_, shown, caret = str(raised.value).split("\n")
    assert shown == "  " + (text.split("\n")[line - 1] if text else "")
    assert caret == "  " + " " * (column - 1) + "^"
