"""A position of a grammar as far as the engine's process has learned it."""

from __future__ import annotations

from typing import Any, Final, Self, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from maskwright.processes.messages import ENDLESS, OWN, Description
from maskwright.processes.text_path import BudgetRow, KnownPosition, Ways

Row = npt.NDArray[np.int32]
"""A mask, int32 `[words]`."""

_Scalar = TypeVar("_Scalar", bound=np.generic)

_arrays: Final[WeakValueDictionary[tuple[bytes, str], npt.NDArray[Any]]] = WeakValueDictionary()
_counted: Final[WeakValueDictionary[int, npt.NDArray[Any]]] = WeakValueDictionary()


def shared_array(data: bytes, kind: type[_Scalar]) -> npt.NDArray[_Scalar]:
    """The array with these bytes; there is one at a time. The masks within strings, and the tokens
    in them, are the same for all properties of all schemas."""
    key = data, kind.__name__
    known = _arrays.get(key)
    return _arrays.setdefault(key, np.frombuffer(data, kind)) if known is None else known


def new_bytes(array: npt.NDArray[Any]) -> int:
    """The bytes of an array the first time that it is asked about, and 0 later: who has it first
    counts it."""
    if _counted.get(id(array)) is array:
        return 0
    _counted[id(array)] = array
    return array.nbytes


def described_masks(description: Description, rows: dict[int, Row]) -> BudgetRow | None:
    """The masks that a description names; None if it names none."""
    row, scope, free = description.row, description.scope, description.free_row
    if row is None or scope is None:
        return None
    return BudgetRow(scope, rows[row], rows[row if free is None else free])


class LearnedPosition(KnownPosition):
    """A position of a grammar as far as it has been learned."""

    __slots__ = ("accepting", "row_number", "state")

    def __init__(self, description: Description) -> None:
        complete = description.complete
        super().__init__(complete=complete, noted=complete or description.number == OWN)
        self.state: Final = description.state
        self.accepting: Final = description.accepting
        self.row_number = -1

    def known_moves(
        self,
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp], list[LearnedPosition]]:
        """Where tokens lead from here, as far as it is known: token `tokens[i]` int32 `[n]`, each
        once, to the position with the number `groups[i]`."""
        ways, moved = self.ways, self.moves.copy()
        apart = [token for token in moved if ways.find(token) is None]
        numbers = range(len(ways.targets), len(ways.targets) + len(apart))
        return (
            np.concatenate((ways.tokens, np.array(apart, np.int32))),
            np.concatenate((ways.groups.astype(np.intp), np.array(numbers, np.intp))),
            [*ways.targets, *(moved[token] for token in apart)],
        )

    def expand(self, tokens: bytes, groups: bytes, targets: list[Self], *, whole: bool) -> int:
        """Learn that each of the `tokens` (int32, ascending) leads to one of the `targets`, by its
        number in `groups` (uint8); nothing more will come if that is the `whole`. Returns the
        bytes that this takes. Called in another thread than what follows texts, which sees all of
        it or nothing."""
        before = self.ways
        if before.targets:
            more = np.frombuffer(groups, np.uint8) + np.uint8(len(before.targets))
            both = np.concatenate((before.tokens, np.frombuffer(tokens, np.int32)))
            order = np.argsort(both, kind="stable")
            tokens = both[order].tobytes()
            groups = np.concatenate((before.groups, more))[order].tobytes()
        arrays = shared_array(tokens, np.int32), shared_array(groups, np.uint8)
        self.ways = Ways(*arrays, (*before.targets, *targets))
        self.expands, self.noted = not whole, whole
        return sum(map(new_bytes, arrays))

    def learn(self, description: Description, rows: dict[int, Row]) -> None:
        """Take in what of a description holds for every text."""
        run, mask = description.run, described_masks(description, rows)
        if run is not None and run.shared:
            self.run = run
        if mask is None or not mask.scope.shared:
            return
        if mask.scope.high >= ENDLESS:
            if self.row is None or mask.scope.low < self.sufficient_budget:
                assert description.row is not None
                self.row_number = description.row
                self.sufficient_budget = mask.scope.low
                self.row = mask.row
        elif all(mask.scope != known.scope for known in self.bounded):
            self.bounded = (*self.bounded, mask)

    def mask(self, budget: int) -> Row | None:
        """The mask for a text that may go on for `budget` tokens; None if it hasn't been
        learned."""
        if self.row is not None and budget >= self.sufficient_budget:
            return self.row
        found = self.within(budget)
        return None if found is None else found.row
