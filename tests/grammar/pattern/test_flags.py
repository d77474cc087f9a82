"""Flags: which letters set what in each syntax, how case is compared, and what is refused."""

from __future__ import annotations

from typing import NoReturn

import pytest

from maskwright.grammar.pattern.characters import Casing
from maskwright.grammar.pattern.flags import Flags, Syntax


def fail(reason: str) -> NoReturn:
    raise ValueError(reason)


@pytest.mark.parametrize(
    ("before", "letters", "without", "after"),
    [
        (Flags(), "", "", Flags()),
        (Flags(), "ims", "", Flags(ignore_case=True, multiline=True, dot_all=True)),
        (Flags(), "u", "", Flags(unicode=True)),
        (Flags(ignore_case=True), "s", "i", Flags(dot_all=True)),
        (Flags("python"), "x", "", Flags("python", verbose=True)),
        (Flags("python", unicode=True), "a", "", Flags("python", ascii=True)),
        (Flags("python", ascii=True), "u", "", Flags("python", unicode=True)),
        (Flags("python", multiline=True), "", "m", Flags("python")),
    ],
)
def test_letters_set_and_clear_flags(
    before: Flags, letters: str, without: str, after: Flags
) -> None:
    assert before.having(letters, fail, without=without) == after


@pytest.mark.parametrize(
    ("syntax", "letters", "without", "scoped", "message"),
    [
        ("ecma", "x", "", False, "there is no flag 'x' here; there are i, m, s, u"),
        ("ecma", "u", "", True, "there is no flag 'u'"),
        ("ecma", "g", "", False, "the flag g says how matches are used"),
        ("ecma", "v", "", False, "the flag v changes the syntax"),
        ("ecma", "ii", "", False, "the flag i is given twice"),
        ("python", "i", "i", True, "the flag i is given twice"),
        ("python", "L", "", False, "the flag L depends on the locale"),
        ("python", "au", "", False, "a and u exclude each other"),
    ],
)
def test_a_letter_is_refused(
    syntax: Syntax, letters: str, without: str, scoped: bool, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Flags(syntax).having(letters, fail, without=without, scoped=scoped)


@pytest.mark.parametrize(
    ("flags", "casing"),
    [
        (Flags(), None),
        (Flags(unicode=True), None),
        (Flags(ignore_case=True), "ecma"),
        (Flags(ignore_case=True, unicode=True), "unicode"),
        (Flags("python", ignore_case=True), "python"),
        (Flags("python", ignore_case=True, ascii=True), "ascii"),
    ],
)
def test_how_case_is_compared(flags: Flags, casing: Casing | None) -> None:
    assert flags.casing == casing
