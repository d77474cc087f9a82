"""The parts of railroad diagrams, which the library `railroad-diagrams` lays out and draws.

A text is read along the tracks from left to right: through boxes one after the other, through one
branch of a fork, and again through a cycle. Drawing changes a part, so that each is used once.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias
from urllib.parse import quote

from railroad import (
    Choice,
    Comment,
    DiagramItem,
    NonTerminal,
    OneOrMore,
    Sequence,
    Skip,
    Stack,
    Terminal,
)

from maskwright.workbench.diagram.charts import cut, width_of

Track: TypeAlias = DiagramItem
BoxKind = Literal["text", "set", "name", "note"]

WIDEST: Final = 900
"""Pixels up to which a chain stays in one row."""
MARGIN: Final = 20
"""Pixels around a diagram, and in a box beside its text."""


def box(label: str, kind: BoxKind, target: str = "") -> Track:
    """One part of a text. `kind`: a text itself, a set of texts in words or as a pattern, the name
    of another diagram, or a remark. `target` is the diagram that a name leads to."""
    shown = cut(label)
    about = None if shown == label else label
    link = f"#{anchor(target)}" if target else None
    made = {"text": Terminal, "note": Comment}.get(kind, NonTerminal)
    item = made(shown, link, about, cls=kind)
    item.width = width_of(shown) + MARGIN
    return item


def anchor(name: str) -> str:
    """The id of a diagram in the SVG, to which boxes with its name lead."""
    return f"diagram-{quote(name, errors='surrogatepass')}"


def chain(parts: list[Track]) -> Track:
    """Parts one after the other, in as many rows as they need; one part is itself, none no text."""
    if len(parts) < 2:
        return parts[0] if parts else Skip()
    rows: list[list[Track]] = [[]]
    for part in parts:
        if rows[-1] and Sequence(*rows[-1], part).width > WIDEST:
            rows.append([])
        rows[-1].append(part)
    return Stack(*(Sequence(*row) for row in rows)) if len(rows) > 1 else Sequence(*parts)


def fork(options: list[Track]) -> Track:
    """One of several options, each once; one option is itself."""
    options = list({repr(option): option for option in options}.values())
    if len(options) == 1:
        return options[0]
    made = Choice(0, *options)
    made.down += options[-1].height  # which the library forgets
    return made


def repeated(body: Track, least: int, most: int | None, between: Track | None = None) -> Track:
    """`least` to `most` times the body (None: any number of times), with `between` where it is
    repeated."""
    if most == 0:
        return Skip()
    if most == 1:
        return body if least == 1 else fork([Skip(), body])
    note = _times(max(least, 1), most)
    again = chain([between or Skip(), *([box(note, "note")] if note else [])])
    cycle = OneOrMore(body, again)
    return fork([Skip(), cycle]) if least == 0 else cycle


def _times(least: int, most: int | None) -> str:
    if most is None:
        return f"{least}× or more" if least > 1 else ""
    return f"{least}×" if least == most else f"{least} to {most}×"
