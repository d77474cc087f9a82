"""A level of nesting at one point of its reading; see `automaton.json.contexts`."""

from __future__ import annotations

from enum import Enum

from maskwright.automaton.value.equality import CandidatesByValue, EqualityCandidates
from maskwright.automaton.value.progress import (
    ArrayProgress,
    ObjectProgress,
    Progress,
    progress_after,
)
from maskwright.grammar.shape.shape import Conjunction
from maskwright.immutable import Acyclic


class LevelPhase(Enum):
    """What a level waits for."""

    __hash__ = object.__hash__  # levels are looked up often, and a name's hash costs a call

    FIRST = "the first item or name, or the closing bracket"
    NEXT = "a comma or the closing bracket"
    NAME = "a name"
    VALUE = "a value"
    DONE = "nothing more"


class Thread(Acyclic):
    tag: int
    """The thread of the level below that this one belongs to, or the number of several there that
    wait for one value (`Level.waiting`)."""
    progress: Progress | None
    """None on a level of a value alone. In phase VALUE, the progress after the value."""
    value: Conjunction | None = None
    """In phase VALUE: what the coming value must satisfy."""
    by_value: CandidatesByValue = ()
    """In phase VALUE: what the value leaves of the candidates of the container around."""

    @property
    def seen(self) -> frozenset[str]:
        """In phase VALUE: the items read so far, where it must or may not equal one of them."""
        return self.progress.seen if isinstance(self.progress, ArrayProgress) else frozenset()

    @property
    def is_free(self) -> bool:
        """In phase VALUE: whether what follows in the container is the same for each value."""
        progress = self.progress
        remembers = isinstance(progress, ArrayProgress) and progress.remembers_items
        return not (
            self.by_value or remembers or (progress is not None and progress.must_equal_one)
        )

    @property
    def is_watched(self) -> bool:
        """In phase VALUE: whether the items to come depend on which value it is."""
        progress = self.progress
        if not isinstance(progress, ArrayProgress):
            return False
        return progress.wants_repeat or (
            progress.unique and next(progress.options(), None) is not None
        )

    def after_value(self, value: str | None) -> Thread | None:
        """In phase VALUE: the thread after `value` (as canonical JSON), None if the value must not
        be this. A `value` of None stands for one that isn't known, but equals no candidate's."""
        if self.progress is None:
            return Thread(self.tag, None)
        after = progress_after(self.progress, self.by_value, value)
        if after is None:
            return None
        if value is not None and isinstance(after, ArrayProgress):
            if after.unique and value in after.seen:
                return None
            if self.is_watched:
                after = after.with_item(value)
        return Thread(self.tag, after)


class Level(Acyclic):
    phase: LevelPhase
    bracket: str
    """`{`, `[`, or nothing on a level of a value alone: the whole text, or a member or item that
    doesn't depend on the container around it."""
    threads: tuple[Thread, ...]
    depth: int
    """Brackets open, counted only where lines are indented; elsewhere 1 if there are any."""
    waiting: tuple[tuple[int, ...], ...] = ()
    """While a value is read on a level above: for each tag there, by their places, the threads
    that wait for it. Empty where each thread waits for a tag of its own, its place."""

    def threads_of(self, tag: int) -> tuple[Thread, ...]:
        """The threads that wait for a value of this tag on the level above."""
        if not self.waiting:
            return (self.threads[tag],)
        return tuple(self.threads[place] for place in self.waiting[tag])

    @property
    def wants_repeat(self) -> bool:
        """Whether it is an array in which some item must still come again."""
        return any(
            isinstance(t.progress, ArrayProgress) and t.progress.wants_repeat for t in self.threads
        )

    @property
    def names_read(self) -> frozenset[str]:
        """The names read of an object that its schema doesn't list."""
        read = (t.progress.others for t in self.threads if isinstance(t.progress, ObjectProgress))
        return frozenset[str]().union(*read)

    @property
    def names_listed(self) -> tuple[str, ...]:
        """The names that an object's schema lists, read or not, in its order."""
        shapes = (t.progress.shape for t in self.threads if isinstance(t.progress, ObjectProgress))
        return tuple(dict.fromkeys(name for shape in shapes for name in shape.names))

    def needs_no_names(self, besides: int = 0) -> bool:
        """Whether it takes no names but those that the schema lists to complete an object, once it
        has had `besides` more members; true of all that is no object."""
        return all(
            not t.by_value and t.progress.needs_no_names(besides)
            for t in self.threads
            if isinstance(t.progress, ObjectProgress)
        )

    @property
    def remembers_items(self) -> bool:
        """Whether it is an array in which it makes a difference which values the items are."""
        return any(
            isinstance(t.progress, ArrayProgress) and t.progress.remembers_items
            for t in self.threads
        )

    @property
    def has_unremembered_names(self) -> bool:
        """Whether it is an object some of whose names only the text has."""
        return any(
            isinstance(t.progress, ObjectProgress) and t.progress.has_unremembered
            for t in self.threads
        )


class ObjectLevel(Acyclic):
    """The level of an object in one thread, which waits for no value, by the parts of the thread
    and of its progress: this takes less to make and to compare."""

    phase: LevelPhase
    depth: int
    tag: int
    shape: int
    """Its number; see `LevelNumbers.shape`."""
    position: int
    seen: int
    count: int
    fulfilled: int
    others: frozenset[str]
    candidates: EqualityCandidates
    must_equal_one: bool
    has_unremembered: bool


def leaves_names_to_text(level: Level | None) -> bool:
    """Whether a level of JSON, if there is one, is where a name is read that must differ from some
    that only the text has."""
    return level is not None and level.phase is LevelPhase.NAME and level.has_unremembered_names
