"""Shortest strings of terms, put together without a search from shortest strings of the parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from maskwright.errors import LimitError, TooLongError
from maskwright.grammar.regular.beginnings import least_length
from maskwright.grammar.regular.charset import most_readable
from maskwright.grammar.regular.terms import (
    Alt,
    Chars,
    Concat,
    CountingSet,
    LengthBounded,
    Regular,
    Repeat,
    State,
    Words,
)
from maskwright.limits import CHEAP, spend

_KEPT: Final = 64
"""Characters up to which a string is kept with its term."""


def composed(term: Regular, limit: int) -> str | None:
    """A shortest string, put together from the parts' ones; None where that can't be done."""
    if term.nullable or term.short is not None:
        return term.short or ""
    spend(CHEAP)
    found = _composed(term, limit)
    if found is not None and len(found) <= _KEPT:
        term.short = found
    return found


def _composed(term: Regular, limit: int) -> str | None:
    match term:
        case Chars():
            return chr(most_readable(term.ranges))
        case Words(table=table, low=low, high=high, depth=depth):
            return min(table.strings[low:high], key=encoded_size)[depth:]
        case State(shortest=found) if found is not None:
            return found if isinstance(found, str) else found()
        case Concat(head=head, tail=tail):
            first, rest = composed(head, limit), composed(tail, limit)
            return None if first is None or rest is None else first + rest
        case Repeat(body=body, least=least):
            each = composed(body, limit)
            check_length(0 if each is None else len(each) * least, limit)
            return None if each is None else each * least
        case CountingSet(body=body, counts=counts, tail=tail):
            rest = composed(tail, limit)
            rounds = (counts & -counts).bit_length() - 1
            return None if rest is None else chr(most_readable(body.ranges)) * rounds + rest
        case LengthBounded(core=core, most=most):
            check_length(least_length(term), limit)
            found = composed(core, limit)
            fewest = least_length(term)  # of characters, which count before bytes here
            fits = found is not None and len(found) == fewest and (most is None or fewest <= most)
            return found if fits else None
        case Alt(options=options):
            return _shortest_option(options, limit)
        case _:
            return None


def _shortest_option(options: Iterable[Regular], limit: int) -> str | None:
    """The shortest of the options' strings, but for those that are too long, if there is another;
    None where it takes a search."""
    known: list[str] = []
    too_long: TooLongError | None = None
    for option in options:
        try:
            found = composed(option, limit)
        except TooLongError as error:
            too_long = error
            continue
        if found is None:
            return None
        known.append(found)
    if too_long is not None and not known:
        raise too_long
    return min(known, key=encoded_size)


def encoded_size(text: str) -> int:
    """Bytes of a text in UTF-8, halves of surrogate pairs included."""
    return len(text.encode(errors="surrogatepass"))


def check_length(length: int, limit: int) -> None:
    """Raise `TooLongError` where the shortest string has this length at least, and may not."""
    if length > limit:
        raise TooLongError(
            f"the shortest string of a pattern has more than {limit:,} characters",
            limit="witness_search",
            value=limit,
            way_out="ask for fewer characters",
        )


def check_searched(seen: int, limit: int) -> None:
    """Raise `LimitError` for a search through more than `limit` states."""
    if seen > limit:
        raise LimitError(
            f"the shortest string of a pattern was not found among {limit:,} states",
            limit="witness_search",
            value=limit,
        )
