"""Where a text may be bounded by a number of tokens: where it begins and ends with certainty."""

from __future__ import annotations

import pytest

from maskwright.errors import StructuralTagError
from maskwright.grammar.tags.rules import check_token_bounds
from maskwright.grammar.tags.tree import (
    AnyText,
    AnyTokens,
    ConstString,
    Format,
    Or,
    RegexText,
    Repeated,
    SeparatedTags,
    Tag,
    TagSequence,
    Token,
    TriggeredTags,
)

TEXT = AnyText(max_tokens=3, pointer="/here")
MARK, REGEX = ConstString("x"), RegexText("a*", "")
TAG = Tag("<a>", TEXT, ("</a>",), "")
OPEN_TAG = Tag("<a>", TEXT, ("",), "")


def sequence(*elements: Format) -> TagSequence:
    return TagSequence(elements)


@pytest.mark.parametrize(
    "format",
    [
        TEXT,
        AnyTokens((), 3, ""),
        TAG,
        OPEN_TAG,
        Or((TEXT, MARK)),
        sequence(MARK, TEXT),
        sequence(Token(1, ""), TAG, TEXT),
        sequence(AnyText(), MARK),
        sequence(TAG, REGEX),
        Repeated(TAG, 0, None),
        TriggeredTags(("<a",), (TAG,), False, False, ()),
        SeparatedTags((TAG,), ",", False, False),
    ],
)
def test_a_text_with_certain_ends_may_be_bounded(format: Format) -> None:
    check_token_bounds(format)


@pytest.mark.parametrize(
    ("format", "end"),
    [
        (sequence(TEXT, MARK), "ends"),
        (sequence(REGEX, TEXT), "begins"),
        (sequence(ConstString(""), TEXT), "begins"),
        (sequence(OPEN_TAG, MARK), "ends"),
        (sequence(MARK, REGEX, TEXT), "begins"),
        (sequence(REGEX, TAG), "begins"),
        (Repeated(TEXT, 1, 2), "begins"),
        (Repeated(OPEN_TAG, 1, 2), "begins"),
        (Or((MARK, sequence(REGEX, TEXT))), "begins"),
        (TriggeredTags(("<a",), (OPEN_TAG,), False, False, ()), "ends"),
        (SeparatedTags((OPEN_TAG,), ",", False, False), "ends"),
        (sequence(REGEX, AnyTokens((), 3, "/here")), "begins"),
    ],
)
def test_another_is_refused(format: Format, end: str) -> None:
    with pytest.raises(StructuralTagError, match=f"where the text {end}") as caught:
        check_token_bounds(format)
    assert caught.value.pointer == "/here"
