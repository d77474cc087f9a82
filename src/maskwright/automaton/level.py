"""A level of nesting at one point of its reading; see `json_contexts`."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from maskwright.automaton.progress import Progress
from maskwright.grammar.shape import Conjunction


class Phase(Enum):
    """What a level waits for."""

    __hash__ = object.__hash__  # levels are looked up often, and a name's hash costs a call

    FIRST = "the first item or name, or the closing bracket"
    NEXT = "a comma or the closing bracket"
    NAME = "a name"
    VALUE = "a value"
    DONE = "nothing more"


class Thread(NamedTuple):
    tag: int
    """The thread of the level below that this one belongs to."""
    progress: Progress | None
    """None on a level of a value alone. In phase VALUE, the progress behind the value."""
    value: Conjunction | None = None
    """In phase VALUE: what the coming value must satisfy."""


class Level(NamedTuple):
    phase: Phase
    bracket: str
    """`{`, `[`, or nothing on a level of a value alone: the whole text, or a member or item that
    knows nothing of what it stands in."""
    threads: tuple[Thread, ...]
    depth: int
    """Brackets open, counted only where lines are indented; elsewhere 1 if there are any."""
