"""Simpler languages whose strings begin alike, and how far it is from any beginning to an end.

Which tokens may stand somewhere depends on no more characters than the longest of them has. So a
counter that can't run out within as many characters need not be counted: `[a-z]{3,90}x` may begin
with the same 20 characters wherever 40 or 60 of the 90 are left.
"""

from __future__ import annotations

from typing import Final

from maskwright.grammar.regular.charset import most_readable
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    LONGEST_ESCAPE,
    Alt,
    Chars,
    Concat,
    CountingSet,
    ExactlyOne,
    Intersection,
    LengthBounded,
    Regular,
    Repeat,
    Scale,
    State,
    Tagged,
    Weighed,
    Words,
    alt,
    concat,
    counting_set,
    repeat,
    sequence,
    state,
)
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, spend

ENDLESS: Final = 1 << 30
"""More characters than any bound on lengths asks for."""
_OUT_OF_REACH: Final = state(("out of reach",), nullable=False, moves=list, plain=True)
"""What stands for all that no text of the length in question reaches."""


def beginning_alike(term: Regular, most: int) -> Regular:
    """A term whose strings have the same beginnings of up to `most` characters as the strings of
    `term`.

    `term` is plain: each text that it can read is the beginning of one of its strings. The strings
    of up to `most` - 1 characters are the same in both, so that parts can be replaced one by one.
    """
    assert term.plain
    return _Beginnings().alike(term, most)


class _Beginnings:
    """What `beginning_alike` has found of the parts of one term: a part may occur in many places,
    and so on within it."""

    def __init__(self) -> None:
        self._known: dict[tuple[Regular, int], Regular] = {}

    def alike(self, term: Regular, most: int) -> Regular:
        """See `beginning_alike`."""
        if span(term) <= most:
            return term
        key = term, max(most, 0)
        known = self._known.get(key)
        if known is None:
            spend()
            known = self._known[key] = self._find(term, most) if most > 0 else _OUT_OF_REACH
        return known

    def _find(self, term: Regular, most: int) -> Regular:
        match term:
            case Concat():
                parts: list[Regular] = []
                while isinstance(term, Concat) and most > 0:
                    parts.append(self.alike(term.head, most))
                    most -= least_length(term.head)
                    term = term.tail
                return concat(*parts, self.alike(term, most))
            case Repeat(body=body, least=least, most=rounds):
                each = max(1, least_length(body))
                simpler = self.alike(body, most)
                if least * each >= most:
                    return concat(repeat(simpler), _OUT_OF_REACH)
                endless = rounds is None or rounds * each >= most
                return repeat(simpler, least, None if endless else rounds)
            case CountingSet(body=body, counts=counts, tail=tail):
                options = [concat(repeat(body), _OUT_OF_REACH)] if counts >> most else []
                near = counts & ((1 << most) - 1)
                if near:
                    fewest = (near & -near).bit_length() - 1
                    options.append(counting_set(body, near, self.alike(tail, most - fewest)))
                return alt(*options)
            case Alt(options=options):
                return alt(*(self.alike(option, most) for option in options))
            case _:
                return term


def span(term: Regular) -> int:
    """How many characters suffice for a plain term to be all that begins like it: after so many,
    its counters have run out and its parts have begun. An upper bound, by its look."""
    if term.span is None:
        term.span = _span(term)
    return term.span


def _span(term: Regular) -> int:
    spend(CHEAP)
    match term:
        case Concat():
            before = most = 0
            for part in sequence(term):
                most = max(most, before + span(part))
                before += least_length(part)
            return most
        case Repeat(body=body, least=least, most=rounds):
            count = least if rounds is None else max(least, rounds)
            return max(span(body), count * max(1, least_length(body)) + 1)
        case CountingSet(counts=counts, tail=tail):
            return counts.bit_length() + span(tail)
        case Alt(options=options):
            return max(map(span, options))
        case _:
            return 1


def least_length(term: Regular) -> int:
    """A lower bound on the characters of a term's strings, by its look."""
    if term.nullable:
        return 0
    if term.least_length is None:
        term.least_length = _least_length(term)
    return term.least_length


def _least_length(term: Regular) -> int:
    match term:
        case Words(table=table, low=low, high=high, depth=depth):
            return min(len(table.strings[at]) for at in range(low, high)) - depth
        case Concat():
            return sum(map(least_length, sequence(term)))
        case Repeat(body=body, least=least):
            return least * least_length(body)
        case CountingSet(counts=counts, tail=tail):
            return (counts & -counts).bit_length() - 1 + least_length(tail)
        case Alt(options=options) | ExactlyOne(options=options):
            return min(map(least_length, options))
        case Intersection(parts=parts):
            return max(map(least_length, parts))
        case LengthBounded(core=core, least=least):
            return max(least, least_length(core))
        case State(shortest=str(shortest)):
            return len(shortest)
        case _:
            return 1


