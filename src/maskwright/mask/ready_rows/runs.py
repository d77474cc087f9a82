"""Sets of characters that may be repeated in a text any number of times."""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.grammar.regular.character_classes import Split
from maskwright.grammar.regular.charset import LAST
from maskwright.grammar.regular.derivative import split
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Alt,
    Chars,
    Complement,
    Concat,
    Intersection,
    Regular,
    Repeat,
    Words,
    alt,
    concat,
    intersection,
)

FEWEST: Final = 12
"""The fewest characters of a set for which a row is computed."""


class CharacterSet(NamedTuple):
    """A set of characters: bit n of `low` for n < 64, bit n - 64 of `high` for 64 <= n < 128.
    `beyond`: whether it contains all characters outside ASCII, or none."""

    low: int
    high: int
    beyond: bool

    @property
    def size(self) -> int:
        return self.low.bit_count() + self.high.bit_count() + 128 * self.beyond

    def within(self, other: CharacterSet) -> bool:
        return (
            self.low & ~other.low == 0
            and self.high & ~other.high == 0
            and other.beyond >= self.beyond
        )


class CharacterRun(NamedTuple):
    """Texts of one character of `first` and then any number of characters of `later`."""

    first: CharacterSet
    later: CharacterSet


def widest_run(term: Regular) -> CharacterRun | None:
    """The run with the largest set of characters with which a text may go on."""
    if following(term) < FEWEST:
        return None
    found = split(_without_exceptions(term, {}))
    best: CharacterRun | None = None
    for target in found.targets:
        first = _letters(found, target)
        if first.size < (FEWEST if best is None else best.first.size + 1):
            continue
        later = _letters(split(target), target)
        if first.within(later):
            best = CharacterRun(first, later)
    return best


def following(term: Regular) -> int:
    """How many characters of ASCII a text may go on with, and 128 more if there are others: at
    least the size of its widest run."""
    found = split(term)
    return sum(high - low + 1 for low, high, _ in found.ascii) + 128 * bool(found.beyond)


def _without_exceptions(term: Regular, known: dict[Regular, Regular]) -> Regular:
    """`term` without the finitely many texts that are excluded at its end, as key words are no
    names.

    It has the same runs as `term`: a text in a run can be continued in it for ever, and so beyond
    the longest text that is excluded, or else it is all within what comes before that part of the
    term.

    `known`: what was found of parts of the term. Each is looked at once, since alternatives often
    end alike, and there are as many ways to an end as combinations of them.
    """
    found = known.get(term)
    if found is None:
        found = known[term] = _without_its_exceptions(term, known)
    return found


def _without_its_exceptions(term: Regular, known: dict[Regular, Regular]) -> Regular:
    match term:
        case Intersection(parts=parts):
            kept = [p for p in parts if not (isinstance(p, Complement) and _is_finite(p.body))]
            return intersection(*kept) if kept else term
        case Concat(head=head, tail=tail):
            return concat(head, _without_exceptions(tail, known))
        case Alt(options=options):
            return alt(*(_without_exceptions(option, known) for option in options))
        case _:
            return term


def _is_finite(term: Regular) -> bool:
    """Whether the form of a term shows that its language is finite."""
    match term:
        case Chars() | Words():
            return True
        case Concat():
            while isinstance(term, Concat):
                if not _is_finite(term.head):
                    return False
                term = term.tail
            return _is_finite(term)
        case Alt(options=options):
            return all(_is_finite(option) for option in options)
        case Intersection(parts=parts):
            return any(_is_finite(part) for part in parts)
        case Repeat(body=body, most=most):
            return most is not None and _is_finite(body)
        case _:
            return term is EMPTY or term is EPSILON


_ALL: Final = (1 << 64) - 1
_BEYOND: Final = (((0x80, LAST),), ((0x80, 0xD7FF), (0xE000, LAST)))
"""All characters outside ASCII; surrogates are in no text."""


def _letters(found: Split, target: Regular) -> CharacterSet:
    """Return the characters that lead to `target`."""
    bits = 0
    for low, high, after in found.ascii:
        if after is target:
            bits |= (1 << (high + 1)) - (1 << low)
    every = any(after is target and some.ranges in _BEYOND for some, after in found.beyond)
    return CharacterSet(bits & _ALL, bits >> 64, every)
