"""Upper bounds on the tokens that complete a level of JSON, whatever the next token does to it.

Completions themselves (see `completion`) are exact, and cost a search each. Mostly the budget is so
large that a rough bound shows that every token leaves room. The bound is a sum: the value that is
being read, or the costliest member or item that may come next, and then what the containers around
it still require. A *price* says how many tokens a piece of text takes at most, however much of its
beginning has already been read; where nothing better is known, it is the number of bytes.

Each part of a container (a value, an item, a member) is counted as what its shortest text costs,
whatever of its beginning has been read. Where it is open which parts come, as with counts, the
costliest one that may come stands for each of them. Where values must differ, bounds are in bytes
(see `distinct_bounds`). They hold for tokens too: no spelling of the shortest text has more tokens
than bytes. A bound that only a search can tell is `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.finish.distinct_bounds import (
    DISTINGUISHING,
    UNFINISHED,
    UNKNOWN,
    DistinctCostBounds,
)
from maskwright.automaton.machine.contexts import Bound
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.level import Level, LevelPhase, Thread
from maskwright.automaton.value.name_classes import NameClass
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress
from maskwright.automaton.value.whitespace import Whitespace
from maskwright.automaton.value.witness_text import byte_count, rendered, spelled
from maskwright.grammar.schema.tree import Schema, negated
from maskwright.grammar.shape.shape import ArrayShape, Conjunction, ObjectShape
from maskwright.limits import spend

Price = Callable[[bytes], int]
"""The most tokens that any suffix of some bytes takes, of those that are offered where names and
items must differ, which the text may be part of."""

_MOST_COMBINED: Final = 6
"""Demands on one item or member that are looked at in every combination."""
SHORT_NAMES: Final = ((3, 64), (4, 2_016))
"""The bytes of short names, with their quotes, and after how many names the next one, of those that
`NameClasses.fresh` gives where any may come, has no more."""
_MOST_FRESH: Final = 8
"""Names of a language, to be found one after the other, that are looked for."""


class LevelBounds:
    """The bounds of levels; None where only a search can tell."""

    def __init__(self, solver: Solver, whitespace: Whitespace, price: Price) -> None:
        self._solver = solver
        self._parts = PartBounds(solver, whitespace, price)
        self._whitespace = whitespace

    @cached_property
    def _distinct(self) -> DistinctCostBounds:
        return DistinctCostBounds(self._solver, self._whitespace)

    def of_level(self, level: Level) -> Bound | None:
        """The greatest bounds of any thread, as it isn't known which of them will live on."""
        if level.phase is LevelPhase.VALUE and not level.threads:
            return None
        after_leaf = after_value = 0
        for thread in level.threads:
            depends = level.bracket != "" and _depends_on_values(thread)
            whole, closing = (self._distinct_bound if depends else self._bound)(level, thread)
            if whole == UNKNOWN:
                return None
            after_leaf = max(after_leaf, int(whole))
            after_value = max(after_value, int(closing))
        return Bound(after_leaf, after_value)

    def _bound(self, level: Level, thread: Thread) -> tuple[float, float]:
        """The bounds from where a leaf has been left, and from where a value has been read."""
        closing = self._closing(level, thread, 0)
        if closing == UNKNOWN or level.phase is LevelPhase.DONE:
            return closing, closing
        if level.phase is LevelPhase.VALUE:
            value = 0 if thread.value is None else self._parts.value(thread.value, level.depth)
            return value + closing, closing
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
        return max(closing, coming + self._closing(level, thread, one_more)), closing

    def _closing(self, level: Level, thread: Thread, besides: int) -> float:
        """From the end of a value to the end of its container, whose other required parts alone are
        added, but for `besides` members."""
        match thread.progress:
            case None:
                return 0
            case ArrayProgress() as progress:
                parts = self._parts.required_items(progress, level.depth)
            case ObjectProgress() as progress:
                parts = self._parts.required_members(progress, level.depth, besides)
        return parts + self._parts.closing("}", level.depth)

    # Where values must differ

    def _distinct_bound(self, level: Level, thread: Thread) -> tuple[float, float]:
        if self._whitespace.lines:
            return UNKNOWN, UNKNOWN
        closing = self._distinct_closing(thread)
        return self._distinct_coming(level, thread) + closing, closing

    def _distinct_closing(self, thread: Thread) -> float:
        """As `_closing`, where the container must differ from others or its items from each other:
        whatever the value turns out to be."""
        progress = thread.progress
        assert progress is not None
        greatest = self._distinct.closing(progress, len(progress.candidates))
        for _, candidates in thread.by_value:  # those that the container may equal after this value
            following = replace(progress, candidates=candidates)
            closing = self._distinct.closing(following, len(candidates))
            if closing == UNKNOWN and not self._solver.can_complete(following):
                continue  # then the value can't be this one
            greatest = max(greatest, closing)
        return greatest

    def _distinct_coming(self, level: Level, thread: Thread) -> float:
        """The value that is being read, or the costliest item or member that may come, where items
        must differ or be remembered."""
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
            costs = [self._distinct_value(thread, each) + self._distinct.comma for each in items]
            return max(costs, default=0)
        costs = [  # of any value: `_distinct_closing` counts what makes the difference
            self._distinct.value(value, 0) + self._distinct.name(name) + UNFINISHED
            for name, value in zip(shape.names, shape.values, strict=True)
            if possible(value)
        ]
        classes = self._solver.values.names.of(shape.languages)
        free = [shape.others(each.mask) for each in classes]
        alive = [value for value in free if possible(value)]
        if alive and len(alive) < len(free):
            return UNKNOWN  # a name that was begun may take long to become one of the possible ones
        around = self._distinct.around_names + DISTINGUISHING + UNFINISHED
        return max([*costs, *(self._distinct.value(v, 0) + around for v in alive)], default=0)

    def _distinct_value(self, thread: Thread, value: Conjunction) -> float:
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
        begun = self._distinct.string_rest(value, distinguished=distinguished)
        return max(self._distinct.value(value, others), begun)


