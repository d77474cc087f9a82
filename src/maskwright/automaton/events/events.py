"""Typed events: what a text's structure says, as it is read."""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.grammar.schema.tree import Json


@dataclass(frozen=True, slots=True)
class CaptureBegun:
    """The text of a capture begins."""

    name: str


@dataclass(frozen=True, slots=True)
class CaptureText:
    """A further piece of a capture's text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class CaptureEnded:
    """A capture has ended; `text` is all of it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ContainerOpened:
    """An object or array begins at `pointer` (RFC 6901, of the JSON value it stands in)."""

    pointer: str
    kind: str


@dataclass(frozen=True, slots=True)
class ContainerClosed:
    """The object or array at `pointer` is complete."""

    pointer: str


@dataclass(frozen=True, slots=True)
class StringText:
    """A further piece of a string value, unescaped."""

    pointer: str
    text: str


@dataclass(frozen=True, slots=True)
class ValueRead:
    """A number, string, boolean or null is complete."""

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
