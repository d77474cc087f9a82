"""Reads tokens in grammars, by name or id, and negated ones.

A grammar describes texts, and special tokens beside their characters. Any other token stands for
its text, in whichever tokens that is written; a negated one for its absence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from maskwright.grammar.dialects.cursor import GrammarCursor
from maskwright.grammar.dialects.syntax import Literal, Node, Series, Special, Times, either
from maskwright.grammar.pattern.cursor import count_of
from maskwright.grammar.regular.charset import Ranges, ranges_of
from maskwright.grammar.regular.terms import ANY_CHAR, EPSILON, complement, intersection, words
from maskwright.grammar.tags.free_text import text_without
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, spend

_RANGE: Final = re.compile(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*")
NOT_EMPTY: Final = complement(EPSILON)


@dataclass(frozen=True)
class GrammarTokens:
    """The tokens that a grammar may name: the ids of special tokens by name, the ids that end a
    text, and the bytes of each token by id, which are empty for special tokens."""

    names: Mapping[str, int] = field(default_factory=dict[str, int])
    ends: frozenset[int] = frozenset()
    texts: Sequence[bytes] = ()

    @cached_property
    def ids(self) -> frozenset[int]:
        """The special tokens that may stand within a text."""
        return frozenset(self.names.values()) - self.ends

    @cached_property
    def size(self) -> int:
        """A number above all ids."""
        return max((len(self.texts), *(number + 1 for number in self.ids)))

    @cached_property
    def by_text(self) -> dict[bytes, int]:
        """The lowest id of the tokens with some bytes."""
        spend(CHEAP * len(self.texts))
        last = len(self.texts) - 1
        return dict(zip(reversed(self.texts), range(last, -1, -1), strict=True))


class ChosenTokens(Acyclic):
    """Tokens that a grammar names: the ids of the special ones, and the texts of all others."""

    special: frozenset[int]
    texts: tuple[str, ...]


def read_token(text: GrammarCursor, tokens: GrammarTokens, *, negative: bool = False) -> Node:
    """Read `<name>`, `<[1,3-5]>`, `<[^2]>` or `<[*]>`; the cursor stands at the `<`, or at a `!`
    before it.

    A negated token must be repeated. It stands for any other special token or piece of text, and a
    single piece of text might have any length.
    """
    start = text.at
    text.at += 1 + negative
    if text.take("["):
        inverse = negative
        wanted: list[int] = []
        if text.take("*"):
            inverse = not inverse
        else:
            inverse ^= text.take("^")
            wanted = _within(_ranges(text), tokens)
        if not text.take("]>"):
            text.fail("a token id is written <[5]>, ids <[5,7-9]>")
    else:
        inverse = negative
        wanted = [_named(text, tokens, start, start + negative)]
    chosen = chosen_tokens(text, tokens, wanted, start)
    return any_but(text, tokens, chosen, start) if inverse else one_of(text, chosen, start)


def chosen_tokens(
    text: GrammarCursor, tokens: GrammarTokens, wanted: Iterable[int], start: int
) -> ChosenTokens:
    """Return the tokens with the ids `wanted`, leaving out those that no text within a grammar
    contains: end tokens and unused ids. `start`: the place where they are named."""
    special = tokens.ids.intersection(wanted)
    texts: list[str] = []
    for number in wanted:
        spend(CHEAP)
        data = tokens.texts[number] if number < len(tokens.texts) else b""
        if number in special or not data:
            continue
        try:
            texts.append(data.decode())
        except UnicodeDecodeError:
            text.fail(f"token {number} is a part of a character, so it is no text", start)
    return ChosenTokens(special, tuple(texts))


def one_of(text: GrammarCursor, chosen: ChosenTokens, start: int) -> Node:
    """Return one of the special tokens, or the text of one of the others."""
    options: list[Node] = []
    if chosen.special:
        options.append(Special(ranges_of(chosen.special), start))
    if chosen.texts:
        options.append(Literal(words(chosen.texts), start))
    if not options:
        text.fail(
            "none of these ids is a token within a text; an end token may follow where the grammar "
            "ends",
            start,
        )
    return either(options)


def any_but(text: GrammarCursor, tokens: GrammarTokens, chosen: ChosenTokens, start: int) -> Node:
    """Read the quantifier of a negated token; return texts and special tokens without those that
    are `chosen`, whose texts don't occur. `start`: the place where they are named."""
    quantifier = text.peek()
    if quantifier not in ("*", "+") or not quantifier:
        text.fail(
            "a token that is not one of some can't be counted; repeat it: !<…>* or <[^…]>+", start
        )
    text.at += 1
    others = tokens.ids - chosen.special
    spend(CHEAP * len(others))
    if not chosen.texts:
        character = Literal(ANY_CHAR, start)
        body = either([character, Special(ranges_of(others), start)]) if others else character
        return Times(body, int(quantifier == "+"), None)
    language = text_without(chosen.texts)
    piece = Literal(language, start)
    first = piece if quantifier == "*" else Literal(intersection(language, NOT_EMPTY), start)
    if not others:
        return first
    more = Series((Special(ranges_of(others), start), piece))
    if quantifier == "*":
        return Series((piece, Times(more, 0, None)))
    return Series((either([first, more]), Times(more, 0, None)))


def _ranges(text: GrammarCursor) -> Ranges:
    ranges: list[tuple[int, int]] = []
    while True:
        one = text.match(_RANGE)
        if one is None:
            text.fail("a token id is a number")
        low = count_of(one[1])
        high = count_of(one[2]) if one[2] else low
        if high < low:
            text.fail("the bounds of a range of ids are in the wrong order", one.start())
        ranges.append((low, high))
        if not text.take(","):
            return tuple(ranges)


def _within(ranges: Ranges, tokens: GrammarTokens) -> list[int]:
    """Return the ids in `ranges` that tokens have, in order. Each is visited once, in however many
    ranges it is."""
    found: list[int] = []
    first = 0
    for low, high in sorted(ranges):
        found += range(max(low, first), min(high + 1, tokens.size))
        first = max(first, high + 1)
    return found


def _named(text: GrammarCursor, tokens: GrammarTokens, start: int, opened: int) -> int:
    """Read the rest of a token's name, whose `<` is at `opened`; return its id."""
    close = text.text.find(">", text.at)
    name = text.text[opened : close + 1] if close > text.at else ""
    if not name or "\n" in name:
        text.fail("a token is written <name> or <[id]>", start)
    text.at = close + 1
    number = tokens.names.get(name)
    if number in tokens.ends:
        text.fail(
            f"{name} ends the text; leave it out, it may follow where the grammar ends", start
        )
    if number is not None:
        return number
    number = tokens.by_text.get(name.encode(errors="surrogatepass"))
    if number is None:
        text.fail(f"the vocabulary has no token {name}{_known(tokens)}", start)
    return number


def _known(tokens: GrammarTokens) -> str:
    if not tokens.names:
        return ", and no special tokens with names"
    names = sorted(tokens.names, key=lambda name: tokens.names[name])
    return f"; its special tokens are {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"
