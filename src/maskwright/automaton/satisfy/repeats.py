"""Arrays in which some two items must be equal: a completion of the fewest bytes.

Which two are equal is guessed: an item is *held* open until a later one, which satisfies its own
schemas and the schemas of the item held, gives both their value. So one uniform-cost search finds
the shortest completion, or that there is none. The paths of a search are sequences that grow at
their end and share their beginnings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Final, Generic, NamedTuple, TypeVar

from maskwright.automaton.satisfy.distinct import Find, OpenItem, too_long
from maskwright.automaton.satisfy.schema_values import NOTHING
from maskwright.automaton.value.progress import ArrayProgress
from maskwright.automaton.value.witness_text import Witness, size
from maskwright.limits import CHEAP, spend

_Part = TypeVar("_Part")


class LinkedParts(NamedTuple, Generic[_Part]):
    """A sequence with one part more than `before`; None is the empty one."""

    before: LinkedParts[_Part] | None
    last: _Part


def unlinked(linked: LinkedParts[_Part] | None) -> tuple[_Part, ...]:
    """The parts from the first to the last."""
    parts: list[_Part] = []
    while linked is not None:
        spend(CHEAP)
        linked, last = linked
        parts.append(last)
    return tuple(reversed(parts))


_MOST_STEPS: Final = 20_000

FindOther = Callable[[OpenItem, Find], Witness | None]
"""The shortest value of an item that is none of those it excludes."""
EqualTo = Callable[[OpenItem, str], Witness | None]
"""The value with this canonical JSON, if the item may be it."""


class _Prefix(NamedTuple):
    """Items chosen so far in a search."""

    progress: ArrayProgress
    held: OpenItem | None
    items: LinkedParts[Witness | None] | None
    """None stands for the item that is held."""
    again: Witness | None = None
    """The value of the item that was held, once another one has it too."""


class RepeatedItems:
    def __init__(self, find_other: FindOther, equal_to: EqualTo) -> None:
        self._find_other = find_other
        self._equal_to = equal_to
        self.were_asked = False
        """Whether there are such arrays."""

    def completion(
        self,
        progress: ArrayProgress,
        find: Find,
        first: OpenItem | None = None,
        *,
        thorough: bool = False,
    ) -> tuple[Witness, ...] | None:
        """The shortest items up to the closing bracket, None if there are none.

        `first`: the next item; then `progress` is that after it. `thorough`: ask `find` for
        everything that a completion may be made of.
        """
        self.were_asked = True
        seen = progress.seen
        start = progress._replace(seen=NOTHING, promised_repeat=None)
        tie = count()
        queue: list[tuple[float, int, _Prefix]] = []
        if first is not None:
            steps = self._steps(_Prefix(start, None, None), first, start, seen, find)
        else:
            promised = progress.promised_repeat
            held = None if promised is None else OpenItem(promised)
            steps = iter([(_Prefix(start, held, None), 0.0)])
        for prefix, cost in steps:
            heappush(queue, (cost, next(tie), prefix))
        done: set[tuple[ArrayProgress, OpenItem | None]] = set()
        while queue:
            cost, _, prefix = heappop(queue)
            spend()
            here, held, items, again = prefix
            if (here, held) in done:
                continue
            done.add((here, held))
            if len(done) > _MOST_STEPS:
                raise too_long()
            if here.may_close():
                if thorough:
                    continue
                filled = (again if item is None else item for item in unlinked(items))
                return tuple(item for item in filled if item is not None)
            for option in here.options():
                item = OpenItem(option.value)
                for following, more in self._steps(prefix, item, option.after, seen, find):
                    heappush(queue, (cost + more, next(tie), following))
        return None

    def _steps(
        self,
        prefix: _Prefix,
        item: OpenItem,
        after: ArrayProgress,
        seen: frozenset[str],
        find: Find,
    ) -> Iterator[tuple[_Prefix, float]]:
        """The prefix with one more item, in each way that the item may take part in a repeat, and
        the bytes that it adds."""
        spend()
        _, held, items, again = prefix
        repeated = after._replace(has_repeat=True)
        plain = self._find_other(item, find)
        if plain is None:
            return
        yield _Prefix(after, held, LinkedParts(items, plain), again), 1 + size(plain)
        if not after.wants_repeat:
            return
        if held is None:
            for text in sorted(seen - item.excluded):
                same = self._equal_to(item, text)
                if same is not None:
                    yield _Prefix(repeated, None, LinkedParts(items, same)), 1 + size(same)
            yield _Prefix(after, item, LinkedParts(items, None)), 1
            return
        joint = OpenItem(held.value | item.value, held.excluded | item.excluded)
        both = self._find_other(joint, find)
        if both is not None:
            yield _Prefix(repeated, None, LinkedParts(items, both), both), 1 + 2 * size(both)
