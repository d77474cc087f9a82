"""The shortest value of each conjunction, or that it has none.

The promise that no mask leads into a dead end rests on this: what has no value is pruned.
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Final

from maskwright.automaton.satisfy.distinct import too_long
from maskwright.automaton.satisfy.schema_values import NOTHING, SchemaValues
from maskwright.automaton.satisfy.search import ContainerSearch, container
from maskwright.automaton.value.progress import ObjectProgress, Progress
from maskwright.automaton.value.witness_text import ScalarWitness, Witness, size
from maskwright.errors import LimitError, TooLongError
from maskwright.grammar.shape.shape import Conjunction, construct_of
from maskwright.limits import CHEAP, spend

_MOST_QUERIES: Final = 20_000

_Query = tuple[Conjunction, frozenset[str]]
"""The arguments of `distinct.Find`."""


class ShortestValues:
    """The shortest value of every conjunction that has been asked for, settled for good."""

    def __init__(self, values: SchemaValues) -> None:
        self._values = values
        self._known: dict[_Query, Witness | None] = {}
        self.search: Final = ContainerSearch(values, self._find)

    def release(self) -> None:
        """Break the cycles of references; nothing can be asked afterwards."""
        vars(self.search).clear()
        vars(self).clear()

    def of(self, conjunction: Conjunction) -> Witness | None:
        """The value that takes the fewest bytes, None if there is no value at all."""
        return self._find(conjunction, NOTHING)

    def unless_too_long(self, conjunction: Conjunction) -> Witness | None:
        """Like `of`, but None also where the value is too long to be written out."""
        try:
            return self.of(conjunction)
        except TooLongError:
            return None

    def _find(self, conjunction: Conjunction, excluded: frozenset[str]) -> Witness | None:
        """See `distinct.Find`."""
        query = (conjunction, excluded)
        if query not in self._known:
            is_outermost = self.search.steps_left is None
            if is_outermost:
                self.search.steps_left = self._values.limits.witness_search
            try:
                _Sweeps(self._values, self.search, self._known).settle(query)
            finally:
                if is_outermost:
                    self.search.steps_left = None
        return self._known[query]


class _Sweeps:
    """One computation of shortest values that depend on each other.

    Values are improved in sweeps until they stand still (Knuth's generalisation of Dijkstra's
    algorithm): recursion ends because a container is longer than what it contains. Only what a
    shortest container can hold is looked at: required names and least counts, not options.
    """

    def __init__(
        self, values: SchemaValues, search: ContainerSearch, known: dict[_Query, Witness | None]
    ) -> None:
        self._values = values
        self._search = search
        self._known = known
        self._best: dict[_Query, Witness | None] = {}
        self._starts: dict[_Query, list[Progress]] = {}
        self._asked: dict[_Query, set[_Query]] = {}
        """The queries that the last search for each one asked."""
        self._clock = count()
        """Counts improvements and searches."""
        self._improved: dict[_Query, int] = {}
        """When the best value of each query became what it is."""
        self._searched: dict[_Query, int] = {}
        self._searching: list[_Query] = []
        self._too_long: dict[_Query, TooLongError] = {}
        """Why the values of some queries are not known, or not the shortest."""

    def settle(self, query: _Query) -> None:
        """Find the answer of `query` and of all that it depends on, and keep them."""
        self._join(query)
        changed = True
        while changed:
            joined = len(self._best)
            changed = False
            for each in list(self._best):
                spend(CHEAP)
                if self._is_stale(each):
                    changed |= self._improve(each)
            changed |= len(self._best) > joined
        if not self._too_long:
            self._known.update(self._best)
            return
        # What has been found is right, but what has not may need a value that is too long.
        found = {each: best for each, best in self._best.items() if best is not None}
        self._known.update(found)
        if query not in found:
            raise self._too_long.get(query) or next(iter(self._too_long.values()))

    def _is_stale(self, query: _Query) -> bool:
        """Whether a search may find a shorter value than the last one did."""
        last = self._searched.get(query)
        return last is None or any(self._improved[each] > last for each in self._asked[query])

    def _join(self, query: _Query) -> None:
        """Enter a query, and the ones that its answer can depend on."""
        conjunction, excluded = query
        for each in [conjunction] if excluded else self._reachable(conjunction):
            if (each, excluded) not in self._best:
                self._enter((each, excluded))

    def _enter(self, query: _Query) -> None:
        conjunction, excluded = query
        try:
            self._best[query] = None if excluded else self._values.shortest_scalar(conjunction)
        except TooLongError as error:
            error.complete(construct=construct_of(conjunction))
            self._best[query], self._too_long[query] = None, error
        self._starts[query] = list(self._values.containers(conjunction, excluded))
        self._asked[query] = set()
        self._improved[query] = next(self._clock)
        if len(self._best) > _MOST_QUERIES:
            raise too_long()

    def _find(self, conjunction: Conjunction, excluded: frozenset[str]) -> Witness | None:
        """The best value so far; see `distinct.Find`."""
        query = (conjunction, excluded)
        if query in self._known:
            return self._known[query]
        if query not in self._best:  # it is only asked for as an item that must differ from others
            self._join(query)
            if excluded:
                self._improve(query)
        self._asked[self._searching[-1]].add(query)
        return self._best[query]

    def _improve(self, query: _Query) -> bool:
        """Look for a shorter value; whether there is one."""
        spend(CHEAP)
        before = size(self._best[query])
        self._searching.append(query)
        self._searched[query] = next(self._clock)
        for progress in self._starts[query]:
            try:
                parts = self._search.find_completion(progress, self._find)
            except TooLongError as error:
                error.complete(construct=construct_of(query[0]))
                self._too_long[query] = error
                continue
            except LimitError as error:
                error.complete(construct=construct_of(query[0]))
                raise
            witness = None if parts is None else container(progress, parts)
            if size(witness) < size(self._best[query]):
                self._best[query] = witness
                self._improved[query] = next(self._clock)
        self._searching.pop()
        return size(self._best[query]) < before

    def _reachable(self, conjunction: Conjunction) -> list[Conjunction]:
        """The conjunctions, not settled yet, that the shortest values can be made of."""
        reachable = {conjunction: None}
        stack = [conjunction]
        starts: list[Progress] = []
        noted = 0

        def note(needed: Conjunction, _: frozenset[str]) -> Witness | None:
            nonlocal noted
            noted += 1
            if noted == most:  # now it is worth the time to find out whether that leads anywhere
                check_readable(conjunction, starts, most)
            if (needed, NOTHING) not in self._known and needed not in reachable:
                reachable[needed] = None
                stack.append(needed)
            return ScalarWitness("0")  # as if all had a value: the search asks for all it may need

        most = self._values.limits.alternatives
        while stack:
            starts, noted = list(self._values.containers(stack.pop())), 0
            for progress in starts:
                spend()
                self._search.find_completion(progress, note, thorough=True)
        return list(reachable)


def check_readable(value: Conjunction, starts: list[Progress], most: int) -> None:
    """Raise `LimitError` if the value of some member can be read in more than `most` ways, of all
    the alternatives of an object together: `starts`, before the first member of `value`."""
    ways: Counter[str] = Counter()
    for start in starts:
        if isinstance(start, ObjectProgress) and start.shape.some:
            for at, name in enumerate(start.shape.names):
                spend()
                ways[name] += start.ways(at)
                if ways[name] > most:
                    raise LimitError(
                        f"the property {name!r} can be read in more than {most:,} ways: as a value"
                        " of each option, and of any of the others or not",
                        limit="alternatives",
                        value=most,
                        construct=construct_of(value),
                        way_out="give the options a property or type in which they differ",
                    )