def surely_fits(term: LengthBounded) -> bool:
    """Whether the look of a term shows that one of its strings has a length within the bounds: the
    shortest, or one with any beginning of the least length."""
    core, least, most = term.core, term.least, term.most
    way = way_to_end(core) if core.plain else None
    if way is None or term.nullable:
        return term.nullable
    length = way.shortest
    if least_length(core) < least:
        if longest(core) < least:
            return False
        length = least + way.farthest
    return most is None or length <= most


def longest(term: Regular) -> int:
    """A lower bound on the length of a plain term's longest string, by its look; ENDLESS if there
    is none."""
    if term.longest is None:
        term.longest = _longest(term)
    return term.longest


def _longest(term: Regular) -> int:
    spend(CHEAP)
    match term:
        case Chars():
            return 1
        case Words(table=table, low=low, high=high, depth=depth):
            return max(len(table.strings[at]) for at in range(low, high)) - depth
        case Concat():
            return min(sum(map(longest, sequence(term))), ENDLESS)
        case Repeat(body=body, least=least, most=rounds):
            each = longest(body)
            return min(each * (ENDLESS if rounds is None else max(least, rounds)), ENDLESS)
        case CountingSet(counts=counts, tail=tail):
            return counts.bit_length() - 1 + longest(tail)
        case Alt(options=options):
            return max(map(longest, options))
        case _:
            return 0


def least_weight(term: Regular, scale: Scale) -> int:
    """What the shortest string of a plain term weighs, by its look: of a `State` it is known, all
    else is put together from its parts."""
    if term.nullable:
        return 0
    match term:
        case State(weight=weight):
            return weight
        case Chars(ranges=ranges):
            return 1 if ranges[0][0] < 0x80 else scale.beyond
        case Concat(head=head, tail=tail):
            return least_weight(head, scale) + least_weight(tail, scale)
        case Repeat(body=body, least=least):
            return least * least_weight(body, scale)
        case Alt(options=options):
            return min(least_weight(option, scale) for option in options)
        case _:
            raise AssertionError(f"{type(term).__name__} is not weighed")


class WayToEnd(Acyclic):
    """Upper bounds on bytes, as JSON spells them."""

    shortest: int
    """Of a shortest string."""
    farthest: int
    """Of what a shortest string adds to any beginning of one."""


def farthest(term: Regular) -> int | None:
    """An upper bound on the bytes, as JSON spells them, from any beginning of a string of a plain
    or weighed term to an end; None if its look doesn't show it. As many characters suffice, too."""
    core = term.core if isinstance(term, Weighed) else term
    way = way_to_end(core) if core.plain else None
    return None if way is None else way.farthest


def way_to_end(term: Regular) -> WayToEnd | None:
    """How far it is to an end in a plain term; None if its look doesn't show it."""
    if term.way is None:
        term.way = _way_to_end(term) or ()
    return term.way or None


def _way_to_end(term: Regular) -> WayToEnd | None:
    match term:
        case Chars(ranges=ranges):
            size = _spelled(most_readable(ranges))
            return WayToEnd(size, size)
        case Words(table=table, low=low, high=high, depth=depth):
            longest = max(len(table.strings[at]) for at in range(low, high))
            size = table.widest * (longest - depth)
            return WayToEnd(size, size)
        case Concat():
            return _one_after_the_other(sequence(term))
        case Repeat(body=body, least=least):
            each = way_to_end(body)
            return each and WayToEnd(
                least * each.shortest, each.farthest + max(0, least - 1) * each.shortest
            )
        case CountingSet(body=body, counts=counts, tail=tail):
            each, rest = way_to_end(body), way_to_end(tail)
            if each is None or rest is None:
                return None
            rounds = (counts & -counts).bit_length() - 1, counts.bit_length() - 1
            shortest, longest = (n * each.shortest + rest.shortest for n in rounds)
            return WayToEnd(shortest, max(longest, rest.farthest))
        case Alt(options=options) | Tagged(parts=options):
            ways = [way_to_end(option) for option in options if option is not EMPTY]
            known = [way for way in ways if way is not None]
            if len(known) < len(ways):
                return None
            return WayToEnd(max(w.shortest for w in known), max(w.farthest for w in known))
        case State(to_end=size) if size is not None:
            return WayToEnd(size, size)
        case _:
            return WayToEnd(0, 0) if term is EPSILON else None


def _one_after_the_other(parts: list[Regular]) -> WayToEnd | None:
    shortest = farthest = 0
    for part in reversed(parts):
        way = way_to_end(part)
        if way is None:
            return None
        farthest = max(farthest, way.farthest + shortest)
        shortest += way.shortest
    return WayToEnd(shortest, farthest)


def _spelled(point: int) -> int:
    """Bytes of a character as JSON spells it."""
    return LONGEST_ESCAPE if point < 0x20 or point in (0x22, 0x5C) else len(chr(point).encode())
