"""Patterns with their options, choices and quotations, as masks and as refusals."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from maskwright import compile_choice, compile_regex, compile_substring
from maskwright.errors import InputError, LimitError, RegexError
from maskwright.limits import Limits
from tests.bounds import counted_calls
from tests.matching import EVERY_BYTE, matches, spelled, vocabulary
from tests.properties.exactness import check_exact

SMALL = vocabulary("ab", "a b", "ba", " a", "bb", "b.", alphabet="ab .")


@pytest.mark.parametrize(
    ("pattern", "options", "inside", "outside"),
    [
        ("b", {"search": True}, ["b", "abc", "\nb\n"], ["", "a"]),
        ("^b$", {"search": True}, ["b"], ["ab", "b\n"]),
        ("^b$", {"search": True, "flags": "m"}, ["b", "a\nb", "b\na", "a\nb\na"], ["ab", "ba"]),
        ("^b$", {"search": True, "flags": "m", "syntax": "python"}, ["a\nb\n"], ["a\rb"]),
        ("b$", {"search": True, "syntax": "python"}, ["b", "ab\n"], ["b\n\n", "ba"]),
        ("(?<=a)b", {"search": True}, ["ab", "xaby"], ["b", "bab"[:1]]),
        ("É.", {"flags": "is"}, ["é\n", "Éx"], ["e\n"]),
        ("s", {"flags": "i"}, ["S"], ["ſ"]),
        ("s", {"flags": "iu"}, ["S", "ſ"], []),
        ("(?i:a)b", {}, ["ab", "Ab"], ["aB"]),
        (r"\w+", {"syntax": "python"}, ["aé"], ["-"]),
        (r"\w+", {}, ["a"], ["é"]),
        ("a&b~", {}, ["a&b~"], ["a"]),
        ("[ab]*&~(.*aa.*)", {"algebra": True}, ["", "abab"], ["aab", "abc"]),
        ("~(a|b)c", {"algebra": True}, ["c", "abc", "xc"], ["ac", "bc"]),
        ("~a*", {"algebra": True}, ["", "bb", "aa", "ab"], []),
        (r"\b~(ab)\b&.{2}", {"algebra": True}, ["aa", "ba"], ["ab", "a", "a "]),
        (r"[a-z]+ & .*x.*", {"algebra": True}, [], ["ax"]),
        (r"a\&b\~", {"algebra": True}, ["a&b~"], ["a"]),
    ],
)
def test_options(
    pattern: str, options: dict[str, Any], inside: list[str], outside: list[str]
) -> None:
    if not inside:
        with pytest.raises(RegexError, match="matches no text"):
            compile_regex(pattern, EVERY_BYTE, **options)
        return
    grammar = compile_regex(pattern, EVERY_BYTE, **options)
    assert [s for s in inside + outside if matches(grammar, s)] == inside


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"syntax": "perl"}, "syntax"),
        ({"flags": "g"}, "flags"),
        ({"flags": "x"}, "flags"),
        ({"flags": "ii"}, "flags"),
        ({"flags": "L", "syntax": "python"}, "flags"),
        ({"flags": "v"}, "flags"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], param: str) -> None:
    with pytest.raises(InputError) as raised:
        compile_regex("a", EVERY_BYTE, **options)
    assert raised.value.param == param


@pytest.mark.parametrize("pattern", ["~", "a&~", "(~)", "~|a"])
def test_a_complement_of_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError, match="nothing to complement"):
        compile_regex(pattern, EVERY_BYTE, algebra=True)


def test_lookbehinds_are_limited() -> None:
    pattern = ".*(?<=a.{9})b"
    with pytest.raises(LimitError, match="lookbehind_states"):
        compile_regex(pattern, EVERY_BYTE, limits=Limits(lookbehind_states=64))


def test_a_choice() -> None:
    strings = ["ab", "a", "ba b", "ab"]
    grammar = compile_choice(strings, SMALL)
    check_exact(grammar, [s.encode() for s in strings], lambda data: data.decode() in strings)
    with pytest.raises(InputError, match="at least one"):
        compile_choice([], SMALL)
    with pytest.raises(InputError, match="strings has to be a list of strings, not 'ab'"):
        compile_choice("ab", SMALL)


def test_a_choice_of_a_hundred_thousand() -> None:
    strings = [f"entry {number * 7919 % 100_003:06} of the list" for number in range(100_000)]
    with counted_calls() as calls:
        grammar = compile_choice(strings, EVERY_BYTE)
        assert spelled(grammar.matcher()) == {b"e"}
    assert calls.count < 5 * len(strings)
    assert matches(grammar, strings[99_999])
    assert not matches(grammar, "entry 100003 of the list")
    assert grammar.min_tokens == len(strings[0])


DOCUMENT = "ab a.  bab.\nb a  \n"


def pieces(unit: str) -> set[str]:
    """By definition: all that lies between the beginning of one unit and the end of another."""
    found = {"char": r"(?s:.)", "word": r"\w+|[^\w\s]", "line": "[^\n]+"}[unit]
    spans = [each.span() for each in re.finditer(found, DOCUMENT)]
    return {DOCUMENT[a:b] for (a, _), (_, b) in product(spans, spans) if a < b}


@pytest.mark.parametrize("unit", ["char", "word", "line"])
def test_a_quotation(unit: Any) -> None:
    grammar = compile_substring(
        DOCUMENT, vocabulary("ab", " a", ".\n", alphabet="ab. \n"), unit=unit
    )
    expected = pieces(unit)
    check_exact(grammar, [s.encode() for s in expected], lambda data: data.decode() in expected)
    by_bytes = compile_substring(DOCUMENT, EVERY_BYTE, unit=unit)
    assert by_bytes.min_tokens == min(len(piece) for piece in expected)


def test_what_has_no_quotation() -> None:
    with pytest.raises(InputError, match="no word") as raised:
        compile_substring(" \n", EVERY_BYTE)
    assert raised.value.param == "document"
    with pytest.raises(InputError, match="unit is one of"):
        compile_substring("a", EVERY_BYTE, unit="page")  # type: ignore[arg-type]


def test_a_quotation_from_a_megabyte() -> None:
    document = "\n".join(f"Line {n}: the {n * n} of {n % 77}, é." for n in range(38_000))
    with counted_calls() as calls:
        grammar = compile_substring(document, EVERY_BYTE)
        assert matches(grammar, "Line 37999: the 1443924001")
    assert calls.count < len(document) / 100
    assert not matches(grammar, "Line 37999: the 1443924002")
    assert not matches(grammar, "ine 37999")
    assert matches(grammar, "of 76, é.\nLine")


@pytest.mark.parametrize(
    ("compiled", "param"),
    [
        (lambda: compile_choice(["a", "b\udcff"], EVERY_BYTE), "strings[1]"),
        (lambda: compile_choice(["\ud800"], EVERY_BYTE), "strings[0]"),
        (lambda: compile_substring("b\udcff c", EVERY_BYTE), "document"),
        (lambda: compile_substring("b\udcff c", EVERY_BYTE, unit="char"), "document"),
    ],
)
def test_what_no_text_holds_is_refused(compiled: Any, param: str) -> None:
    # As Python reads bytes that aren't UTF-8 from arguments and names of files.
    with pytest.raises(InputError, match=r"half of a surrogate pair .*character [01]\)") as raised:
        compiled()
    assert raised.value.param == param
