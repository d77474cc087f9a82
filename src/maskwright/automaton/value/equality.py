"""Values that an array or object may still turn out to equal while it is being read.

Each item or member drops the *candidates* that it differs from, so that there are soon none left;
nothing is negated, and no alternatives are needed. A value is known by its canonical JSON (see
`finite_values.canonical`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec.structs import replace

from maskwright.automaton.value.finite_values import canonical
from maskwright.immutable import Acyclic

MemberSet = frozenset[tuple[str, str]]
"""Names with values."""


class EqualityCandidate(Acyclic):
    rest: MemberSet | tuple[str, ...]
    """Its members (in any order) or items beyond the ones read so far."""
    value: str | None
    """The whole value, if the container may equal it, which then has to be known; None if the
    container must not equal it."""


EqualityCandidates = frozenset[EqualityCandidate]

CandidatesByValue = tuple[tuple[str, EqualityCandidates], ...]
"""For the item or member being read: each value that some candidates have there, with the
candidates that are left if it has that value. Any other value leaves none."""

NONE: EqualityCandidates = frozenset()


@lru_cache(maxsize=20_000)
def _parts(text: str) -> MemberSet | tuple[str, ...]:
    value = json.loads(text)
    if isinstance(value, dict):
        members: dict[str, object] = value
        return frozenset((name, canonical(json.dumps(each))) for name, each in members.items())
    items: list[object] = value
    return tuple(canonical(json.dumps(each)) for each in items)


def equality_candidates(
    excluded: Iterable[str], distinguished: Iterable[str], bracket: str
) -> EqualityCandidates:
    """The candidates of a container with this opening bracket, before its first item or member.

    It must equal none of `excluded`; that it equals one of `distinguished` has to be known."""
    candidates = {EqualityCandidate(_parts(text), None) for text in excluded if text[0] == bracket}
    candidates |= {
        EqualityCandidate(_parts(text), text) for text in distinguished if text[0] == bracket
    }
    return frozenset(candidates)


def may_end(left: EqualityCandidates, must_equal_one: bool) -> bool:
    """Whether a container may end here, where it equals the candidates that have nothing left."""
    ended = [candidate for candidate in left if not candidate.rest]
    return all(candidate.value is not None for candidate in ended) and (
        bool(ended) or not must_equal_one
    )


def ended(left: EqualityCandidates) -> str | None:
    """The distinguished value that a container equals if it ends here."""
    return next((candidate.value for candidate in left if not candidate.rest), None)


def at_item(left: EqualityCandidates) -> CandidatesByValue:
    """What the next item of an array leaves of the candidates."""
    return _by_value(
        (candidate.rest[0], replace(candidate, rest=candidate.rest[1:]))
        for candidate in left
        if candidate.rest and isinstance(candidate.rest, tuple)
    )


def at_member(left: EqualityCandidates, name: str) -> CandidatesByValue:
    """What a member with this name leaves of the candidates."""
    return _by_value(
        (member[1], replace(candidate, rest=candidate.rest - {member}))
        for candidate in left
        if isinstance(candidate.rest, frozenset)
        for member in candidate.rest
        if member[0] == name
    )


def names(left: EqualityCandidates) -> Iterator[str]:
    """The names of members that some candidate still has, in a fixed order."""
    yield from sorted({m[0] for c in left if isinstance(c.rest, frozenset) for m in c.rest})


def _by_value(found: Iterable[tuple[str, EqualityCandidate]]) -> CandidatesByValue:
    """By value, the candidates that are left with it."""
    by_value: dict[str, set[EqualityCandidate]] = {}
    for text, shorter in found:
        by_value.setdefault(text, set()).add(shorter)
    return tuple((text, frozenset(by_value[text])) for text in sorted(by_value))
