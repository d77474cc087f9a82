from __future__ import annotations

import pytest

from maskwright.workbench.characters import CharacterRanges
from maskwright.workbench.words import in_words

BEYOND = ((0x80, 0xD7FF), (0xE000, 0x10FFFF))


@pytest.mark.parametrize(
    ("ranges", "may_end", "words"),
    [
        ((), False, "nothing"),
        ((), True, "end of text"),
        (((48, 57),), True, "0-9, end of text"),
        (
            ((9, 10), (13, 13), (32, 32), (44, 44), (125, 125)),
            False,
            "tab, line break, carriage return, space, ',', '}'",
        ),
        (((102, 102), (116, 116)), False, "f, t"),
        (((97, 99),), False, "a-c"),
        (((34, 34), *BEYOND), False, "'\"', any character beyond ASCII"),
        (((34, 34), (0xE9, 0xE9)), False, "'\"', é"),
        (((0x3B1, 0x3C9),), False, "α-ω"),
        (((0x20, 0xD7FF), (0xE000, 0x10FFFF)), False, "any character"),
        (((0, 0xD7FF), (0xE000, 0x10FFFF)), True, "any character, end of text"),
        (((0x20, 0xD7FF),), False, "space-\\x7f, U+0080-U+D7FF"),
        (((1, 1),), False, "\\x01"),
    ],
)
def test_sets_in_words(ranges: tuple[tuple[int, int], ...], may_end: bool, words: str) -> None:
    assert in_words(CharacterRanges(ranges), may_end) == words


def test_long_sets_are_cut_but_the_end_is_reported() -> None:
    many = CharacterRanges(tuple((code, code) for code in range(0, 0x80, 4)))
    assert in_words(many, True).endswith("…, end of text")


def test_what_is_not_known_is_said() -> None:
    assert in_words(CharacterRanges(((97, 97),), is_exact=False), False) == (
        "a, some characters beyond ASCII"
    )
    assert in_words(CharacterRanges((), False, True), False) == "the rest of a UTF-8 character"
