"""Questions about regular languages: has one texts without end, do two share a text."""

from __future__ import annotations

from typing import Final

from maskwright.grammar.regular.derivative import arcs, first_bytes, is_live
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import EPSILON, Regular, intersection

MOST_STATES: Final = 300
"""States that are visited in search of a loop. A language whose automaton has more before its first
loop is taken for one that ends."""


def is_endless(language: Regular) -> bool:
    """Whether there is no longest text: a state of the automaton leads back to itself."""
    done: set[Regular] = set()
    path: dict[Regular, list[Regular]] = {language: _targets(language)}
    while path:
        state, targets = next(reversed(path.items()))
        if not targets:
            del path[state]
            done.add(state)
            continue
        target = targets.pop()
        if target in path:
            return True
        if target not in done:
            if len(path) + len(done) >= MOST_STATES:
                return False
            path[target] = _targets(target)
    return False


def shared_text(first: Regular, second: Regular) -> str | None:
    """A short text that is in both languages; None if there is none but the empty one."""
    if not first_bytes(first) & first_bytes(second):
        return None
    if first.nullable and second.nullable:
        return None  # the shortest is empty, which says little
    both = first if first is second else intersection(first, second)
    return shortest(both) if both is not EPSILON and is_live(both) else None


def _targets(state: Regular) -> list[Regular]:
    return [*dict.fromkeys(target for _, _, target in arcs(state))]
