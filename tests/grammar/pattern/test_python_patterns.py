"""Patterns in Python's syntax against Python's `re`: random ones, and what each construct reads."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import pytest

from maskwright.errors import RegexError
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.translate import full_match, search
from maskwright.grammar.regular.derivative import contains

ALPHABET = "aB\n é"
STRINGS = ["".join(s) for size in range(5) for s in product(ALPHABET, repeat=size)]
PYTHON = Flags(syntax="python")

_ATOMS = (
    *("a", "b", "B", "é", "É", ".", " ", "\\n", r"\w", r"\W", r"\s", r"\S", r"\d", "[ab]", "[^a]"),
    *(
        "[é-ü]",
        r"[\w-]",
        r"\x61",
        r"\u00e9",
        r"\N{LATIN SMALL LETTER E WITH ACUTE}",
        r"\141",
        "[]b]",
    ),
)
_QUANTIFIERS = ("*", "+", "?", "{2}", "{1,2}", "{,1}", "{2,}", "*?", "+?", "??")
_ASSERTIONS = ("^", "$", r"\b", r"\A", r"\Z")
_FLAGS = ("i", "m", "s", "a", "im", "i-s", "-i", "x")
_BEHIND = ("a", "B", "[aé]", r"\w", r"\s", "ab", "^", r"\ba", r"(?<!a)b", "a.", "[^b][ab]")


def pattern(random: Random, size: int) -> str:
    if size <= 1:
        return random.choice(_ATOMS)
    left = random.randint(1, size - 1)
    match random.randrange(13):
        case 0 | 1 | 2:
            return pattern(random, left) + pattern(random, size - left)
        case 3:
            return f"(?:{pattern(random, left)}|{pattern(random, size - left)})"
        case 4 | 5:
            return f"({pattern(random, size - 1)}){random.choice(_QUANTIFIERS)}"
        case 6:
            return f"(?={pattern(random, left)}){pattern(random, size - left)}"
        case 7:
            return f"(?!{pattern(random, left)}){pattern(random, size - left)}"
        case 8:
            return random.choice(_ASSERTIONS) + pattern(random, size - 1)
        case 9:
            return pattern(random, size - 1) + random.choice(_ASSERTIONS)
        case 10:
            return f"(?<={random.choice(_BEHIND)}){pattern(random, size - 1)}"
        case 11:
            return pattern(random, size - 1) + f"(?<!{random.choice(_BEHIND)})"
        case _:
            return f"(?{random.choice(_FLAGS)}:{pattern(random, size - 1)})"


CASES = [
    ("".join(random.sample("aims", random.choice((0, 0, 1, 2)))), pattern(random, 3 + seed % 4))
    for seed in range(400)
    for random in [Random(seed)]
]


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
@pytest.mark.parametrize(("letters", "text"), dict.fromkeys(CASES))
def test_random_patterns(letters: str, text: str) -> None:
    number = 0
    for letter in letters:
        number |= getattr(re, letter.upper())
    compiled = re.compile(text, number)
    flags = PYTHON.having(letters, pytest.fail)
    whole, anywhere = full_match(text, flags=flags), search(text, flags=flags)
    assert [s for s in STRINGS if contains(whole, s)] == [
        s for s in STRINGS if compiled.fullmatch(s)
    ]
    assert [s for s in STRINGS if contains(anywhere, s)] == [
        s for s in STRINGS if compiled.search(s)
    ]


READ = [
    ("a{,2}", ["", "a", "aa"], ["aaa", "a{,2}"]),
    ("[]a]", ["]", "a"], ["b"]),
    ("[^]a]", ["b"], ["]", "a"]),
    (r"\07\101\x41\u0041\U00000041", ["\x07AAAA"], []),
    (r"[\101-\103\0]", ["A", "B", "C", "\0"], ["D"]),
    (r"\d", ["7", "٣"], ["²"]),
    (r"\w", ["é", "²", "_", "中"], ["-", "\u0301"]),
    (r"(?a:\w)", ["a"], ["é"]),
    (r"\s", [" ", "\x1c", "\u2028", "\x85"], ["\ufeff"]),
    ("a$", ["a"], ["a\n"]),
    ("a$\n?", ["a", "a\n"], []),
    (r"a\Z\n?", ["a"], ["a\n"]),
    (".", ["\r", "\u2028"], ["\n"]),
    ("(?i)straße", ["STRAßE", "straẞe"], ["strasse"]),
    ("(?i)k", ["k", "K", "\u212a"], []),
    ("(?ai)k", ["k", "K"], ["\u212a"]),
    ("(?x) a b # comment\n c", ["abc"], ["a b c"]),
    (r"(?x)a\ b[ ]c", ["a b c"], ["abc"]),
    ("a(?#comment)b", ["ab"], []),
    ("(?P<n>a)(?:b)", ["ab"], []),
    ("a +(?x: +)b", [], []),
]


@pytest.mark.parametrize(("text", "inside", "outside"), READ, ids=[r[0] for r in READ])
def test_read(text: str, inside: list[str], outside: list[str]) -> None:
    try:
        re.compile(text)
    except re.error:
        with pytest.raises(RegexError):
            full_match(text, flags=PYTHON)
        return
    assert [s for s in inside + outside if re.fullmatch(text, s)] == inside
    term = full_match(text, flags=PYTHON)
    assert [s for s in inside + outside if contains(term, s)] == inside


REFUSED = [
    (r"(a)\1", 3, "back-references"),
    ("(?P<n>a)(?P=n)", 8, "back-references"),
    ("(a)?(?(1)b|c)", 4, "conditional"),
    ("(?>a|ab)c", 0, "atomic"),
    ("a*+b", 2, "possessive"),
    ("a(?R)?b", 1, "recursion"),
    ("(a(?1)?b)", 2, "recursion"),
    ("a(?i)b", 1, "start"),
    ("(?L:a)", 0, "locale"),
    ("(?au:a)", 0, "exclude"),
    ("(?z:a)", 0, "no flag 'z'"),
    ("(?<=a$)b", 0, "lookbehind"),
    (r"[\w-a]", 1, "range"),
    (r"\q", 0, "unknown escape"),
    (r"\400", 0, "377"),
    (r"\N{NO SUCH THING}", 0, "NO SUCH THING"),
]


@pytest.mark.parametrize(("text", "position", "reason"), REFUSED, ids=[r[0] for r in REFUSED])
def test_refused(text: str, position: int, reason: str) -> None:
    with pytest.raises(RegexError, match=re.escape(reason)) as raised:
        full_match(text, flags=PYTHON)
    assert raised.value.position == position
