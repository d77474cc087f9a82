"""Lark: what each construct reads, and what is refused where."""

from __future__ import annotations

import pytest

from maskwright import compile_grammar
from maskwright.errors import GrammarError, LimitError
from maskwright.limits import Limits
from tests.matching import EVERY_BYTE, matches

READ = [
    ('start: "a"', ["a"], ["", "aa"]),
    ('start: "a" | "b" -> other\n  | "c"', ["a", "b", "c"], ["ab"]),
    ('start: | "a"', ["", "a"], ["b"]),
    ('start: a b\na: "x"\nb: "y"', ["xy"], ["x"]),
    ('?start: a\n!a.2: B\nB.3: "x"\n_c: "y"', ["x"], ["y"]),
    ('start: "a"? "b"* "c"+', ["c", "abbcc"], ["ab", "aac"]),
    ('start: ["a"] "b"', ["ab", "b"], ["a"]),
    ('start: ("a" | "b")~2', ["ab", "aa"], ["a", "aab"]),
    ('start: "a"~1..3', ["a", "aaa"], ["", "aaaa"]),
    ('start: "a"{2,3} "b"{,1} "c"{1,} "d"{2}', ["aacdd", "aaabccdd"], ["acdd", "aacd"]),
    ('start: "a".."c"', ["a", "b", "c"], ["d", "a..c"]),
    ('start: "select"i', ["SELECT", "Select"], ["selec"]),
    ('start: "it\\"s\\n\\u00e9\\x41"', ['it"s\néA'], []),
    ('start: "a\\ud83d\\uDE00b"', ["a😀b"], ["ab", "a😁b"]),  # as JSON writes it
    ('start: "\\ud83d\\ude00".."\\ud83d\\ude02"', ["😀", "😂"], ["😃"]),
    ("start: /[a-c]+/ /\\d{2}/", ["a12", "cab00"], ["a1"]),
    ("start: /a.c/s /b/i /x y # z\\n/x", ["a\ncBxy", "abcbxy"], ["abcbx y"]),
    ("start: /\\/\\*/ /a\\/b/", ["/*a/b"], []),
    ('start: A B\nA: "a" | C+\nB: A "b"\nC: /c/', ["aab", "cccb"], ["ab"]),
    ("start: A\nA: /[a-z]+/ & ~/if|else/", ["i", "iff"], ["if", "else"]),
    ("start: A\nA: /[a-z \\n]*/ & ~/(?s:.*)\\n\\n(?s:.*)/", ["a\nb"], ["a\n\nb"]),
    ('start: A\nA: ~"a"+ & /[ab]*/', ["bb", "aa", ""], ["ac"]),
    ('start: _list{word, ","}\n_list{x, sep}: x (sep x)*\nword: /[a-z]/', ["a", "a,b"], ["a,"]),
    ('start: twice{twice{"a"}}\ntwice{x}: x x', ["aaaa"], ["aa"]),
    ('start: nest{"a"}\nnest{x}: "(" nest{x} ")" | x', ["a", "((a))"], ["(a"]),
    ('start: start "+" "1" | "1"', ["1", "1+1+1"], ["1+", "+1"]),
    ('start: "a" b // comment\n# another\n\nb: "x" // "y"\n', ["ax"], []),
    ('start: a\na: "x"\n  "y"\n', ["xy"], []),
    ('start: "a" %json {"type": "integer", "minimum": 3}', ["a3", "a10"], ["a2", "a"]),
    ('start: %json {\n  "enum": ["x", 1]\n}\n| /[a-z]/', ['"x"', "1", "q"], ["2"]),
    ('start: "<" %regex {"substring_chunks": ["ab", "c", "d"]} ">"', ["<>", "<abc>"], ["<a>"]),
    ('start: A\nA: %regex {"substring_words": "to be. not"}', ["to be", ". not"], ["o be"]),
    ('start: %regex {"substring_chars": "abc"}', ["", "bc", "abc"], ["ac"]),
    ("%import common.INT\n%import common (WORD, WS)\nstart: INT WORD", ["12ab"], ["ab"]),
    ("%import common.INT -> N\nstart: N", ["12"], ["a"]),
    ("%import common.SIGNED_NUMBER\nstart: SIGNED_NUMBER", ["-1.5e3", "+.5", "1."], ["e3", "-"]),
    ('%import common.INT\n%override INT: "x"\nstart: INT', ["x"], ["1"]),
    ('%import common.INT\n%extend INT: "x"\nstart: INT', ["x", "1"], ["y"]),
    ("%declare UNUSED\nstart: /a/", ["a"], []),
    ("%llguidance {}\nstart: /a/", ["a"], []),
    ('start[capture]: a\na[capture="x"]: /b/', ["b"], []),
    ('start: a "!"\na[lazy]: /[a-z]*x/', ["abx!", "x!"], ["xax!", "ab!"]),
    ('start: a "."\na[stop="x", capture]: /[a-z]*/', ["ab.", "."], ["ax."]),
    ('start: a b\na[suffix="--"]: /.*/\nb: /.*/', ["--", "a-b--", "a--b--c"], ["a-b"]),
    ('start: /".*?"/ /a*/', ['"x"aa', '""'], ['"x"y"', '"']),
    ('start: /\\/\\*(.|\\n)*?\\*\\// "x"', ["/* a\n*/x"], ["/* */ */x"]),
    ('start: /".*?(?<!\\\\)(\\\\\\\\)*?"/', ['"a\\"b"', '"a\\\\"'], ['"a"b"', '"a\\"']),
    ('start: a-b\na-b: "x"', ["x"], []),
]


