"""A regular language without endless repetitions as a short expression, if there is one.

Numbers are languages that are computed as automata. Written as a rule for each state, an integer
takes fifty rules; as `"0" | [1-9] [0-9]{0,39}` it is readable.
"""

from __future__ import annotations

from typing import Final

from maskwright.grammar.regular import terms as r
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import EPSILON, Regular, alt, chars, concat, repeat

MOST_STATES: Final = 500
"""States of the automaton that are looked at."""
LONGEST: Final = 80
"""Parts of an expression that is short enough."""


def compact(term: Regular) -> Regular:
    """An equal language whose expression is short; the term itself if none is found."""
    if term.plain and _size(term) <= LONGEST:
        return term
    order = _states(term)
    if order is None:
        return term
    written: dict[Regular, Regular] = {}
    for state in order:
        by_target: dict[Regular, list[tuple[int, int]]] = {}
        for low, high, target in arcs(state):
            by_target.setdefault(written[target], []).append((low, high))
        options = [_concatenated(chars(tuple(some)), rest) for rest, some in by_target.items()]
        written[state] = _optional(options) if state.nullable else alt(*options)
        if _size(written[state]) > LONGEST:
            return term
    return written[term]


def _states(term: Regular) -> list[Regular] | None:
    """The states of the automaton, each after those to which it leads; None if there is a circle,
    or too many."""
    finished: dict[Regular, None] = {}
    path = [(term, iter(arcs(term)))]
    on_path = {term}
    while path:
        state, rest = path[-1]
        for _, _, target in rest:
            if target in on_path or len(finished) > MOST_STATES:
                return None
            if target not in finished:
                path.append((target, iter(arcs(target))))
                on_path.add(target)
                break
        else:
            finished[state] = None
            on_path.discard(state)
            path.pop()
    return list(finished)


def _concatenated(first: Regular, rest: Regular) -> Regular:
    """One text after the other. A character and then up to n more of it are 1 to n + 1."""
    if isinstance(rest, r.Repeat) and rest.body is first:
        return repeat(first, rest.least + 1, None if rest.most is None else rest.most + 1)
    return concat(first, rest)


def _optional(options: list[Regular]) -> Regular:
    """One of the options or nothing."""
    if not options:
        return EPSILON
    if len(options) == 1:
        (only,) = options
        if isinstance(only, r.Repeat) and only.least == 1:
            return repeat(only.body, 0, only.most)
        return repeat(only, 0, 1)
    return alt(EPSILON, *options)


def _size(term: Regular) -> int:
    """The parts of an expression; a large number for one that has no expression."""
    match term:
        case r.Concat(head=head, tail=tail):
            return _size(head) + _size(tail)
        case r.Alt(options=options):
            return 1 + sum(map(_size, options))
        case r.Repeat(body=body):
            return 1 + _size(body)
        case r.Chars() | r.Epsilon():
            return 1
        case r.Words(low=low, high=high):
            return high - low
        case _:
            return LONGEST + 1
