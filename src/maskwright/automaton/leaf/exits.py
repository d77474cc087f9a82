"""When a leaf of several texts side by side is left, and with what label.

After a text has ended, one of its followers is read. If no follower can begin with a byte that
continues one of the texts, the next byte decides, and the leaf is left when that byte is read; its
label lists the texts that have ended. Otherwise both readings have to be followed, and the leaf is
left at once; its label is the rest of each text.

If the followers are not known, a leaf is left at once when any of its texts ends or dies.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from maskwright.grammar.regular.derivative import first_bytes
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular


class PartsEnded(NamedTuple):
    """The label of a leaf in which `terms` have ended and no other text continues."""

    terms: tuple[Regular, ...]


def leaving(term: Parallel) -> tuple[Hashable, bool]:
    """The label of a leaf state (None if it can't be left), and whether it is left at once."""
    parts, ahead = term.parts, term.ahead
    if ahead is None:
        changed = term.nullable or EMPTY in parts
        return (term, True) if changed else (None, False)
    if not term.nullable:
        return None, False
    onward = following = 0
    for part, follow in zip(parts, ahead, strict=True):
        onward |= first_bytes(part)
        following |= follow if part.nullable else 0
    if onward & following:
        return term, True
    ended = (t for t, part in zip(term.terms, parts, strict=True) if part.nullable)
    return PartsEnded(tuple(ended)), False
