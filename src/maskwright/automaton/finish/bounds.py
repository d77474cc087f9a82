"""How many tokens can certainly complete a text, whatever one token does to it: upper bounds.

Completions themselves (`automaton.finish`) are exact and cost a search each. Most of the time the
budget is so large that a rough bound is enough to know that every token leaves room, and that is a
sum over levels: what the value being read needs, or the costliest member or item that may come,
then what the containers around it still require. A *price* says how many tokens a piece of text
takes, whatever of its beginning is already there; by bytes, where nothing better is known.

Where values must differ, bounds are in bytes (see `plenty`): then the shortest text in bytes, which
is what a search finds, surely takes no more tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from maskwright.automaton.finish.distinct_bounds import BEGUN, FRESH, Plenty
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.level import Level, LevelPhase, Thread
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress
from maskwright.automaton.value.whitespace import Whitespace
from maskwright.automaton.value.witness_text import byte_count, rendered, spelled
from maskwright.grammar.shape.shape import ArrayShape, Conjunction, ObjectShape
from maskwright.grammar.shape.shapes import Shapes

Price = Callable[[bytes], int]
"""The most tokens that any ending of some bytes takes."""


class Bound(NamedTuple):
    here: int
    """Tokens that complete a level once the leaf in it has been left, in whichever way."""
    behind: int
    """Tokens that complete it once a value in it has been read."""


class Bounds:
    """The bounds of levels; None where only a search can tell."""

    def __init__(
        self, shapes: Shapes, solver: Solver, whitespace: Whitespace, price: Price
    ) -> None:
        self._solver = solver
        self._plenty = Plenty(shapes, solver, whitespace)
        self._whitespace = whitespace
        self._price = price
        self._comma = "," + whitespace.after_comma.decode()
        self._colon = ":" + whitespace.after_colon.decode()
        self._sizes: dict[str, int] = {}
        self._values: dict[Conjunction, str | None] = {}
        self._most: dict[ObjectShape | ArrayShape, int | None] = {}

    def of(self, level: Level) -> Bound | None:
        """The greatest bounds among the threads; whichever of them lives on is bounded so."""
        if self._whitespace.lines or (level.phase is LevelPhase.VALUE and not level.threads):
            return None
        here = behind = 0
        for thread in level.threads:
            apart = level.bracket != "" and _apart(thread)
            rest = self._rest_apart(thread) if apart else self._rest(thread)
            more = self._more_apart(level, thread) if apart else self._more(level, thread)
            if rest is None or more is None:
                return None
            here, behind = max(here, rest + more), max(behind, rest)
        return Bound(here, behind)

    def _rest(self, thread: Thread) -> int | None:
        """From behind a value to behind the closing bracket, with the required parts alone."""
        match thread.progress:
            case None:
                return 0
            case ArrayProgress(shape=shape, index=index) as progress:
                if shape.contains or progress.wants_repeat:
                    return None
                costs = [self._item(item) for item in shape.prefix[index : shape.least]]
                further = shape.least - max(index, len(shape.prefix))
                if further > 0:
                    rest = self._item(shape.rest)
                    costs.append(None if rest is None else further * rest)
            case ObjectProgress(shape=shape) as progress:
                left = progress.required_left()
                if shape.some or progress.count + len(left) < shape.least:
                    return None
                costs = [self._member(shape.names[at], shape.values[at]) for at in left]
        known = [cost for cost in costs if cost is not None]
        return 1 + sum(known) if len(known) == len(costs) else None

    def _more(self, level: Level, thread: Thread) -> int | None:
        """The value, item or member that may be read before that."""
        if level.phase is LevelPhase.DONE:
            return 0
        if level.phase is LevelPhase.VALUE:
            return 0 if thread.value is None else self._value(thread.value)
        assert thread.progress is not None
        shape = thread.progress.shape
        if shape not in self._most:
            found = self._items(shape) if isinstance(shape, ArrayShape) else self._members(shape)
            self._most[shape] = _greatest(found) if found else len(self._comma)
        return self._most[shape]

    # Where values must differ

    def _rest_apart(self, thread: Thread) -> int | None:
        progress = thread.progress
        assert progress is not None
        rest = self._plenty.rest(progress, len(progress.candidates))
        for _, left in thread.by_value:  # the value may be that of some candidates
            following = progress._replace(candidates=left)
            more = self._plenty.rest(following, len(left))
            if more is None and not self._solver.can_complete(following):
                continue  # so that it must not be this one
            rest = None if rest is None or more is None else max(rest, more)
        return rest

    def _more_apart(self, level: Level, thread: Thread) -> int | None:
        if level.phase is LevelPhase.DONE:
            return 0
        progress = thread.progress
        assert progress is not None
        if level.phase is LevelPhase.VALUE:
            return 0 if thread.value is None else self._value_apart(thread, thread.value)
        shape = progress.shape
        possible = self._solver.satisfiable
        if isinstance(shape, ArrayShape):
            items = [each for each in (*shape.prefix, shape.rest) if possible(each)]
            costs = [self._value_apart(thread, each) for each in items]
            return _greatest([_plus(cost, len(self._comma)) for cost in costs])
        costs = [  # of any value: `_rest_apart` counts what makes the difference
            _plus(self._plenty.of(value, 0), self._around(spelled(name)))
            for name, value in zip(shape.names, shape.values, strict=True)
            if possible(value)
        ]
        classes = self._solver.values.names.of(shape.languages)
        free = [shape.others(each.mask) for each in classes]
        alive = [value for value in free if possible(value)]
        if alive and len(alive) < len(free):
            return None  # the name itself may take long to complete
        around = self._around("") + FRESH
        return _greatest([*costs, *(_plus(self._plenty.of(v, 0), around) for v in alive)])

    def _around(self, name: str) -> int:
        """The bytes of a name, with what stands around it."""
        return len(self._comma) + byte_count(name) + BEGUN + len(self._colon)

    def _value_apart(self, thread: Thread, value: Conjunction) -> int | None:
        """A value, or the end of one that has been begun."""
        progress = thread.progress
        assert progress is not None
        others = len(progress.candidates) + len(thread.by_value)
        told = any(text[0] == '"' for text, _ in thread.by_value)
        if isinstance(progress, ArrayProgress) and progress.unique:
            others += len(progress.seen) + 1
            shape = progress.shape
            supplies = map(self._solver.values.finite_values, (*shape.prefix, shape.rest))
            told = told or any(supply.strings for supply in supplies)
        whole, begun = self._plenty.of(value, others), self._plenty.string(value, told=told)
        return None if whole is None or begun is None else max(whole, begun)

    # Where they need not

    def _items(self, shape: ArrayShape) -> list[int | None]:
        items = [*shape.prefix, shape.rest]
        return [self._item(item) for item in items if self._solver.satisfiable(item)]

    def _members(self, shape: ObjectShape) -> list[int | None]:
        solver = self._solver
        costs = [
            _plus(self._member(name, value), BEGUN)
            for name, value in zip(shape.names, shape.values, strict=True)
            if solver.satisfiable(value)
        ]
        classes = solver.values.names.of(shape.languages)
        others = [shape.others(each.mask) for each in classes]
        alive = [value for value in others if solver.satisfiable(value)]
        if alive and len(alive) < len(others):
            return [None]  # the name itself may take long to complete
        around = len(self._comma) + FRESH + BEGUN + len(self._colon)
        return costs + [_plus(self._value(value), around) for value in alive]

    def _item(self, value: Conjunction) -> int | None:
        """A comma and a value."""
        text = self._text(value)
        return None if text is None else self._size(self._comma + text)

    def _member(self, name: str, value: Conjunction) -> int | None:
        """A comma, a name and its value."""
        text = self._text(value)
        if text is None:
            return None
        return self._size(self._comma + spelled(name) + self._colon + text)

    def _value(self, value: Conjunction) -> int | None:
        text = self._text(value)
        return None if text is None else self._size(text)

    def _text(self, value: Conjunction) -> str | None:
        if value not in self._values:
            witness = self._solver.shortest.of(value)
            self._values[value] = (
                None if witness is None else rendered(witness, self._whitespace, 0)
            )
        return self._values[value]

    def _size(self, text: str) -> int:
        known = self._sizes.get(text)
        if known is None:
            known = self._sizes[text] = self._price(text.encode("utf-8", "surrogatepass"))
        return known


def _plus(cost: int | None, more: int) -> int | None:
    return None if cost is None else cost + more


def _greatest(costs: list[int | None]) -> int | None:
    known = [cost for cost in costs if cost is not None]
    return max(known, default=0) if len(known) == len(costs) else None


def _apart(thread: Thread) -> bool:
    """Whether it makes a difference which values come."""
    progress = thread.progress
    if progress is None:
        return False
    told = isinstance(progress, ArrayProgress) and progress.remembers_items
    return bool(thread.by_value or progress.candidates or progress.must_equal_one or told)
