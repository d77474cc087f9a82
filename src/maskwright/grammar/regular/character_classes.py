"""Transitions by sets of characters: what `derivative.arcs` lists range by range.

A class of Unicode has hundreds of ranges, and they move together: `\\w` in a dozen terminals side
by side is one set with a dozen targets. So beyond ASCII, transitions are pairs of a set and a
target, and where terms are combined it is their sets that are overlaid, each combination once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.derivative import Arc, is_live, spread, transitions
from maskwright.grammar.regular.parallel import reading_on
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    EPSILON,
    Alt,
    Chars,
    Complement,
    Concat,
    Intersection,
    Parallel,
    Regular,
    Repeat,
    alt,
    chars,
    complement,
    concat,
    intersection,
    repeat,
)

LAST_ASCII: Final = 0x7F
NEARBY: Final = 16
"""Terms looked at on one way to a text, before all ways are searched."""

Pair = tuple[Chars, Regular]
Join = Callable[[dict[int, Regular]], Regular]


class Split(NamedTuple):
    """The transitions of a term: disjoint and ascending ranges of ASCII, and disjoint sets of
    characters beyond."""

    ascii: tuple[Arc, ...]
    beyond: tuple[Pair, ...]

    @property
    def targets(self) -> list[Regular]:
        return list(dict.fromkeys([*(t for _, _, t in self.ascii), *(t for _, t in self.beyond)]))

    def mapped(self, change: Callable[[Regular], Regular]) -> Split:
        """With other targets; `EMPTY` is none."""
        known = {target: change(target) for target in self.targets}
        return Split(
            tuple((low, high, known[t]) for low, high, t in self.ascii if known[t] is not EMPTY),
            tuple((some, known[t]) for some, t in self.beyond if known[t] is not EMPTY),
        )


def split(term: Regular) -> Split:
    """The transitions of a term to living targets."""
    found = _all(term)
    return found if term.plain else found.mapped(lambda t: t if _lives(t) else EMPTY)


def _all(term: Regular) -> Split:
    """Also those to targets that may turn out to be dead."""
    if term.split is None:
        term.split = _split(term)
    assert isinstance(term.split, Split)
    return term.split


def _lives(term: Regular) -> bool:
    """As `is_live`, from one living term to the next, as far as they are known."""
    path: list[Regular] = []
    while term.live is None and not term.nullable and len(path) < NEARBY:
        path.append(term)
        targets = _all(term).targets
        term = next((t for t in targets if t.live or t.nullable), targets[0] if targets else EMPTY)
    if not term.live and not term.nullable:
        return is_live(path[0] if path else term)
    for each in (*path, term):
        each.live = True
    return True


def _split(term: Regular) -> Split:
    match term:
        case Chars(ranges=ranges):
            return _parted([(low, high, EPSILON) for low, high in ranges])
        case Repeat(body=body, least=least, most=most):
            rest = repeat(body, max(0, least - 1), None if most is None else most - 1)
            return _all(body).mapped(lambda target: concat(target, rest))
        case Concat():
            return _concatenation(term)
        case Alt(options=options):
            return _overlay([_all(option) for option in options], lambda t: alt(*t.values()))
        case Intersection(parts=parts):
            count = len(parts)
            return _overlay(
                [_all(part) for part in parts],
                lambda t: intersection(*t.values()) if len(t) == count else EMPTY,
            )
        case Complement(body=body):
            return _complement(_all(body))
        case Parallel(parts=(part,)):
            return split(part).mapped(lambda target: reading_on(term, {0: target}))
        case Parallel(parts=parts):
            return _overlay([split(part) for part in parts], lambda t: reading_on(term, t))
        case _:
            return _parted(transitions(term))


def _concatenation(term: Concat) -> Split:
    columns: list[Split] = []
    rest: Regular = term
    while isinstance(rest, Concat):
        tail = rest.tail
        columns.append(_all(rest.head).mapped(lambda target, tail=tail: concat(target, tail)))
        if not rest.head.nullable:
            break
        rest = tail
    else:
        columns.append(_all(rest))
    return columns[0] if len(columns) == 1 else _overlay(columns, lambda t: alt(*t.values()))


def _complement(inner: Split) -> Split:
    taken = tuple((low, high) for low, high, _ in inner.ascii)
    gaps = [(low, min(high, LAST_ASCII), EMPTY) for low, high in charset.complement(taken)]
    arcs = [arc for arc in (*inner.ascii, *gaps) if arc[0] <= LAST_ASCII]
    rest = _remainder(tuple(some for some, _ in inner.beyond))
    beyond = [(some, complement(target)) for some, target in inner.beyond]
    if isinstance(rest, Chars):
        beyond.append((rest, ANYTHING))
    return Split(
        tuple((low, high, complement(t)) for low, high, t in sorted(arcs, key=_low)), tuple(beyond)
    ).mapped(lambda target: target)


def _parted(arcs: Sequence[Arc]) -> Split:
    ascii_arcs: list[Arc] = []
    beyond: dict[Regular, list[tuple[int, int]]] = {}
    for low, high, target in arcs:
        if low <= LAST_ASCII:
            ascii_arcs.append((low, min(high, LAST_ASCII), target))
        if high > LAST_ASCII:
            beyond.setdefault(target, []).append((max(low, LAST_ASCII + 1), high))
    pairs = [(chars(tuple(ranges)), target) for target, ranges in beyond.items()]
    return Split(tuple(ascii_arcs), tuple((s, t) for s, t in pairs if isinstance(s, Chars)))


def _overlay(columns: Sequence[Split], join: Join) -> Split:
    """Several at once: `join` gets the columns that have a target for a character."""
    members: dict[Chars, list[tuple[int, Regular]]] = {}
    for column, each in enumerate(columns):
        for some, target in each.beyond:
            members.setdefault(some, []).append((column, target))
    sets = tuple(members)
    joined: dict[Regular, list[Chars]] = {}
    for part, within in _partition(sets):
        target = join({column: t for at in within for column, t in members[sets[at]]})
        if target is not EMPTY:
            joined.setdefault(target, []).append(part)
    return Split(
        tuple(spread([column.ascii for column in columns], join)),
        tuple((_union(tuple(some)), target) for target, some in joined.items()),
    )


@lru_cache(4096)
def _partition(sets: tuple[Chars, ...]) -> tuple[tuple[Chars, tuple[int, ...]], ...]:
    """The coarsest parts that are within or outside each of the sets, with those they are in."""
    if len(sets) == 1:
        return ((sets[0], (0,)),)
    events = sorted(
        event
        for at, some in enumerate(sets)
        for low, high in some.ranges
        for event in ((low, at), (high + 1, at))
    )
    inside: set[int] = set()
    parts: dict[frozenset[int], list[tuple[int, int]]] = {}
    before = 0
    for point, at in events:
        if inside and before < point:
            parts.setdefault(frozenset(inside), []).append((before, point - 1))
        inside ^= {at}
        before = point
    found: list[tuple[Chars, tuple[int, ...]]] = []
    for within, ranges in parts.items():
        some = chars(charset.normal(ranges))
        if isinstance(some, Chars):  # halves of surrogate pairs are no characters
            found.append((some, tuple(sorted(within))))
    return tuple(found)


@lru_cache(4096)
def _union(sets: tuple[Chars, ...]) -> Chars:
    if len(sets) == 1:
        return sets[0]
    some = chars(charset.union(*(each.ranges for each in sets)))
    assert isinstance(some, Chars)
    return some


@lru_cache(4096)
def _remainder(sets: tuple[Chars, ...]) -> Regular:
    """The characters beyond ASCII that are in none of the sets."""
    taken = charset.union(((0, LAST_ASCII),), *(each.ranges for each in sets))
    return chars(charset.complement(taken))


def _low(arc: Arc) -> int:
    return arc[0]
