"""Events: what is reported of the structure of a text while it is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from maskwright.grammar.schema.tree import Json
from maskwright.immutable import Acyclic


class CaptureBegun(Acyclic):
    """The text of a capture begins."""

    name: str


@dataclass(frozen=True, slots=True)
class CaptureText:
    """A further piece of the text of a capture. `at`: how many characters of the whole text come
    before it, without special tokens; pieces with equal texts are equal wherever they stand."""

    name: str
    text: str
    at: int = field(default=0, compare=False)


class CaptureEnded(Acyclic):
    """A capture has ended; `text` is its whole text."""

    name: str
    text: str


class ContainerOpened(Acyclic):
    """An object or array begins; `kind` says which.

    `pointer` is its place in the outermost JSON value (RFC 6901).
    """

    pointer: str
    kind: str


class ContainerClosed(Acyclic):
    """The object or array at `pointer` has ended."""

    pointer: str


class StringText(Acyclic):
    """A further piece of the string at `pointer`, its escapes resolved."""

    pointer: str
    text: str


class ValueRead(Acyclic):
    """The number, string, boolean or null at `pointer` has been read."""

    pointer: str
    value: Json


Event = (
    CaptureBegun
    | CaptureText
    | CaptureEnded
    | ContainerOpened
    | ContainerClosed
    | StringText
    | ValueRead
)
