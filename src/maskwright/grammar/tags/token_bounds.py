"""Checks where in a structural tag the number of tokens of a text can be bounded.

To count the tokens of a text, its beginning and its end must be unambiguous: it begins at the
beginning of the output or after marks, and ends at the end of the output or at a mark. (Marks are
constant strings and tokens, such as the beginning and the end of a tag.)
"""

from __future__ import annotations

from maskwright.errors import StructuralTagError
from maskwright.grammar.tags.tree import (
    AnyText,
    AnyToken,
    AnyTokens,
    ConstString,
    Format,
    GrammarText,
    JsonSchemaText,
    Or,
    RegexText,
    Repeated,
    SeparatedTags,
    Tag,
    TagSequence,
    Token,
    TriggeredTags,
)


def check_token_bounds(format: Format) -> None:
    """Raise `StructuralTagError` for a bounded text whose tokens can't be counted."""
    _check(format, begins=True, ends=True)


def _check(format: Format, *, begins: bool, ends: bool) -> None:
    """`begins`, `ends`: whether the beginning and the end of `format` are unambiguous."""
    match format:
        case AnyText() | AnyTokens() | AnyToken():
            _check_text(format, begins, ends)
        case TagSequence(elements=elements):
            for at, element in enumerate(elements):
                last = at == len(elements) - 1
                _check(element, begins=begins, ends=ends and last)
                begins = begins and _is_mark(element)
        case Or(elements=elements):
            for element in elements:
                _check(element, begins=begins, ends=ends)
        case Repeated(content=content):
            _check(content, begins=begins and _is_mark(content), ends=False)
        case Tag():
            _check_tag(format, begins, ends)
        case TriggeredTags(tags=tags):
            for tag in tags:
                _check_tag(tag, True, False)
        case SeparatedTags(tags=tags):
            for tag in tags:
                _check_tag(tag, begins, False)
        case ConstString() | JsonSchemaText() | RegexText() | GrammarText() | Token():
            pass


def _check_text(text: AnyText | AnyTokens | AnyToken, begins: bool, ends: bool) -> None:
    what = "exclude_token" if isinstance(text, AnyToken) else "max_tokens"
    is_bounded = isinstance(text, AnyToken) or text.max_tokens is not None
    if is_bounded and not (begins and ends):
        raise StructuralTagError(
            f"{what} can't be counted where it isn't certain where the text "
            f"{'ends' if begins else 'begins'}; put it into a tag with a begin and an end, "
            "after nothing but tags",
            pointer=text.pointer,
        )


def _check_tag(tag: Tag, begins: bool, ends: bool) -> None:
    _check(tag.content, begins=begins, ends=ends if tag.ends == ("",) else True)


def _is_mark(format: Format) -> bool:
    """Whether the end of `format` is unambiguous if its beginning is."""
    match format:
        case ConstString(value=value):
            return value != ""
        case Token():
            return True
        case Tag(ends=marks):
            return marks != ("",)
        case _:
            return False
