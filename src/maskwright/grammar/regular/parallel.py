"""Texts read side by side, as a leaf of a grammar reads them: see `Parallel`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maskwright.grammar.regular.byte_alphabet import alphabet
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular, parallel


def parallel_start(terms: Sequence[Regular], ahead: Sequence[int] | None) -> Regular:
    """The start of `terms`; `ahead` are the bytes with which the text may go on after each, None
    where that isn't known."""
    return _parallel(terms, terms, ahead)


def reading_on(term: Parallel, living: Mapping[int, Regular]) -> Regular:
    """`term` with what is left of its parts; those that aren't among `living` have died."""
    if term.ahead is None:
        parts = [living.get(at, EMPTY) for at in range(len(term.parts))]
        return parallel(term.terms, tuple(parts))
    order = sorted(living)
    return _parallel(
        [term.terms[at] for at in order],
        [living[at] for at in order],
        [term.ahead[at] for at in order],
    )


def _parallel(
    terms: Sequence[Regular], parts: Sequence[Regular], ahead: Sequence[int] | None
) -> Regular:
    """What may come is only of interest where one of the texts may go on so, too: with the rest
    left out, leaves of more grammars and places are equal."""
    if ahead is None:
        return parallel(tuple(terms), tuple(parts))
    letters = 0
    for part in parts:
        letters |= alphabet(part)
    return parallel(tuple(terms), tuple(parts), tuple(each & letters for each in ahead))
