"""The labels of structural leaves, and the results of values: what JSON's exits are taken with."""

from __future__ import annotations

from enum import Enum

from maskwright.immutable import Acyclic


class StructuralLabel(Enum):
    """Labels of structural leaves."""

    SPACE = "whitespace"
    OBJECT = "{"
    ARRAY = "["
    CLOSE = "} or ]"
    COMMA = ","

    __hash__ = object.__hash__  # they are looked up often, and a name's hash costs a call


class Closed(Acyclic):
    """The result of an array or object: the tags of the threads that were complete, each with the
    value, as canonical JSON, where that is distinguished (see `automaton.json.distinguish`)."""

    tags: tuple[tuple[int, str | None], ...]


class Satisfied(Acyclic):
    """The result of a value on a level of its own: the tags of the threads that it satisfies."""

    which: tuple[int, ...]
