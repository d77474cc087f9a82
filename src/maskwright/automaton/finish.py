"""The shortest text that completes a stack of levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from maskwright.automaton.last_value import open_bracket
from maskwright.automaton.level import Level, Phase, Thread
from maskwright.automaton.progress import ArrayProgress, ObjectProgress
from maskwright.automaton.supply import canonical
from maskwright.automaton.values import Read
from maskwright.automaton.whitespace import Whitespace
from maskwright.automaton.witness import (
    Items,
    Witness,
    Witnesses,
    compact,
    enclosed,
    member,
    rendered,
)


class Ending(NamedTuple):
    """The shortest text that completes a stack of contexts."""

    text: bytes | None
    """None if nothing completes it."""
    by_text: bool = False
    """Whether it depends on the text so far, not on the configuration alone."""


class Endings(NamedTuple):
    """As `Ending`, one by each tag of the outermost level."""

    texts: dict[int, str]
    by_text: bool


class Finish:
    """Texts from the start of what the innermost level waits for, to the end of the document."""

    def __init__(
        self, witnesses: Witnesses, whitespace: Whitespace, owners: Callable[[Level], list[Read]]
    ) -> None:
        """`owners` tells the threads whose values are being read on a level, by their tags."""
        self._witnesses = witnesses
        self._whitespace = whitespace
        self._owners = owners

    def of(self, levels: list[Level], before: bytes) -> Endings:
        """By tag of the outermost level: the shortest text that completes it so, if there is one.

        `levels`, the innermost first; `before` is the text so far.
        """
        work = _Work(before, _brackets(levels))
        found: dict[int, str] = {}
        for thread in levels[0].threads:
            ending = self._thread(levels[0], thread, levels[1:], "", work)
            if ending is not None:
                tag, text = ending
                if tag not in found or len(text) < len(found[tag]):
                    found[tag] = text
        return Endings(found, work.by_text)

    def _thread(
        self, level: Level, thread: Thread, below: list[Level], begun: str, work: _Work
    ) -> tuple[int, str] | None:
        """The shortest text that completes one thread, and the levels below with it; and the tag
        of the outermost. `begun` is what has been found for the levels above."""
        rest = self._rest_of_level(level, thread)
        if rest is None:
            return None
        if not below:
            return thread.tag, rest
        tail = self._behind(below, thread.tag, begun + rest, work)
        return None if tail is None else (tail[0], rest + tail[1])

    def _behind(
        self, levels: list[Level], tag: int, begun: str, work: _Work
    ) -> tuple[int, str] | None:
        """The completion of the levels below, once thread `tag` of the topmost has its value."""
        level, below = levels[0], levels[1:]
        if level.phase is Phase.NEXT:  # waits for the value above
            return self._thread(level, level.threads[tag], below, begun, work)
        owner = self._owners(level)[tag]
        if not level.bracket:
            tag = owner.thread.tag
            return self._behind(below, tag, begun, work) if below else (tag, "")
        progress = owner.thread.progress
        if owner.watched and isinstance(progress, ArrayProgress) and not progress.may_close():
            work.by_text = True
            progress = progress.with_item(canonical(work.item(_brackets(levels)) + begun))
            if self._witnesses.rest_of(progress) is None:
                return None
        after = Level(Phase.NEXT, level.bracket, (), level.depth)
        return self._thread(after, Thread(owner.thread.tag, progress), below, begun, work)

    def _rest_of_level(self, level: Level, thread: Thread) -> str | None:
        """The shortest text from the present phase to the closing bracket."""
        space, depth = self._whitespace, level.depth
        progress = thread.progress
        text = ""
        if level.phase is Phase.DONE:
            return text
        if level.phase is Phase.VALUE:
            if isinstance(progress, ArrayProgress):
                assert thread.value is not None
                items = self._witnesses.rest_with(thread.value, progress)
                return None if items is None else self._items(items, level)
            value = None if thread.value is None else self._witnesses.of(thread.value)
            if value is None:
                return None
            text = rendered(value, space, depth)
            if progress is None:
                return text
        assert progress is not None
        if level.phase is Phase.NAME:
            assert isinstance(progress, ObjectProgress)
            first = self._shortest_member(progress)
            if first is None:
                return None
            text, progress = member(first[0], first[1], space, depth), first[2]
        rest = self._witnesses.rest_of(progress)
        if rest is None:
            return None
        if isinstance(rest, Items):
            parts = [rendered(value, space, depth) for value in rest.values]
        else:
            parts = [member(name, value, space, depth) for name, value in rest.values]
        closing = "}" if level.bracket == "{" else "]"
        if level.phase is Phase.FIRST:
            return enclosed("", parts, closing, space, depth - 1)
        parts = [space.comma(depth) + part for part in parts]
        return text + "".join(parts) + space.line(depth - 1) + closing

    def _items(self, items: Items, level: Level) -> str:
        """Items, the first of which stands where it has to, and the closing bracket."""
        space, depth = self._whitespace, level.depth
        parts = [rendered(value, space, depth) for value in items.values]
        return space.comma(depth).join(parts) + space.line(depth - 1) + "]"

    def _shortest_member(
        self, progress: ObjectProgress
    ) -> tuple[str, Witness, ObjectProgress] | None:
        """A member that must come now (behind a comma), and the progress behind it."""
        witnesses = self._witnesses
        best: tuple[int, str, Witness, ObjectProgress] | None = None
        shape = progress.shape
        options = [
            (shape.names[at], option)
            for at in progress.names(witnesses.order)
            for option in witnesses.named_options(progress, at)
        ]
        if progress.others_may_come(witnesses.order):
            for each in witnesses.classes(shape.languages):
                name = witnesses.fresh_name(progress, each)
                if name is not None:
                    found = witnesses.other_options(progress, each, name)
                    options += [(name, option) for option in found]
        for name, option in options:
            value, rest = witnesses.of(option.value), witnesses.rest_of(option.after)
            if value is None or rest is None:
                continue
            size = len(name) + len(compact(value)) + len(compact(rest))
            if best is None or size < best[0]:
                best = (size, name, value, option.after)
        return None if best is None else best[1:]


@dataclass(slots=True)
class _Work:
    """One search for an ending of levels of which `brackets` are arrays or objects."""

    before: bytes
    brackets: int
    by_text: bool = False

    def item(self, below: int) -> str:
        """What has been read of the item of the `below`-th array from the outermost."""
        return self.before[open_bracket(self.before, self.brackets - below) :].decode()


def _brackets(levels: list[Level]) -> int:
    """How many of the levels are arrays or objects."""
    return sum(level.bracket != "" for level in levels)