def _depends_on_values(thread: Thread) -> bool:
    """Whether it makes a difference to a container which values come: it must differ from another
    one or equal it, or its items are remembered."""
    progress = thread.progress
    if progress is None:
        return False
    remembers = isinstance(progress, ArrayProgress) and progress.remembers_items
    return bool(thread.by_value or progress.candidates or progress.must_equal_one or remembers)


class PartBounds:
    """The bounds on parts that a solver finds, written with one style of whitespace."""

    def __init__(self, solver: Solver, whitespace: Whitespace, price: Price) -> None:
        self._solver = solver
        self._whitespace = whitespace
        self._price = price
        self._colon = ":" + whitespace.after_colon.decode()
        self._prices: dict[str, int] = {}
        """What texts cost."""
        self._texts: dict[tuple[Conjunction, int], str | None] = {}
        """A short value of each conjunction, by depth; None if there is none."""
        self._costliest: dict[tuple[ObjectShape | ArrayShape, int, int], float] = {}
        """What the costliest item takes, by depth, or the costliest member, also by the bytes of
        free names and of what may be unfinished in them."""

    def value(self, value: Conjunction, depth: int, before: str = "") -> float:
        """A value, after a text that belongs to it."""
        depth = depth if self._whitespace.lines else 0
        key = (value, depth)
        if key not in self._texts:
            witness = self._solver.shortest.unless_too_long(value)
            text = None if witness is None else rendered(witness, self._whitespace, depth)
            self._texts[key] = text
        text = self._texts[key]
        return UNKNOWN if text is None else self._cost(before + text)

    def closing(self, bracket: str, depth: int) -> int:
        """The closing bracket of a container with items or members at `depth`."""
        return self._cost(self._whitespace.line(depth - 1) + bracket)

    # Items

    def required_items(self, progress: ArrayProgress, depth: int) -> float:
        """The items that are still required."""
        shape, index = progress.shape, progress.index
        if progress.wants_repeat:
            return UNKNOWN
        if shape.contains:
            return self._counted_items(progress, depth)
        total = sum([self._item(item, depth) for item in shape.prefix[index : shape.least]])
        further = shape.least - max(index, len(shape.prefix))
        return total + further * self._item(shape.rest, depth) if further > 0 else total

    def _counted_items(self, progress: ArrayProgress, depth: int) -> float:
        """Where `contains` counts: an item for each one missing, after those that must come before
        any may be counted. Any of them may be of the costliest kind."""
        shape, counts = progress.shape, progress.counts
        before = max(len(shape.prefix), shape.least, *(each.start for each in shape.contains))
        missing = sum(
            max(0, each.least - count) for each, count in zip(shape.contains, counts, strict=True)
        )
        needed = max(0, before - progress.index) + missing
        return needed * self.costliest_item(shape, depth) if needed else 0

    def costliest_item(self, shape: ArrayShape, depth: int) -> float:
        """The costliest item that may come, with a comma."""
        key = (shape, depth, 0)
        if key not in self._costliest:
            kinds = self._kinds(shape)
            costs = [UNKNOWN] if kinds is None else [self._item(each, depth) for each in kinds]
            self._costliest[key] = max(costs, default=self._comma(depth))
        return self._costliest[key]

    def _kinds(self, shape: ArrayShape) -> list[Conjunction] | None:
        """What an item may have to satisfy: by its place, and by what counts it."""
        items = dict.fromkeys((*shape.prefix, shape.rest))
        if len(shape.contains) > _MOST_COMBINED // 2:
            return None
        none: Conjunction = frozenset()
        demands = ((none, _one(c.schema), _one(negated(c.schema))) for c in shape.contains)
        every = [none.union(*each) for each in product(*demands)]
        possible = self._solver.satisfiable
        spend(len(items) * len(every))
        return [item | each for item in items for each in every if possible(item | each)]

    def _item(self, value: Conjunction, depth: int) -> float:
        """A comma and a value."""
        return self.value(value, depth, self._whitespace.comma(depth))

    # Members

    def required_members(self, progress: ObjectProgress, depth: int, besides: int) -> float:
        """The members that are still required, without `besides` of them that are counted
        elsewhere: the ones with required names, and as many others as count."""
        shape, left = progress.shape, progress.required_left()
        missing = max(0, shape.least - progress.count - besides - len(left))
        if shape.some:  # each name comes once at most, and one other for each requirement
            needed = len(shape.names) - progress.seen.bit_count() + len(shape.some) + missing
            fresh = missing + len(shape.some)
            return needed * self.costliest_member(progress, depth, fresh=fresh)
        total = sum([self._member(shape.names[at], shape.values[at], depth) for at in left])
        if not missing:
            return total
        return total + missing * self.costliest_member(progress, depth, fresh=missing)

    def costliest_member(self, progress: ObjectProgress, depth: int, *, fresh: int = 0) -> float:
        """The costliest member that may come, with a comma. It is the next one, in whose name a
        character may have been begun, or one of `fresh` members after that with names that are not
        listed."""
        shape = progress.shape
        classes = self._solver.values.names.of(shape.languages)
        alive = [each for each in classes if self._values_of_others(shape, each)]
        unfinished = 0 if fresh else UNFINISHED
        if len(alive) in (0, len(classes)):
            name = _free_name(progress, fresh) if fresh else DISTINGUISHING
            key = (shape, depth, name + unfinished)
            if key not in self._costliest:
                costs = [*self._listed(shape, depth)]
                for each in alive:
                    costs += self._others(shape, each, name, depth)
                greatest = max(costs, default=None)
                self._costliest[key] = (
                    self._comma(depth) if greatest is None else greatest + unfinished
                )
            return self._costliest[key]
        sizes = [self._fresh_name(progress, each, fresh) for each in alive]
        if UNKNOWN in sizes:
            return UNKNOWN
        costs = [*self._listed(shape, depth)]
        for each, size in zip(alive, sizes, strict=True):
            costs += self._others(shape, each, size, depth)
        return max(costs) + unfinished

    def _listed(self, shape: ObjectShape, depth: int) -> Iterator[float]:
        """What the members take whose names the shape lists."""
        for at, (name, value) in enumerate(zip(shape.names, shape.values, strict=True)):
            demands = (s for each in shape.some for s in each.names.get(at, ()))
            for kind in self._combined(value, demands):
                yield UNKNOWN if kind is None else self._member(name, kind, depth)

    def _others(
        self, shape: ObjectShape, each: NameClass, name: float, depth: int
    ) -> Iterator[float]:
        """What the members take whose names are of a class, with `name` bytes for the name and its
        quotes."""
        before = self._cost(self._whitespace.comma(depth) + '"') + name - len('""')
        for kind in self._values_of_others(shape, each):
            text = '"' + self._colon
            yield UNKNOWN if kind is None else before + self.value(kind, depth, text)

    def _values_of_others(self, shape: ObjectShape, each: NameClass) -> list[Conjunction | None]:
        """What the value of a member may have to satisfy whose name is of a class."""
        demands = (s for some in shape.some for at, s in some.languages if each.mask[at])
        return list(self._combined(shape.others(each.mask), demands))

    def _combined(
        self, value: Conjunction, demands: Iterable[Schema]
    ) -> Iterator[Conjunction | None]:
        """A value with any of the demands made on it, as far as there are such values; None where
        there are too many combinations."""
        every = list(dict.fromkeys(demands))
        if len(every) > _MOST_COMBINED:
            yield None
            return
        for chosen in product((False, True), repeat=len(every)):
            kind = value.union(s for s, taken in zip(every, chosen, strict=True) if taken)
            spend()
            if self._solver.satisfiable(kind):
                yield kind

    def _fresh_name(self, progress: ObjectProgress, each: NameClass, before: int) -> float:
        """The bytes of the shortest names of a class, with their quotes, that an object can still
        have, as far as so many more of them and one that has just been read go before."""
        names = self._solver.values.names
        if (few := names.few(each)) is not None:
            return max((byte_count(spelled(name)) for name in few), default=0)
        if before > _MOST_FRESH:
            return UNKNOWN
        longest = 0
        for _ in range(before + 2):
            name = names.fresh(progress, each)
            if name is None:
                break
            longest = max(longest, byte_count(spelled(name)))
            progress = replace(progress, others=progress.others | {name})
        return longest

    def _member(self, name: str, value: Conjunction, depth: int) -> float:
        """A comma, a name and its value."""
        return self.value(value, depth, self._whitespace.comma(depth) + spelled(name) + self._colon)

    # Texts

    def _comma(self, depth: int) -> int:
        """What stands for the costliest item or member where none may come."""
        return byte_count(self._whitespace.comma(depth))

    def _cost(self, text: str) -> int:
        if "[" in text and self._solver.search.repeats_items:
            return byte_count(text)  # tokens that go on after an item may not be offered in it
        known = self._prices.get(text)
        if known is None:
            known = self._prices[text] = self._price(text.encode("utf-8", "surrogatepass"))
        return known


def _free_name(progress: ObjectProgress, fresh: int) -> int:
    """The bytes, with the quotes, of the shortest names that are not listed, where all such names
    may come: the names of `fresh` members after the next one."""
    if progress.shape.languages:
        return DISTINGUISHING
    used = 1 + len(progress.shape.names) + progress.count + 1 + fresh  # the empty name is one
    return next((size for size, names in SHORT_NAMES if used <= names), DISTINGUISHING)


def _one(schema: Schema) -> Conjunction:
    return frozenset([schema])