@pytest.mark.parametrize(("text", "inside", "outside"), READ, ids=[row[0] for row in READ])
def test_read(text: str, inside: list[str], outside: list[str]) -> None:
    grammar = compile_grammar(text, EVERY_BYTE, dialect="lark")
    assert [s for s in inside + outside if matches(grammar, s)] == inside


KEYWORDS = 'start: (IF | NAME) ("," (IF | "." NAME))*\nIF{}: "if"\nNAME: /[a-z]+/\n'
IGNORING = """
start: stmt+
stmt: NAME "=" NUMBER
NAME: /[a-z]+/
%import common (NUMBER, WS, CPP_COMMENT, C_COMMENT)
%ignore WS
%ignore CPP_COMMENT
%ignore C_COMMENT
"""
MEANING = [
    # Without priorities a name may spell a keyword; with them it can't.
    (KEYWORDS.replace("{}", ""), ["if", "x", "x,.if", "x,if"], ["x,x"]),
    (KEYWORDS.replace("{}", ".1"), ["if", "x", "iffy", "x,if", "x,.iff"], ["x,.if"]),
    ('start: A | B "!"\nA.2: "x"\nB.-1: /[a-z]/', ["x", "y!"], ["x!"]),
    # All ways to cut a text into terminals count, not the longest terminal alone.
    ('start: A "ab"\nA: /a+/', ["aab", "aaaab"], ["ab"]),
    ('start: A B\nA: "a" | "ab"\nB: "bc" | "c"', ["abc", "abbc", "ac"], ["ab"]),
    # Ignored text may stand before every terminal and at the end; pieces of it are cut greedily.
    (
        IGNORING,
        ["a=1", " a = 1 \n", "a = // one\n 1", "a/**/=/* = */1b=2", "a=1 // end", "a=1b=2"],
        ["a a=1", "a = // 1", "a=1 2", "// b\n", "a /* = 1"],
    ),
    ('start: "a" /[0-9]*/ "b"\n%ignore " "', ["ab", " a 1 b ", "a  b"], ["a1 2b"]),
    ('start: "a b" "c"\n%ignore " "', ["a bc", "a b c"], ["a  b", "abc"]),
    ('start: "a" %json {"type": "boolean"}\n%ignore " "', ["a true", "atrue "], ["a t rue"]),
    ('start: "a" "b"\n%ignore "-" | "+"+', ["-a+-++b"], ["a*b"]),
]


@pytest.mark.parametrize(("text", "inside", "outside"), MEANING, ids=[row[0] for row in MEANING])
def test_meaning(text: str, inside: list[str], outside: list[str]) -> None:
    grammar = compile_grammar(text, EVERY_BYTE, dialect="lark")
    assert [s for s in inside + outside if matches(grammar, s)] == inside


