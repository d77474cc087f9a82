"""Counted repeats as length bounds: `[a-z]{1,63}` is `[a-z]*` of 1 to 63 characters.

A repeat has a state for each round; a length bound has none of its own. Where a pattern says no
more than a length, as `^.{5,64}$` does beside a format, the bound is all that is left of it.
"""

from __future__ import annotations

from typing import Final

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.beginnings import least_length
from maskwright.grammar.regular.byte_alphabet import alphabet, bytes_of
from maskwright.grammar.regular.derivative import split_length_bounds
from maskwright.grammar.regular.terms import (
    EPSILON,
    Chars,
    Intersection,
    Regular,
    Repeat,
    Tagged,
    Words,
    concat,
    intersection,
    length,
    repeat,
    sequence,
)

WORTH_IT: Final = 8
"""Rounds up to which a repeat stays what it is."""


def counted(term: Regular) -> Regular:
    """The same language, with the rounds of each part's one long repeat of a character counted
    apart, and without parts and a least length that hold anyway by the look of the others."""
    if isinstance(term, Words | Tagged):
        return term
    core, least, most = split_length_bounds(term)
    parts = core.parts if isinstance(core, Intersection) else (core,)
    if core is term and parts == (term,) and _counted(term) is term:
        return term
    found = intersection(*map(_counted, parts), length(least, most))
    if isinstance(core, Intersection) and found is not term:
        found = _without_loose_parts(found)
    core, least, most = split_length_bounds(found)
    return intersection(core, length(0, most)) if 0 < least <= least_length(core) else found


def _counted(term: Regular) -> Regular:
    parts = sequence(term)
    lengths = [_length(part) for part in parts]
    open_parts = [at for at, size in enumerate(lengths) if size is None]
    if len(open_parts) != 1:
        return term
    at = open_parts[0]
    body = parts[at]
    if not isinstance(body, Repeat) or not isinstance(body.body, Chars):
        return term
    if max(body.least, body.most or 0) <= WORTH_IT:
        return term
    others = sum(size for size in lengths if size is not None)
    most = None if body.most is None else body.most + others
    parts[at] = repeat(body.body)
    return intersection(concat(*parts), length(body.least + others, most))


def _without_loose_parts(term: Regular) -> Regular:
    """The same language, without parts that have all strings of some characters, among which are
    those of another part."""
    core, least, most = split_length_bounds(term)
    if not isinstance(core, Intersection):
        return term
    parts = list(core.parts)
    for part in core.parts:
        if isinstance(part, Repeat) and isinstance(part.body, Chars) and part is repeat(part.body):
            others = [each for each in parts if each is not part]
            missing = bytes_of(charset.complement(part.body.ranges))
            if not all(alphabet(other) & missing for other in others):
                parts = others
    return intersection(*parts, length(least, most))


def _length(term: Regular) -> int | None:
    """The length of all strings of a language, by the look of the term; None if they differ or
    that doesn't show at once."""
    match term:
        case Chars():
            return 1
        case Words(table=table, low=low, high=high, depth=depth):
            lengths = {len(string) - depth for string in table.strings[low:high]}
            return lengths.pop() if len(lengths) == 1 else None
        case Repeat(body=Chars(), least=least, most=most):
            return least if least == most else None
        case _:
            return 0 if term is EPSILON else None
