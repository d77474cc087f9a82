"""A level of nesting at one point of its reading; see `json_contexts`."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from maskwright.automaton.value.equality import Met
from maskwright.automaton.value.progress import ArrayProgress, Progress, behind
from maskwright.grammar.shape.shape import Conjunction


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
        """In phase VALUE: the values that it must differ from, or is best equal to."""
        return self.progress.seen if isinstance(self.progress, ArrayProgress) else frozenset()

    @property
    def is_free(self) -> bool:
        """In phase VALUE: whether it makes no difference which value it is."""
        progress = self.progress
        told = isinstance(progress, ArrayProgress) and progress.tells_items
        return not (self.met or told or (progress is not None and progress.confined))

    @property
    def is_watched(self) -> bool:
        """In phase VALUE: whether it makes a difference to the items to come which one it is."""
        progress = self.progress
        if not isinstance(progress, ArrayProgress):
            return False
        return progress.wants_repeat or (
            progress.unique and next(progress.options(), None) is not None
        )

    def behind(self, value: str | None) -> Thread | None:
        """In phase VALUE: where it leads if it is this (as canonical JSON, None if that is not
        known, but it differs from all that are met); None if it must not be."""
        if self.progress is None:
            return Thread(self.tag, None)
        after = behind(self.progress, self.met, value)
        if after is None:
            return None
        if value is not None and isinstance(after, ArrayProgress):
            if after.unique and value in after.seen:
                return None
            if self.is_watched:
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
    def wants_repeat(self) -> bool:
        """Whether it is an array in which some item must still come again."""
        return any(
            isinstance(t.progress, ArrayProgress) and t.progress.wants_repeat for t in self.threads
        )

    @property
    def tells_items(self) -> bool:
        """Whether it is an array in which it makes a difference which values the items are."""
        return any(
            isinstance(t.progress, ArrayProgress) and t.progress.tells_items for t in self.threads
        )
