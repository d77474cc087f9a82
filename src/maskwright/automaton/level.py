"""A level of nesting at one point of its reading; see `json_contexts`."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from maskwright.automaton.progress import ArrayProgress, Progress, behind
from maskwright.automaton.rivals import Met
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
    met: Met = ()
    """In phase VALUE: what the value tells of the rivals of the container that it stands in."""

    @property
    def seen(self) -> frozenset[str]:
        """In phase VALUE: the values that it must differ from."""
        progress = self.progress
        if isinstance(progress, ArrayProgress) and progress.unique:
            return progress.seen
        return frozenset()

    @property
    def is_free(self) -> bool:
        """In phase VALUE: whether it makes no difference which value it is."""
        progress = self.progress
        unique = isinstance(progress, ArrayProgress) and progress.unique
        return not (self.met or unique or (progress is not None and progress.confined))

    @property
    def is_watched(self) -> bool:
        """In phase VALUE: whether the items to come have to differ from it."""
        progress = self.progress
        return (
            isinstance(progress, ArrayProgress)
            and progress.unique
            and next(progress.options(), None) is not None
        )

    def behind(self, value: str | None) -> Thread | None:
        """In phase VALUE: where it leads if it is this (as canonical JSON, None if that is not
        known, but it differs from all that are met); None if it must not be."""
        if self.progress is None:
            return Thread(self.tag, None)
        after = behind(self.progress, self.met, value)
        if after is None or (value is not None and value in self.seen):
            return None
        if value is not None and isinstance(after, ArrayProgress) and self.is_watched:
            after = after.with_item(value)
        return Thread(self.tag, after)


class Level(NamedTuple):
    phase: Phase
    bracket: str
    """`{`, `[`, or nothing on a level of a value alone: the whole text, or a member or item that
    knows nothing of what it stands in."""
    threads: tuple[Thread, ...]
    depth: int
    """Brackets open, counted only where lines are indented; elsewhere 1 if there are any."""

    @property
    def is_unique(self) -> bool:
        """Whether it is an array whose items must differ."""
        return any(
            isinstance(t.progress, ArrayProgress) and t.progress.unique for t in self.threads
        )
