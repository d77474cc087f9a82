"""Lowering of grammars to rules: texts, ignored text, templates, priorities, options and faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from maskwright.errors import GrammarError, LimitError
from maskwright.grammar.dialects.lark import read_lark
from maskwright.grammar.dialects.lower import Lowered, lower
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import EMPTY, EPSILON, Regular, char
from maskwright.grammar.rules.tree import Rules
from maskwright.grammar.schema.tree import Schema
from maskwright.limits import DEFAULT_LIMITS
from tests.grammar.spelling import SPECIAL, Captured, Reader

TOOL = chr(SPECIAL + 5)


def lowered(text: str, **limits: int) -> Lowered:
    tokens = GrammarTokens({"<tool>": 5})
    return lower(read_lark(text, tokens), "start", replace(DEFAULT_LIMITS, **limits))


def readings(rules: Rules, text: str) -> set[Captured]:
    """What each reading of the text captures; every JSON value counts as valid."""

    def valid(schema: Schema, value: Any) -> bool:
        return True

    return Reader(text, valid, rules.rules).readings(rules.rules[rules.start])


@pytest.mark.parametrize(
    ("grammar", "accepted", "rejected"),
    [
        ('start: "a" ("b" | "c")~1..2', ["ab", "acb"], ["a", "abcb"]),
        ('start: "(" start ")" | "x"', ["x", "((x))"], ["(x", "x)"]),
        ("start: %json {}", ["[1]", "true"], ["[1"]),
        ('start: <tool> "x"', [TOOL + "x"], ["x", TOOL]),
        ("start: A\nA: /[ab]+/ & ~/.*aa.*/", ["ab", "bab"], ["aa", "baab"]),
        # A template is written out once for each list of arguments.
        ('start: t{"a"} t{"b"}\nt{x}: "<" x ">"', ["<a><b>"], ["<a><a>", "<b><b>", "ab"]),
        ('start: p{"a", "b"}\np{x, y}: y x', ["ba"], ["ab"]),
        ('start: o{"a"}\no{x}: t{x} "!"\nt{x}: x x', ["aa!"], ["a!"]),
        # A terminal lacks the texts of terminals of higher priority, and of no others.
        ('start: N | "." K\nK.1: "if"\nN: /[a-z]+/', ["i", "iff", ".if"], ["if"]),
        ("start: N\nK: /if/\nN: /[a-z]+/", ["if"], ["IF"]),
        ("start: K\nK.1: /if/\nN.-1: /[a-z]+/", ["if"], ["i"]),
        # Ignored text stands before terminals and at the end, and is read as far as it can go.
        ('start: "a" "b"\n%ignore " "', ["ab", " a  b "], ["a-b"]),
        ('start: "a" "b"?\n%ignore " "', ["a ", "a b "], ["b"]),
        ("start: A\nA: /x*/\n%ignore /-/", ["", "xx", "--x", "x-"], ["x-x"]),
        ("start: /[a-z]/ /[0-9]/\n%ignore /#[a-z]*/", ["a#b1", "a##b1", "a1#"], ["#ab1"]),
        ("start: %json {}\n%ignore /-/", ["--true", "true-"], ["t-rue"]),
        ("start: <tool>\n%ignore /-/", ["-" + TOOL + "-"], ["-"]),
        # A lazy rule ends at the first place where it can.
        ('start: a /.*/\na[suffix="--"]: /[a-z-]*/', ["x--y", "--", "x----"], ["x-"]),
        ('start: a "!"\na[lazy]: /[a-z]*x/', ["abx!"], ["xax!"]),
        # A stop is no part of the text, and doesn't occur before.
        ('start: a "."\na[stop="x"]: /[a-z]*/', [".", "ab."], ["abx.", "xab."]),
        ('start: a "x"\na[stop="x"]: /[a-z]*/', ["x", "abx"], ["abxx", "abxax"]),
        ('start: a "."\na[stop=/[xy]z/]: /[a-z]*/', ["axy.", "za."], ["axz.", "yza."]),
        ('start: a\na[stop="x"]: /x?[a-z]*/', ["", "ab"], ["x", "xab"]),
        ('start: a "."\na[stop=""]: /[a-z]{2}/', ["ab."], ["a.", "abc."]),
        ('start: a /.*/\na[suffix="xx", stop_capture="s"]: /[ax]*/', ["axx", "xxx"], ["ax"]),
    ],
)
def test_texts(grammar: str, accepted: list[str], rejected: list[str]) -> None:
    rules = lowered(grammar).rules
    assert [text for text in accepted + rejected if readings(rules, text)] == accepted


@pytest.mark.parametrize(
    ("grammar", "text", "captured"),
    [
        ('start: a "!"\na[capture="x"]: /b+/', "bb!", (("x", "bb"),)),
        ('start: a "!"\na[capture]: /b+/', "b!", (("a", "b"),)),
        ('start: a /.*/\na[capture="x", suffix="--"]: /[a-z]*/', "ab--c", (("x", "ab"),)),
        ('start: a /.*/\na[capture="x", lazy]: /[a-z]*;/', "ab;c", (("x", "ab;"),)),
        ('start: a ";"\na[capture="x", stop=";"]: /[a-z;]*/', "ab;", (("x", "ab"),)),
        (
            'start: a /.*/\na[capture="x", suffix="--", stop_capture="s"]: /[a-z-]*/',
            "ab--c",
            (("x", "ab"), ("s", "--")),
        ),
        # The suffix ends the text at its first place, also where it overlaps itself.
        (
            'start: a /-*/\na[capture="x", suffix="--", stop_capture="s"]: /[a-z-]*/',
            "a---",
            (("x", "a"), ("s", "--")),
        ),
    ],
)
def test_captures(grammar: str, text: str, captured: Captured) -> None:
    assert readings(lowered(grammar).rules, text) == {captured}


@pytest.mark.parametrize(
    ("grammar", "place", "reason"),
    [
        ('start: "a"\n%ignore MISSING', (2, 9), "MISSING is not defined ("),
        ('start: "a"\n%ignore "b" (SPACES "c")\nSPACE: / /', (2, 14), "did you mean SPACE?"),
        ("start: a /.*/\na[suffix=end]: TEXT\nTEXT: /b/", (2, 10), "end is not defined ("),
        ('start: a "."\na[stop=ent]: /b/\nend: "c"', (2, 8), "did you mean end?"),
        ('start: t{"a"}\nt{mark}: u\nu[stop=mark]: /b/', (3, 8), "mark is not defined ("),
        ('start: t{"a"}\nt{mark}: mrak', (2, 10), "did you mean mark?"),
        ('a: "x"', (1, 1), "there is no rule 'start' to start with; there are: a"),
        ("start: b", (1, 8), "b is not defined"),
        ('start: "a"\nb: c', (2, 4), "c is not defined"),
        ("start: Word\nWORD: /a/", (1, 8), "did you mean WORD?"),
        ('start: t{"a"}\nt{x}: y', (2, 7), "y is not defined"),
        ('start: t{"a"}\nt{x, y}: x y', (1, 8), "t takes 2 arguments, not 1"),
        ("%declare X\nstart: X", (2, 8), "X is declared"),
        ("start: A\nA: b\nb: /x/", (2, 4), "a terminal can't contain the rule b"),
        ('start: A\nA: "(" A ")"', (2, 8), "A contains itself"),
        ("start: A\nA: %json {}", (2, 4), "not regular"),
        ("start: A\nA: <tool>", (2, 4), "a special token is no text"),
        ("start: A\nA: /a/ & /b/", (1, 8), "this matches no text"),
        ('start: a\na[capture="x", suffix=/-+/]: /b/', (2, 1), "one fixed string"),
        ("start: a\na[max_tokens=2, suffix=/-+/]: /b/", (2, 1), "one fixed string"),
        ("start: a\na[max_tokens=2]: /[a-z]*x/", (2, 1), "the texts of a can't end after every"),
        ("start: a\na[max_tokens=2]: %json {}", (2, 18), "not regular"),
        ("start: a\na[max_tokens=2]: /[a-z]*/\n%ignore / /", (2, 1), "together with %ignore"),
        ("start: a & /x*/\na[max_tokens=2]: /[a-z]*/", (1, 8), "within a terminal"),
    ],
)
def test_faults(grammar: str, place: tuple[int, int], reason: str) -> None:
    with pytest.raises(GrammarError) as caught:
        lowered(grammar)
    assert reason in str(caught.value)
    assert (caught.value.line, caught.value.column) == place


def test_all_undefined_names_are_listed_at_once() -> None:
    """In the order of the text, each once, with what it may mean."""
    grammar = 'start: "a" lit b\n%ignore WS\nb[stop=ent]: lit | WORT\nWORD: /b/\nlist: "c"'
    with pytest.raises(GrammarError) as caught:
        lowered(grammar)
    assert str(caught.value) == (
        "lit is not defined; did you mean list? Also undefined: WS (line 2), ent (line 3), "
        "WORT (line 3; did you mean WORD?) (line 1, column 12)\n"
        '  start: "a" lit b\n             ^'
    )
    many = "start: " + " ".join(f"x{n:03}" for n in range(30))
    with pytest.raises(GrammarError, match=r"x019 \(line 1\), x020 \(line 1\) and 9 more \(line 1"):
        lowered(many)


def test_options_of_a_template_take_its_arguments() -> None:
    grammar = 'start: until{"x"} "x" | until{";"} ";"\nuntil{mark}[stop=mark]: /[a-z;]*/'
    rules = lowered(grammar).rules
    assert [t for t in ("abx", "ab;", "a;bx", "axb;", "axbx") if readings(rules, t)] == [
        *("abx", "ab;", "a;bx", "axb;"),
    ]
    ended = lowered('start: until{"--"}\nuntil{mark}[capture="c", suffix=mark]: /[a-z]*/').rules
    assert readings(ended, "ab--") == {(("c", "ab"),)}


def test_limits() -> None:
    grammar = "start: a b\na: /a/\nb: /b/"
    assert readings(lowered(grammar, grammar_rules=3).rules, "ab")
    growing = 'start: t{"a"}\nt{x}: x | t{x x}'
    chain = "start: A\n" + "".join(f"{x}: {y}\n" for x, y in zip("ABCD", "BCDE", strict=True))
    nested = chain + "E: /e/"
    assert readings(lowered(nested, schema_depth=4).rules, "e")
    for text, limit, most in (
        (grammar, "grammar_rules", 2),
        (growing, "grammar_rules", 40),
        (nested, "schema_depth", 3),
    ):
        with pytest.raises(LimitError) as caught:
            lowered(text, **{limit: most})
        assert caught.value.limit == limit


def test_what_the_rules_were_made_from() -> None:
    found = lowered('start: a "x"\na: /y/\nb: c\nc: /z/\n%ignore " "')
    assert found.unused == ("b", "c")
    assert found.ignored is char(" ")
    assert set(found.without_ignored.values()) == {char("x"), char("y"), EPSILON}
    for together, alone in found.without_ignored.items():
        text = _text(alone)
        assert contains(together, text)
        assert contains(together, "  " + text)
    assert lowered("start: /a/").ignored is EMPTY
    assert lowered("start: /a/").without_ignored == {}


def _text(language: Regular) -> str:
    return next(text for text in ("", "x", "y") if contains(language, text))


def test_templates_that_use_each_other_twice_are_translated_once() -> None:
    templates = [f"t{n}{{y}}: t{n + 1}{{y}} | t{n + 1}{{y}}" for n in range(60)]
    text = "\n".join(('start[lazy]: t0{"x"}', *templates, "t60{y}: y"))
    [rule] = lowered(text).rules.rules.values()
    assert rule == lowered('start[lazy]: "x"').rules.rules["start"]


def test_arguments_that_grow_are_refused_in_terminals_too() -> None:
    templates = [f't{n}{{y}}: t{n + 1}{{(y | "{n}" y)}}' for n in range(60)]
    text = "\n".join(('start[lazy]: t0{"x"}', *templates, "t60{y}: y"))
    with pytest.raises(LimitError, match="arguments of a template grow too large"):
        lowered(text)
