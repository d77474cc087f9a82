"""Reads special tokens in grammars, by name or id, and negated ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from maskwright.grammar.dialects.cursor import GrammarCursor
from maskwright.grammar.dialects.syntax import Either, Literal, Node, Special, Times
from maskwright.grammar.regular.charset import Ranges, ranges_of
from maskwright.grammar.regular.terms import ANY_CHAR

_RANGE: Final = re.compile(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*")


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The special tokens of a vocabulary: ids by name, and the ids that end a text."""

    names: Mapping[str, int] = field(default_factory=dict[str, int])
    ends: frozenset[int] = frozenset()

    @property
    def ids(self) -> list[int]:
        return sorted(set(self.names.values()) - self.ends)


def read_special(text: GrammarCursor, tokens: SpecialTokens, *, negative: bool = False) -> Node:
    """Read `<name>`, `<[1,3-5]>`, `<[^2]>` or `<[*]>`; the cursor stands at the `<`, or at a `!`
    before it.

    A negated token must be repeated. It stands for any other special token or piece of text, and a
    single piece of text might have any length.
    """
    start = text.at
    if negative:
        text.at += 1
    text.at += 1
    if text.take("["):
        inverse = negative
        if text.take("*"):
            wanted: Ranges = ()
            inverse = not inverse
        else:
            inverse ^= text.take("^")
            wanted = _ranges(text)
        if not text.take("]>"):
            text.fail("a token id is written <[5]>, ids <[5,7-9]>")
        known = [number for number in tokens.ids if _holds(wanted, number)]
        if not known and not inverse:
            text.fail("none of these ids is a special token; write the text of others", start)
    else:
        close = text.text.find(">", text.at)
        name = text.text[start + negative : close + 1] if close > text.at else ""
        if not name or "\n" in name:
            text.fail("a special token is written <name> or <[id]>", start)
        text.at = close + 1
        inverse = negative
        number = tokens.names.get(name)
        if number is None:
            text.fail(f"the vocabulary has no special token {name}{_known(tokens)}", start)
        if number in tokens.ends:
            text.fail(
                f"{name} ends the text; leave it out, it may follow where the grammar ends", start
            )
        known = [number]
    if inverse:
        return any_special_but(text, tokens, known, start)
    return Special(ranges_of(known), start)


def any_special_but(
    text: GrammarCursor, tokens: SpecialTokens, excluded: list[int], start: int
) -> Node:
    """Read the quantifier of a negated token; return texts and special tokens without those that
    are `excluded`. `start`: the place of the token."""
    quantifier = text.peek()
    if quantifier not in ("*", "+") or not quantifier:
        text.fail(
            "a token that is not one of some can't be counted; repeat it: !<…>* or <[^…]>+", start
        )
    text.at += 1
    others = [number for number in tokens.ids if number not in excluded]
    character = Literal(ANY_CHAR, start)
    body: Node = Either((character, Special(ranges_of(others), start))) if others else character
    return Times(body, int(quantifier == "+"), None)


def _ranges(text: GrammarCursor) -> Ranges:
    ranges: list[tuple[int, int]] = []
    while True:
        one = text.match(_RANGE)
        if one is None:
            text.fail("a token id is a number")
        low = int(one[1])
        high = int(one[2]) if one[2] else low
        if high < low:
            text.fail("the bounds of a range of ids are in the wrong order", one.start())
        ranges.append((low, high))
        if not text.take(","):
            return tuple(ranges)


def _holds(ranges: Ranges, number: int) -> bool:
    return any(low <= number <= high for low, high in ranges)


def _known(tokens: SpecialTokens) -> str:
    if not tokens.names:
        return ": it has none with a name"
    names = sorted(tokens.names, key=lambda name: tokens.names[name])
    return f"; it has {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"
