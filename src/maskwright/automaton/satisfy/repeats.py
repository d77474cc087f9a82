"""The shortest items of an array in which some two must be equal.

Which two is guessed: an item is *held* open until another one, which satisfies its own schemas and
those of the item held, gives both their value. So one search over progress finds the shortest way,
and whether there is any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from maskwright.automaton.satisfy.distinct import NOTHING, Find, Place, too_long
from maskwright.automaton.value.progress import ArrayProgress
from maskwright.automaton.value.witness_text import Witness, size
from maskwright.grammar.shape.one_of import Possible
from maskwright.grammar.shape.shape import Conjunction
from maskwright.limits import spend

_MOST_STEPS: Final = 20_000

Unlike = Callable[[Conjunction, frozenset[str], Find], Witness | None]
"""The shortest value of a conjunction besides some."""
Exactly = Callable[[Conjunction, str], Witness | None]
"""One value, if it satisfies a conjunction."""
Finishes = Callable[[ArrayProgress], bool]
"""Whether an array can be completed, where that is known for good."""


class _Way(NamedTuple):
    here: ArrayProgress
    held: Place | None
    items: tuple[Witness | None, ...]
    """None stands for the item held."""


class _Step(NamedTuple):
    way: _Way
    cost: float


class Repeats:
    def __init__(
        self, unlike: Unlike, exactly: Exactly, possible: Possible, finishes: Finishes
    ) -> None:
        self._unlike = unlike
        self._exactly = exactly
        self._finishes = finishes
        self._possible = possible
        self._partners: dict[ArrayProgress, tuple[Conjunction, ...]] = {}

    def rest(
        self,
        progress: ArrayProgress,
        find: Find,
        first: Place | None = None,
        *,
        thorough: bool = False,
    ) -> tuple[Witness, ...] | None:
        """The shortest way to a closing bracket; the next item is `first`, if that is given, and
        then `progress` is what comes behind it. `thorough` looks at all that ways can be made of.
        """
        seen = progress.seen
        start = progress._replace(seen=NOTHING, promised=None)
        tie = count()
        queue: list[tuple[float, int, _Way]] = []
        if first is not None:
            steps = self._steps(_Way(start, None, ()), first, start, seen, find)
        else:
            held = None if progress.promised is None else Place(progress.promised)
            steps = iter([_Step(_Way(start, held, ()), 0)])
        for way, cost in steps:
            heappush(queue, (cost, next(tie), way))
        done: set[tuple[ArrayProgress, Place | None]] = set()
        while queue:
            cost, _, way = heappop(queue)
            here, held, items = way
            if (here, held) in done:
                continue
            done.add((here, held))
            if len(done) > _MOST_STEPS:
                raise too_long()
            if here.may_close():
                if thorough:
                    continue
                return tuple(item for item in items if item is not None)
            for option in here.options():
                for following, more in self._steps(
                    way, Place(option.value), option.after, seen, find
                ):
                    heappush(queue, (cost + more, next(tie), following))
        return None

    def _steps(
        self, way: _Way, item: Place, after: ArrayProgress, seen: frozenset[str], find: Find
    ) -> Iterator[_Step]:
        """What the next item may be on a way, and what is behind it."""
        spend()
        _, held, items = way
        repeated = after._replace(repeated=True)
        plain = self._unlike(item.value, item.beside, find)
        if plain is None:
            return
        yield _Step(_Way(after, held, (*items, plain)), 1 + size(plain))
        if not after.wants_repeat:
            return
        if held is None:
            for text in sorted(seen - item.beside):
                again = self._exactly(item.value, text)
                if again is not None:
                    yield _Step(_Way(repeated, None, (*items, again)), 1 + size(again))
            yield _Step(_Way(after, item, (*items, None)), 1)
            return
        both = self._unlike(held.value | item.value, held.beside | item.beside, find)
        if both is not None:
            filled = tuple(both if each is None else each for each in items)
            yield _Step(_Way(repeated, None, (*filled, both)), 1 + 2 * size(both))

    def partners(self, progress: ArrayProgress) -> tuple[Conjunction, ...]:
        """What an item to come may have to be that is equal to the last one read, so that the
        array can be completed: one conjunction for each way to go on."""
        start = progress._replace(seen=NOTHING, promised=None)
        if start not in self._partners:
            self._partners[start] = tuple(dict.fromkeys(self._find_partners(start)))
        return self._partners[start]

    def _find_partners(self, start: ArrayProgress) -> Iterator[Conjunction]:
        queue = [start]
        done = {start}
        for here in queue:  # which grows
            for option in here.options():
                spend()
                if not self._possible(option.value):
                    continue
                if self._finishes(option.after._replace(repeated=True)):
                    yield option.value
                if option.after not in done:
                    done.add(option.after)
                    queue.append(option.after)
