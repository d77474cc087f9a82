"""Counted repeats as length bounds: `[a-z]{1,63}` is `[a-z]*` of 1 to 63 characters.

A repeat has a state for each round; a length bound has none of its own.
"""

from __future__ import annotations

from typing import Final

from maskwright.grammar.regular.derivative import split_length_bounds
from maskwright.grammar.regular.terms import (
    EPSILON,
    Chars,
    Concat,
    Regular,
    Repeat,
    Words,
    concat,
    intersection,
    length,
    repeat,
)

WORTH_IT: Final = 8
"""Rounds up to which a repeat stays what it is."""


def counted(term: Regular) -> Regular:
    """The same language, with the rounds of its one long repeat of a character counted apart."""
    core, least, most = split_length_bounds(term)
    parts: list[Regular] = []
    rest = core
    while isinstance(rest, Concat):
        parts.append(rest.head)
        rest = rest.tail
    parts.append(rest)
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
    longest = None if body.most is None else body.most + others
    parts[at] = repeat(body.body)
    bounds = length(least, most), length(body.least + others, longest)
    return intersection(concat(*parts), *bounds)


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
