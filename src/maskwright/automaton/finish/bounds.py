"""Upper bounds on the tokens that complete a level of JSON, whatever the next token does to it.

Completions themselves (see `completion`) are exact, and cost a search each. Mostly the budget is so
large that a rough bound shows that every token leaves room. The bound is a sum: the value that is
being read, or the costliest member or item that may come next, and then what the containers around
it still require. A *price* says how many tokens a piece of text takes at most, however much of its
beginning has already been read; where nothing better is known, it is the number of bytes.

Where values must differ, bounds are in bytes (see `distinct_bounds`). They hold for tokens too: no
spelling of the shortest text has more tokens than bytes.
"""

from __future__ import annotations

from functools import cached_property

from msgspec.structs import replace

from maskwright.automaton.finish.distinct_bounds import (
    DISTINGUISHING,
    UNFINISHED,
    DistinctCostBounds,
)
from maskwright.automaton.finish.part_bounds import PartBounds, Price
from maskwright.automaton.machine.contexts import Bound
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.level import Level, LevelPhase, Thread
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress
from maskwright.automaton.value.whitespace import Whitespace
from maskwright.automaton.value.witness_text import byte_count, spelled
from maskwright.grammar.shape.shape import ArrayShape, Conjunction


class LevelBounds:
    """The bounds of levels; None where only a search can tell."""

    def __init__(self, solver: Solver, whitespace: Whitespace, price: Price) -> None:
        self._solver = solver
        self._parts = PartBounds(solver, whitespace, price)
        self._whitespace = whitespace
        self._comma = "," + whitespace.after_comma.decode()
        self._colon = ":" + whitespace.after_colon.decode()

    @cached_property
    def _distinct(self) -> DistinctCostBounds:
        return DistinctCostBounds(self._solver, self._whitespace)

    def of_level(self, level: Level) -> Bound | None:
        """The greatest bounds of any thread, as it isn't known which of them will live on."""
        if level.phase is LevelPhase.VALUE and not level.threads:
            return None
        after_leaf = after_value = 0
        for thread in level.threads:
            if level.bracket != "" and _depends_on_values(thread):
                found = self._distinct_bound(level, thread)
            else:
                found = self._bound(level, thread)
            if found is None:
                return None
            after_leaf = max(after_leaf, found.after_leaf)
            after_value = max(after_value, found.after_value)
        return Bound(after_leaf, after_value)

    def _bound(self, level: Level, thread: Thread) -> Bound | None:
        closing = self._closing(level, thread, 0)
        if closing is None or level.phase is LevelPhase.DONE:
            return None if closing is None else Bound(closing, closing)
        if level.phase is LevelPhase.VALUE:
            value = 0 if thread.value is None else self._parts.value(thread.value, level.depth)
            return None if value is None else Bound(value + closing, closing)
        one_more = 0
        match thread.progress:
            case ArrayProgress(shape=shape):
                coming = self._parts.costliest_item(shape, level.depth)
            case ObjectProgress() as progress:
                coming = self._parts.costliest_member(progress, level.depth)
                # With no name required, one more is one of those that count.
                one_more = 0 if progress.required_left() else 1
            case None:
                raise AssertionError("a value alone has no items")
        then = self._closing(level, thread, one_more)
        if coming is None or then is None:
            return None
        return Bound(max(closing, coming + then), closing)

    def _closing(self, level: Level, thread: Thread, besides: int) -> int | None:
        """From the end of a value to the end of its container, whose other required parts alone are
        added, but for `besides` members."""
        match thread.progress:
            case None:
                return 0
            case ArrayProgress() as progress:
                parts = self._parts.required_items(progress, level.depth)
            case ObjectProgress() as progress:
                parts = self._parts.required_members(progress, level.depth, besides)
        return _plus(parts, self._parts.closing("}", level.depth))

    # Where values must differ

    def _distinct_bound(self, level: Level, thread: Thread) -> Bound | None:
        if self._whitespace.lines:
            return None
        closing = self._distinct_closing(thread)
        coming = self._distinct_coming(level, thread)
        return None if closing is None or coming is None else Bound(coming + closing, closing)

    def _distinct_closing(self, thread: Thread) -> int | None:
        """As `_closing`, where the container must differ from others or its items from each other:
        whatever the value turns out to be."""
        progress = thread.progress
        assert progress is not None
        greatest = self._distinct.closing(progress, len(progress.candidates))
        for _, candidates in thread.by_value:  # those that the container may equal after this value
            following = replace(progress, candidates=candidates)
            closing = self._distinct.closing(following, len(candidates))
            if closing is None and not self._solver.can_complete(following):
                continue  # then the value can't be this one
            greatest = None if greatest is None or closing is None else max(greatest, closing)
        return greatest

    def _distinct_coming(self, level: Level, thread: Thread) -> int | None:
        """As `_coming`, where items must differ or be remembered."""
        if level.phase is LevelPhase.DONE:
            return 0
        progress = thread.progress
        assert progress is not None
        if level.phase is LevelPhase.VALUE:
            return 0 if thread.value is None else self._distinct_value(thread, thread.value)
        shape = progress.shape
        possible = self._solver.satisfiable
        if isinstance(shape, ArrayShape):
            items = [each for each in (*shape.prefix, shape.rest) if possible(each)]
            costs = [self._distinct_value(thread, each) for each in items]
            return _greatest([_plus(cost, len(self._comma)) for cost in costs])
        costs = [  # of any value: `_distinct_closing` counts what makes the difference
            _plus(self._distinct.value(value, 0), self._around(spelled(name)))
            for name, value in zip(shape.names, shape.values, strict=True)
            if possible(value)
        ]
        classes = self._solver.values.names.of(shape.languages)
        free = [shape.others(each.mask) for each in classes]
        alive = [value for value in free if possible(value)]
        if alive and len(alive) < len(free):
            return None  # a name that was begun may take long to become one of the possible ones
        around = self._around("") + DISTINGUISHING
        return _greatest([*costs, *(_plus(self._distinct.value(v, 0), around) for v in alive)])

    def _around(self, name: str) -> int:
        """The bytes of a name, a character that was begun in it, a comma and a colon."""
        return len(self._comma) + byte_count(name) + UNFINISHED + len(self._colon)

    def _distinct_value(self, thread: Thread, value: Conjunction) -> int | None:
        """A value that differs from those that it must not equal, or the end of one that has been
        begun."""
        progress = thread.progress
        assert progress is not None
        others = len(progress.candidates) + len(thread.by_value)
        distinguished = any(text[0] == '"' for text, _ in thread.by_value)
        if isinstance(progress, ArrayProgress) and progress.unique:
            others += len(progress.seen) + 1
            shape = progress.shape
            listed = map(self._solver.values.finite_values, (*shape.prefix, shape.rest))
            distinguished = distinguished or any(each.strings for each in listed)
        whole = self._distinct.value(value, others)
        begun = self._distinct.string_rest(value, distinguished=distinguished)
        return None if whole is None or begun is None else max(whole, begun)


def _plus(cost: int | None, more: int) -> int | None:
    """A sum, None if a part of it isn't known."""
    return None if cost is None else cost + more


def _greatest(costs: list[int | None]) -> int | None:
    """The greatest of the costs, None if one of them isn't known; 0 if there are none."""
    known = [cost for cost in costs if cost is not None]
    return max(known, default=0) if len(known) == len(costs) else None


def _depends_on_values(thread: Thread) -> bool:
    """Whether it makes a difference to a container which values come: it must differ from another
    one or equal it, or its items are remembered."""
    progress = thread.progress
    if progress is None:
        return False
    remembers = isinstance(progress, ArrayProgress) and progress.remembers_items
    return bool(thread.by_value or progress.candidates or progress.must_equal_one or remembers)
