"""The shortest text that completes a stack of levels of JSON.

What completes one level is known from the solver. The levels below follow one by one: each has to
know which value the level above has become only where items or containers must be distinct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from maskwright.automaton.satisfy.search import Parts
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.finite_values import canonical
from maskwright.automaton.value.last_value import open_bracket
from maskwright.automaton.value.level import Level, LevelPhase, Thread
from maskwright.automaton.value.names_read import names_since
from maskwright.automaton.value.progress import MemberOption, ObjectProgress
from maskwright.automaton.value.whitespace import Whitespace
from maskwright.automaton.value.witness_text import (
    ObjectWitness,
    Witness,
    compact,
    enclosed,
    member,
    rendered,
    rendered_items,
    size,
)
from maskwright.errors import TooLongError
from maskwright.immutable import Acyclic

TaggedText = tuple[int, str]
"""The tag of a thread on the level below, and a text with which it gets there."""


class Endings(Acyclic):
    """The shortest texts that complete a stack of levels, one for each tag of the outermost."""

    texts: dict[int, str]
    by_text: bool
    """Whether they depend on the text so far."""


class LevelCompletion:
    """Shortest completions of stacks of levels, from the start of what the innermost waits for to
    the end of the document."""

    def __init__(
        self,
        solver: Solver,
        whitespace: Whitespace,
        owners: Callable[[Level], tuple[Thread, ...]],
    ) -> None:
        """`owners` gives the threads whose values are being read on a level, by their tags."""
        self._solver = solver
        self._whitespace = whitespace
        self._owners = owners

    def by_tag(self, levels: list[Level], before: bytes, *, names: bool = True) -> Endings:
        """For each tag of the outermost level that can still be reached, the shortest text.

        `levels` begin with the innermost; `before` is the text so far. `names`: without the
        names that only the text has.
        """
        work = _Work(before)
        innermost, below = levels[0], levels[1:]
        threads = innermost.threads
        # On any other level no name is needed that the shape doesn't list.
        if names and innermost.phase is LevelPhase.NAME:
            threads = tuple(_with_names(thread, before) for thread in threads)
        found = self._ends_of(innermost, ((thread, "") for thread in threads), work)
        brackets = 0
        for at, level in enumerate(below):
            brackets += levels[at].bracket != ""
            found = self._ends_below(level, _shortest(found, below[at:]), brackets, work)
        if work.too_long is not None and not found:
            raise work.too_long
        return Endings(dict(_shortest(found, [])), work.by_text)

    def _ends_of(
        self, level: Level, threads: Iterable[tuple[Thread, str]], work: _Work
    ) -> list[TaggedText]:
        """For each thread that can be completed, its tag and the shortest text that does it, after
        the text that has been found for the levels above."""
        found: list[TaggedText] = []
        for thread, begun in threads:
            try:
                rest = self._within_level(level, thread)
            except TooLongError as error:
                work.too_long = error
                continue
            if rest is not None:
                found.append((thread.tag, begun + rest))
        return found

    def _ends_below(
        self, level: Level, begun: list[TaggedText], brackets: int, work: _Work
    ) -> list[TaggedText]:
        """The texts that complete a level and the levels above it, of which those in `begun`
        complete the levels above, `brackets` of them arrays or objects."""
        if level.phase is LevelPhase.NEXT:  # waits for the value above
            waiting = [(each, text) for tag, text in begun for each in level.threads_of(tag)]
            return self._ends_of(level, waiting, work)
        owners = self._owners(level)
        if not level.bracket:
            return [(owners[tag].tag, text) for tag, text in begun]
        after = Level(LevelPhase.NEXT, level.bracket, (), level.depth)
        following: list[tuple[Thread, str]] = []
        for tag, text in begun:
            owner, value = owners[tag], None
            if not owner.is_free and not _may_close(owner):
                work.by_text = True
                value_begun = work.before[open_bracket(work.before, brackets) :].decode()
                value = canonical(value_begun + text)
            thread = owner.after_value(value)
            if thread is not None:
                following.append((thread, text))
        return self._ends_of(after, following, work)

    def _within_level(self, level: Level, thread: Thread) -> str | None:
        """The shortest text from the present phase to the closing bracket."""
        space, depth = self._whitespace, level.depth
        progress = thread.progress
        closing = space.line(depth - 1) + ("}" if level.bracket == "{" else "]")
        text = ""
        if level.phase is LevelPhase.DONE:
            return text
        if level.phase is LevelPhase.VALUE:
            assert thread.value is not None
            if progress is None:
                value = self._solver.shortest.of(thread.value)
                return None if value is None else rendered(value, space, depth)
            found = self._solver.search.completion_after(thread.value, progress, thread.by_value)
            if found is None:
                return None
            value, rest = found
            return rendered(value, space, depth) + self._more(rest, level) + closing
        assert progress is not None
        if level.phase is LevelPhase.NAME:
            assert isinstance(progress, ObjectProgress)
            found = self._shortest_member(progress)
            if found is None:
                return None
            name, value, rest = found
            return member(name, value, space, depth) + self._more(rest, level) + closing
        parts = self._solver.search.completion(progress)
        if parts is None:
            return None
        if level.phase is LevelPhase.FIRST:
            return enclosed("", self._texts(parts, level), closing[-1], space, depth - 1)
        return self._more(parts, level) + closing

    def _more(self, parts: Parts, level: Level) -> str:
        """Items or members that come after others."""
        comma = self._whitespace.comma(level.depth)
        return "".join(comma + text for text in self._texts(parts, level))

    def _texts(self, parts: Parts, level: Level) -> list[str]:
        """Items or members."""
        space, depth = self._whitespace, level.depth
        if level.bracket == "{":
            return [member(name, value, space, depth) for name, value in parts]
        return rendered_items((value for _, value in parts), space, depth)

    def _shortest_member(self, progress: ObjectProgress) -> tuple[str, Witness, Parts] | None:
        """The member that must come now, as a comma has been read, and the members after it: name,
        value, and the others, the shortest there are."""
        solver = self._solver
        shape = progress.shape
        plain = solver.search.without_endless(progress)
        options: list[tuple[str, MemberOption]] = [
            (shape.names[at], option)
            for at in progress.names(solver.values.order)
            for option in solver.named_options(plain, at)
        ]
        if progress.others_may_come(solver.values.order):
            fresh = (
                (solver.values.names.fresh(progress, c), c)
                for c in solver.values.names.of(shape.languages)
            )
            for name, each in (*fresh, *solver.values.names.of_candidates(progress)):
                if name is not None:
                    found = solver.other_options(plain, each, name)
                    options += [(name, option) for option in found]
        best: tuple[float, str, Witness, Parts] | None = None
        for name, option in options:
            after = replace(option.after, others=progress.others | {name})
            found = solver.search.completion_after(option.value, after, option.by_value)
            if found is None:
                continue
            value, rest = found
            total = len(name) + size(value) + len(compact(ObjectWitness(rest)))
            if best is None or total < best[0]:
                best = (total, name, value, rest)
        return None if best is None else best[1:]


def _with_names(thread: Thread, before: bytes) -> Thread:
    """The thread of an object with all names that have been read, some of which only the text
    `before` may have."""
    progress = thread.progress
    if not isinstance(progress, ObjectProgress) or not progress.has_unremembered:
        return thread
    others = progress.others | names_since(before, open_bracket(before, 1))
    return replace(thread, progress=replace(progress, others=others))


def _shortest(found: list[TaggedText], below: list[Level]) -> list[TaggedText]:
    """Of the texts of each tag the first of the shortest; all, where it makes a difference to one
    of the levels below which value they end."""
    if any(level.phase is LevelPhase.VALUE and level.bracket for level in below):
        return list(dict.fromkeys(found))
    best: dict[int, str] = {}
    for tag, text in found:
        if tag not in best or len(text) < len(best[tag]):
            best[tag] = text
    return list(best.items())


def _may_close(owner: Thread) -> bool:
    """Whether the container can be closed after a value, whichever the value is."""
    after = owner.progress
    return after is not None and not owner.by_value and after.may_close()


@dataclass(slots=True)
class _Work:
    """One search for a completion."""

    before: bytes
    """The text so far."""
    by_text: bool = False
    """Whether its result depends on the text so far."""
    too_long: TooLongError | None = None
    """Why the last thread was left out whose completion takes too much work or text."""
