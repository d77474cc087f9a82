"""Upper bounds in tokens on the parts of a container: values, items and members.

Each is what the shortest text of the part costs, whatever of its beginning has been read. Where it
is open which parts come, as with counts, the costliest one that may come stands for each of them.
None where only a search can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.finish.distinct_bounds import DISTINGUISHING, UNFINISHED
from maskwright.automaton.satisfy.solver import Solver
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
        self._costliest: dict[tuple[ObjectShape | ArrayShape, int, int], int | None] = {}
        """What the costliest item takes, by depth, or the costliest member, also by the bytes of
        free names and of what may be unfinished in them."""

    def value(self, value: Conjunction, depth: int) -> int | None:
        """A value."""
        text = self._text(value, depth)
        return None if text is None else self._cost(text)

    def closing(self, bracket: str, depth: int) -> int:
        """The closing bracket of a container with items or members at `depth`."""
        return self._cost(self._whitespace.line(depth - 1) + bracket)

    # Items

    def required_items(self, progress: ArrayProgress, depth: int) -> int | None:
        """The items that are still required."""
        shape, index = progress.shape, progress.index
        if progress.wants_repeat:
            return None
        if shape.contains:
            return self._counted_items(progress, depth)
        costs = [self._item(item, depth) for item in shape.prefix[index : shape.least]]
        further = shape.least - max(index, len(shape.prefix))
        if further > 0:
            rest = self._item(shape.rest, depth)
            costs.append(None if rest is None else further * rest)
        return _sum(costs)

    def _counted_items(self, progress: ArrayProgress, depth: int) -> int | None:
        """Where `contains` counts: an item for each one missing, after those that must come before
        any may be counted. Any of them may be of the costliest kind."""
        shape, counts = progress.shape, progress.counts
        before = max(len(shape.prefix), shape.least, *(each.start for each in shape.contains))
        missing = sum(
            max(0, each.least - count) for each, count in zip(shape.contains, counts, strict=True)
        )
        needed = max(0, before - progress.index) + missing
        if needed == 0:
            return 0
        costliest = self.costliest_item(shape, depth)
        return None if costliest is None else needed * costliest

    def costliest_item(self, shape: ArrayShape, depth: int) -> int | None:
        """The costliest item that may come, with a comma."""
        key = (shape, depth, 0)
        if key not in self._costliest:
            kinds = self._kinds(shape)
            costs = None if kinds is None else [self._item(each, depth) for each in kinds]
            self._costliest[key] = None if costs is None else self._greatest(costs, 0, depth)
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

    def _item(self, value: Conjunction, depth: int) -> int | None:
        """A comma and a value."""
        text = self._text(value, depth)
        return None if text is None else self._cost(self._whitespace.comma(depth) + text)

    # Members

    def required_members(self, progress: ObjectProgress, depth: int, besides: int) -> int | None:
        """The members that are still required, without `besides` of them that are counted
        elsewhere: the ones with required names, and as many others as count."""
        shape, left = progress.shape, progress.required_left()
        missing = max(0, shape.least - progress.count - besides - len(left))
        if shape.some:  # each name comes once at most, and one other for each requirement
            needed = len(shape.names) - progress.seen.bit_count() + len(shape.some) + missing
            costliest = self.costliest_member(progress, depth, fresh=missing + len(shape.some))
            return None if costliest is None else needed * costliest
        costs = [self._member(shape.names[at], shape.values[at], depth) for at in left]
        if missing:
            costliest = self.costliest_member(progress, depth, fresh=missing)
            costs.append(None if costliest is None else missing * costliest)
        return _sum(costs)

    def costliest_member(
        self, progress: ObjectProgress, depth: int, *, fresh: int = 0
    ) -> int | None:
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
                self._costliest[key] = self._greatest(costs, unfinished, depth)
            return self._costliest[key]
        costs = [*self._listed(shape, depth)]
        for each in alive:
            size = self._fresh_name(progress, each, fresh)
            costs += [None] if size is None else self._others(shape, each, size, depth)
        return self._greatest(costs, unfinished, depth)

    def _listed(self, shape: ObjectShape, depth: int) -> Iterator[int | None]:
        """What the members take whose names the shape lists."""
        for at, (name, value) in enumerate(zip(shape.names, shape.values, strict=True)):
            demands = (s for each in shape.some for s in each.names.get(at, ()))
            for kind in self._combined(value, demands):
                yield None if kind is None else self._member(name, kind, depth)

    def _others(
        self, shape: ObjectShape, each: NameClass, name: int, depth: int
    ) -> Iterator[int | None]:
        """What the members take whose names are of a class, with `name` bytes for the name and its
        quotes."""
        before = self._cost(self._whitespace.comma(depth) + '"') + name - len('""')
        for kind in self._values_of_others(shape, each):
            text = None if kind is None else self._text(kind, depth)
            yield None if text is None else before + self._cost('"' + self._colon + text)

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

    def _fresh_name(self, progress: ObjectProgress, each: NameClass, before: int) -> int | None:
        """The bytes of the shortest names of a class, with their quotes, that an object can still
        have, as far as so many more of them and one that has just been read go before."""
        names = self._solver.values.names
        if (few := names.few(each)) is not None:
            return max((byte_count(spelled(name)) for name in few), default=0)
        if before > _MOST_FRESH:
            return None
        longest = 0
        for _ in range(before + 2):
            name = names.fresh(progress, each)
            if name is None:
                break
            longest = max(longest, byte_count(spelled(name)))
            progress = replace(progress, others=progress.others | {name})
        return longest

    def _member(self, name: str, value: Conjunction, depth: int) -> int | None:
        """A comma, a name and its value."""
        text = self._text(value, depth)
        if text is None:
            return None
        return self._cost(self._whitespace.comma(depth) + spelled(name) + self._colon + text)

    # Texts

    def _greatest(self, costs: list[int | None], more: int, depth: int) -> int | None:
        """The greatest of the costs and `more`, None if one of them isn't known; a comma if there
        are none."""
        known = [cost + more for cost in costs if cost is not None]
        if len(known) < len(costs):
            return None
        return max(known, default=byte_count(self._whitespace.comma(depth)))

    def _text(self, value: Conjunction, depth: int) -> str | None:
        depth = depth if self._whitespace.lines else 0
        key = (value, depth)
        if key not in self._texts:
            witness = self._solver.shortest.unless_too_long(value)
            text = None if witness is None else rendered(witness, self._whitespace, depth)
            self._texts[key] = text
        return self._texts[key]

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


def _sum(costs: list[int | None]) -> int | None:
    """A sum, None if a part of it isn't known."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
