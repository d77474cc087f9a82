"""Short strings of terms, put together without a search from shortest strings of the parts.

Of most terms that gives a shortest string (`composed`), of an intersection a short one (`joint`):
`.*ab1.*`, `.*b12.*` and a dozen more such patterns have an automaton of thousands of states, but
"ab12" is in both. Where anything may come before and after the strings of a part, a text that has
one of them is in it. Whether such a text is in the other parts as well is left to the caller.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from maskwright.errors import LimitError, TooLongError
from maskwright.grammar.regular.beginnings import least_length
from maskwright.grammar.regular.charset import most_readable
from maskwright.grammar.regular.terms import (
    ANYTHING,
    Alt,
    Chars,
    Concat,
    CountingSet,
    Intersection,
    LengthBounded,
    Regular,
    Repeat,
    State,
    Words,
    sequence,
)
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, DEFAULT_LIMITS, spend

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


SHORT: Final = 64
"""Characters up to which a string of a part is tried."""


class JointString(Acyclic):
    """A string of a term, None if none is known."""

    text: str | None
    opens: bool
    """Whether anything may come before it, by the look of the term."""
    closes: bool
    """Whether anything may come after it."""

    @property
    def place(self) -> int:
        """Where it stands beside others: what strings begin with is first, their end last."""
        return self.opens - self.closes


_UNKNOWN: Final = JointString(None, opens=False, closes=False)


def joint(term: Regular) -> JointString:
    """A string that has the shortest strings of all those parts beside which anything may come."""
    spend(CHEAP)
    match term:
        case Intersection(parts=parts):
            pieces = [joint(part) for part in parts if not part.nullable]
            if any(piece.text is None for piece in pieces):
                return _UNKNOWN
            return JointString(
                _overlapping([piece for piece in pieces if piece.opens or piece.closes]),
                opens=all(piece.opens for piece in pieces),
                closes=all(piece.closes for piece in pieces),
            )
        case Alt(options=options):
            pieces = [joint(option) for option in options]
            known = [piece for piece in pieces if piece.text is not None]
            return max(known, key=_freedom, default=_UNKNOWN)
        case _:
            if not term.plain or least_length(term) > SHORT:
                return _UNKNOWN
            text = composed(term, DEFAULT_LIMITS.witness_search)
            opens = isinstance(term, Concat) and term.head is ANYTHING
            return JointString(text, opens, sequence(term)[-1] is ANYTHING)


def _overlapping(pieces: list[JointString]) -> str:
    """A short text that has all of `pieces`. Next is the one whose beginning has come already, as
    far as possible."""
    text = ""
    for place in (-1, 0, 1):
        # The longest first, which others may be in, and in one order whatever that of the parts is.
        texts = {piece.text or "" for piece in pieces if piece.place == place}
        left = sorted(texts, key=lambda each: (-len(each), each))
        while left:
            spend(CHEAP * len(left))
            following, common = max(((each, _common(text, each)) for each in left), key=_size)
            text += following[common:]
            left = [each for each in left if each not in text]
    return text


def _common(text: str, other: str) -> int:
    """How many characters at the end of a text are the beginning of another."""
    sizes = range(min(len(text), len(other)), 0, -1)
    return next((size for size in sizes if text.endswith(other[:size])), 0)


def _size(found: tuple[str, int]) -> int:
    return found[1]


def _freedom(piece: JointString) -> int:
    return piece.opens + piece.closes
