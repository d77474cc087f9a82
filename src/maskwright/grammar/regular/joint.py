"""A short string of an intersection, put together from strings of its parts.

`.*ab1.*`, `.*b12.*` and a dozen more such patterns have an automaton of thousands of states, but
"ab12" is in both: where anything may come before and after the strings of a part, a text that has
one of them is in it. Whether such a text is in the other parts as well is left to the caller.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.grammar.regular.beginnings import least_length
from maskwright.grammar.regular.composed import composed
from maskwright.grammar.regular.terms import ANYTHING, Alt, Concat, Intersection, Regular
from maskwright.limits import CHEAP, DEFAULT_LIMITS, spend

SHORT: Final = 64
"""Characters up to which a string of a part is tried."""


class JointString(NamedTuple):
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
            while isinstance(term, Concat):
                term = term.tail
            return JointString(text, opens, term is ANYTHING)


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