REFUSED = [
    ("", 1, 1, "no rules"),
    ('a: "x"', 1, 1, "no rule 'start'"),
    ('start: "a', 1, 8, "not closed"),
    ("start: /a", 1, 8, "not closed"),
    ('start: ("a"', 1, 8, "')'"),
    ('start: ["a"', 1, 8, "']'"),
    ('start: "a")', 1, 11, "can't continue with ')'"),
    ('start: "a"\nstart: "b"', 2, 1, "twice, first on line 1"),
    ("start: a", 1, 8, "a is not defined"),
    ('start: "a"\nb: c', 2, 4, "c is not defined"),
    ("start: Word\nWORD: /a/", 1, 8, "did you mean WORD?"),
    ("start: A\nA: b\nb: /x/", 2, 4, "can't contain the rule b"),
    ('start: A\nA: "(" A ")" | "x"', 2, 8, "contains itself"),
    ("start: A\nA: %json {}", 2, 4, "not regular"),
    ("start: A\nA: /a/ & /b/", 1, 8, "matches no text"),
    ('start: "\\ude00\\ud83d"', 1, 8, "matches no text"),
    ('start: "\\ud83d" "\\ude00"', 1, 8, "matches no text"),
    ("start: /(a)\\1/", 1, 12, "back-references"),
    ("start: /a\\/(/", 1, 12, "not closed"),
    ("start: /if\\b/", 1, 9, "text after it"),
    ("start: /a(?!b)/", 1, 9, "text after it"),
    ("start: /^a/", 1, 9, "text before it"),
    ("start: /a.*?b+/", 1, 9, "lazy"),
    ("start: /a/q", 1, 8, "flag 'q'"),
    ('start: "a\\q"', 1, 10, "unknown escape"),
    ('start: "b".."a"', 1, 8, "later one"),
    ('start: "a"~3..1', 1, 11, "wrong order"),
    ('start: "a"{x}', 1, 11, "{3,5}"),
    ("start: x{A}\nx: /a/\nA: /b/", 1, 8, "takes 0 arguments, not 1"),
    ("start: x\nx{a}: a", 1, 8, "takes 1 argument, not 0"),
    ('start: %json {"type": 5}', 1, 8, "in this schema"),
    ('start: %json {"a"', 1, 18, "not valid JSON"),
    ('start: %json {"minimum": 1e-400}', 1, 8, "read as 0.0"),
    ("start: %regex {}", 1, 8, "substring_chars"),
    ("start: %lark { start: /a/ }", 1, 8, "nested grammars"),
    ("start: %foo", 1, 8, "%json"),
    ("start: @other", 1, 8, "%import"),
    ("start: 'a'", 1, 8, "double quotes"),
    ("start: a::b", 1, 8, "parametric"),
    ("start: <think>", 1, 8, "no token <think>"),
    ("start: A\n%declare A", 1, 8, "declared"),
    ("%import nothing.X\nstart: X", 1, 1, "no grammar 'nothing' is shipped"),
    ("%import common.NOPE\nstart: NOPE", 1, 1, "common has no NOPE"),
    ("%import .local.X\nstart: X", 1, 1, "only shipped"),
    ("%import common.INT -> number\nstart: number", 1, 1, "as a terminal"),
    ("%import common.INT\nINT: /x/\nstart: INT", 2, 1, "%override"),
    ("%override X: /x/\nstart: X", 1, 11, "not defined or imported"),
    ("%whatever\nstart: /x/", 1, 1, "no such directive"),
    ('%llguidance {"no_forcing": true}\nstart: /x/', 1, 1, "options of %llguidance"),
    ("start[max_tokens=0]: /a/", 1, 7, "a number from 1"),
    ('start[max_tokens="5"]: /a/', 1, 7, "a number from 1"),
    ("start[max_tokens=1000000000]: /a/", 1, 7, "a number from 1 to 999,999,999"),
    ('start[stop="x", lazy]: /a/', 1, 17, "not two of them"),
    ('start[stop="x", suffix="y"]: /a/', 1, 17, "not two of them"),
    ('start[stop_capture="x"]: /a/', 1, 7, "stop_capture reports a suffix"),
    ("start[temperature=1]: /a/", 1, 7, "set it for the request"),
    ("start[temperature=0.5]: /a/", 1, 7, "temperature"),
    ("start[nope]: /a/", 1, 7, "options of a rule"),
    ("A[capture]: /a/\nstart: A", 1, 1, "neither parameters nor options"),
    ("start = /a/", 1, 1, "expected a rule"),
]


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"), REFUSED, ids=[row[0] for row in REFUSED]
)
def test_refused(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(GrammarError) as raised:
        compile_grammar(text, EVERY_BYTE, dialect="lark")
    assert reason in raised.value.reason
    assert (raised.value.line, raised.value.column) == (line, column)
    *_, shown, caret = str(raised.value).split("\n")
    assert shown == "  " + (text.split("\n")[line - 1] if text else "")
    assert caret == "  " + " " * (column - 1) + "^"


def test_limits() -> None:
    with pytest.raises(LimitError, match="grammar_rules"):
        compile_grammar(
            'start: t{"a"}\nt{x}: x | t{x x}', EVERY_BYTE, limits=Limits(grammar_rules=50)
        )
    with pytest.raises(LimitError, match="grammar_length"):
        compile_grammar('start: "a"', EVERY_BYTE, limits=Limits(grammar_length=5))


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("start: " + "(" * 500 + '"a"' + ")" * 500, "lark"),
        ("start: " + "[" * 500 + '"a"' + "]" * 500, "lark"),
        ("start: A\nA: " + "~" * 500 + '"a"', "lark"),
        ("start: " + "x{" * 500 + '"a"' + "}" * 500 + "\nx{a}: a", "lark"),
        ("root ::= " + "(" * 500 + '"a"' + ")" * 500, "gbnf"),
        ("start: A0\n" + "\n".join(f"A{n}: A{n + 1}" for n in range(500)) + "\nA500: /a/", "lark"),
    ],
)
def test_what_nests_too_deep(text: str, dialect: str) -> None:
    with pytest.raises(LimitError, match="too deep"):
        compile_grammar(text, EVERY_BYTE, dialect=dialect)  # type: ignore[arg-type]


def test_what_is_not_used_is_reported() -> None:
    grammar = compile_grammar('start: A\nA: "x"\nB: "y"\nc: B', EVERY_BYTE)
    assert [entry.keyword for entry in grammar.report.annotations] == ["B", "c"]
