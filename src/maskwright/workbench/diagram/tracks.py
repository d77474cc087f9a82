"""The closed tree of railroad diagrams.

A text is read along the tracks from left to right: through boxes one after the other, through one
branch of a fork, and again through a cycle.
"""

from __future__ import annotations

from typing import Final, Literal

from maskwright.immutable import Immutable

BoxKind = Literal["text", "set", "name", "note"]


class Box(Immutable):
    """One part of a text. `kind`: a text itself, a set of texts in words or as a pattern, the name
    of another diagram, or a remark. `target` is the diagram that a name leads to."""

    label: str
    kind: BoxKind
    target: str = ""


class Chain(Immutable):
    """Parts one after the other; without parts, nothing."""

    parts: tuple[Track, ...]


class Fork(Immutable):
    """One of several options."""

    options: tuple[Track, ...]


class Cycle(Immutable):
    """The body once or more often, with `between` where it is repeated; `note` says how often."""

    body: Track
    between: Track
    note: str = ""


class Rows(Immutable):
    """Parts one after the other, each in a row of its own."""

    rows: tuple[Track, ...]


Track = Box | Chain | Fork | Cycle | Rows

SKIP: Final = Chain(())
"""No text."""


def chain(parts: list[Track]) -> Track:
    """Parts one after the other; one part is itself."""
    return parts[0] if len(parts) == 1 else Chain(tuple(parts))


def fork(options: list[Track]) -> Track:
    """One of several options, each once; one option is itself."""
    options = list(dict.fromkeys(options))
    return options[0] if len(options) == 1 else Fork(tuple(options))


def repeated(body: Track, least: int, most: int | None, between: Track = SKIP) -> Track:
    """`least` to `most` times the body (None: any number of times)."""
    if most == 0:
        return SKIP
    if most == 1:
        return body if least == 1 else fork([SKIP, body])
    cycle = Cycle(body, between, _times(max(least, 1), most))
    return fork([SKIP, cycle]) if least == 0 else cycle


def _times(least: int, most: int | None) -> str:
    if most is None:
        return f"{least}× or more" if least > 1 else ""
    return f"{least}×" if least == most else f"{least} to {most}×"
