"""The strings of a regular language one by one, the shortest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.shortest import shortest_besides
from maskwright.grammar.regular.terms import (
    ANYTHING,
    Regular,
    Words,
)
from maskwright.limits import CHEAP, spend

_MOST_STEPS: Final = 20_000
"""Prefixes looked at in one search: a language may be spread thin, as `(a{9999})*` is."""

_STEPS_EACH: Final = 200
"""Prefixes looked at for each string, before strings are searched for one by one: those that read
best may lead to no end, as letters do where a URI needs a colon."""

_MOST_SEARCHED: Final = 64
"""Strings that are searched for one by one."""

_PREFERRED: Final = ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A))
_ORDER: Final = (*_PREFERRED, (0x20, 0x10FFFF), (0, 0x1F))
"""Characters in the order in which they are tried: letters and digits read best."""


def few(term: Regular, most: int) -> tuple[str, ...] | None:
    """All strings of a language if there are at most `most`, else None.

    Prefixes of one length that differ end in strings that differ, so that a level of more than
    `most` prefixes needs no end in sight.
    """
    if isinstance(term, Words):
        if term.high - term.low > most:
            return None
        strings = [text[term.depth :] for text in term.table.strings[term.low : term.high]]
        return tuple(sorted(strings, key=_place))
    if term is ANYTHING or not _are_few(term, most):
        return None
    found: list[str] = []
    for level, _ in _levels(term, most):
        found += [text for text, state in level if state.nullable]
    return tuple(found)


def _are_few(term: Regular, most: int) -> bool:
    """The same without the strings: prefixes of one length are only counted, by state."""
    level = {term: 1}
    found = steps = 0
    while level:
        prefixes = sum(level.values())
        spend(CHEAP * len(level))
        steps += prefixes
        if found + prefixes > most or steps > _MOST_STEPS:
            return False
        found += sum(count for state, count in level.items() if state.nullable)
        level = counted_after(level)
    return True


def counted_after(level: Mapping[Regular, int]) -> dict[Regular, int]:
    """How many strings, one character longer, lead to each state; `level`: how many lead there so
    far. Surrogates are no characters."""
    following: dict[Regular, int] = {}
    for state, count in level.items():
        for low, high, target in arcs(state):
            surrogates = max(0, min(high, 0xDFFF) - max(low, 0xD800) + 1)
            following[target] = following.get(target, 0) + count * (high - low + 1 - surrogates)
    return {state: count for state, count in following.items() if count}


def first(term: Regular, count: int) -> tuple[str, ...]:
    """Some `count` of the shortest strings of a language; fewer if it has no more.

    The prefixes that are followed may all be far from an end; then the strings are found one by
    one, each as the shortest besides those found.
    """
    found: list[str] = []
    for level, steps in _levels(term, count):
        found += [text for text, state in level if state.nullable]
        if len(found) >= count or steps > min(_MOST_STEPS, _STEPS_EACH * count):
            break
    while len(found) < min(count, _MOST_SEARCHED):
        spend()
        text = shortest_besides(term, found)
        if text is None:
            break
        found.append(text)
    return tuple(found[:count])


def _levels(term: Regular, most: int) -> Iterator[tuple[list[tuple[str, Regular]], int]]:
    """The prefixes of each length, at most one more than `most` of each, with the states after
    them; and how many have been looked at."""
    level: list[tuple[str, Regular]] = [("", term)]
    steps = 0
    while level:
        steps += len(level)
        spend(CHEAP * len(level))
        yield level, steps
        following: list[tuple[str, Regular]] = []
        for text, state in level:
            for character, target in _moves(state, most + 1 - len(following)):
                following.append((text + character, target))
        level = following


def _moves(state: Regular, most: int) -> Iterator[tuple[str, Regular]]:
    """At most `most` ways on, by the characters that read best."""
    for place, (low, high) in enumerate(_ORDER):
        for start, stop, target in arcs(state):
            for point in range(max(start, low), min(stop, high) + 1):
                if most <= 0:
                    return
                if 0xD800 <= point < 0xE000 or (place == len(_PREFERRED) and _is_preferred(point)):
                    continue
                most -= 1
                yield chr(point), target


def _place(text: str) -> tuple[int, list[tuple[int, int]]]:
    """Where a string comes among others: as the levels and the ways on from them come."""
    return len(text), [(_rank(point), point) for point in map(ord, text)]


def _rank(point: int) -> int:
    return next(place for place, (low, high) in enumerate(_ORDER) if low <= point <= high)


def _is_preferred(point: int) -> bool:
    return any(low <= point <= high for low, high in _PREFERRED)
