"""What one regular language has and another lacks, in terms that are quick to search."""

from __future__ import annotations

from collections.abc import Iterator

from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Intersection,
    Regular,
    Words,
    bounds_of,
    complement,
    intersection,
    length_bounded,
)


def missing_string(first: Regular, second: Regular, limit: int) -> str | None:
    """A string of `first` that `second` lacks; None if there is none. `limit`: see
    `derivative.is_live`. Raises `LimitError`."""
    for language in _missing(first, second):
        if language is not EMPTY and is_live(language, limit):
            return shortest(language, limit)
    return None


def are_words_alike(first: Regular, second: Regular) -> bool:
    """Whether both languages are lists of equal words, so that JSON spells them alike."""
    return (
        isinstance(first, Words)
        and isinstance(second, Words)
        and _list_of(first) == _list_of(second)
    )


def _list_of(words: Words) -> tuple[object, ...]:
    table = words.table
    return table.strings[words.low : words.high], words.depth, table.bare


def _missing(first: Regular, second: Regular) -> Iterator[Regular]:
    """Languages that are together what `first` has and `second` lacks. Lengths, and parts that are
    in both, aren't complemented, which would multiply them with each other."""
    if first is second or are_words_alike(first, second):
        return
    core, least, most = bounds_of(first) or (first, 0, None)
    other, low, high = bounds_of(second) or (second, 0, None)
    if least < low:
        yield length_bounded(core, least, low - 1 if most is None else min(most, low - 1))
    if high is not None and (most is None or most > high):
        yield length_bounded(core, max(least, high + 1), most)
    known = _parts(core)
    for part in _parts(other) - known:
        yield intersection(first, complement(part))


def _parts(term: Regular) -> set[Regular]:
    """The languages of which a language is the intersection."""
    parts = set(term.parts) if isinstance(term, Intersection) else {term}
    return parts - {ANYTHING}
