"""When a leaf of several texts side by side is left, and with what label.

Behind a text that has ended comes what follows it. Where nothing that may follow begins with a byte
with which one of the texts goes on, the next byte decides, and the leaf is left when that byte
comes: with the texts that have ended, which is all there is left. Else both have to be followed
from here on, and the leaf is left at once, with all that is left of each text.

Where it isn't known what may follow, a leaf is left at once when any of its texts ends or dies.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from maskwright.grammar.regular.first_bytes import first_bytes
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular


class PartsEnded(NamedTuple):
    """A label: these of the texts have ended, and no other goes on."""

    terms: tuple[Regular, ...]


def leaving(term: Parallel) -> tuple[Hashable, bool]:
    """The label of a leaf state, None if it can't be left there; and whether it is left at once."""
    parts, ahead = term.parts, term.ahead
    if ahead is None:
        changed = term.nullable or EMPTY in parts
        return (term, True) if changed else (None, False)
    if not term.nullable:
        return None, False
    onward = behind = 0
    for part, follow in zip(parts, ahead, strict=True):
        onward |= first_bytes(part)
        behind |= follow if part.nullable else 0
    if onward & behind:
        return term, True
    ended = (t for t, part in zip(term.terms, parts, strict=True) if part.nullable)
    return PartsEnded(tuple(ended)), False
