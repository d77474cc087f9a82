"""A position of a grammar as far as the engine's process has learned it."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from maskwright.processes.messages import ENDLESS, OWN, Description
from maskwright.processes.text_path import BudgetRow, KnownPosition

Row = npt.NDArray[np.int32]
"""A mask, int32 `[words]`."""

_NOTHING_AHEAD: Final = np.empty(0, np.int32), np.empty(0, np.uint8)
"""No tokens and no groups. Shared, since most positions are never expanded."""


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

    __slots__ = ("_ahead", "_targets", "accepting", "row_number", "state")

    def __init__(self, description: Description) -> None:
        complete = description.complete
        super().__init__(complete=complete, noted=complete or description.number == OWN)
        self.state: Final = description.state
        self.accepting: Final = description.accepting
        self.row_number = -1
        self._targets: tuple[LearnedPosition, ...] = ()
        self._ahead = _NOTHING_AHEAD
        """Tokens, ascending, for which a process has sent, ahead of a text, where they lead; and by
        token, the number of its target in `_targets`."""

    def after(self, token: int) -> LearnedPosition | None:
        """Where a token leads whatever the text before; None if that isn't known."""
        following = self.moves.get(token)
        if following is None and self._targets:
            tokens, groups = self._ahead
            at = _place(tokens, token)
            if at >= 0:
                following = self.moves[token] = self._targets[groups[at]]
        return following

    def known_moves(
        self,
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp], list[LearnedPosition]]:
        """Where tokens lead from here, as far as it is known: token `tokens[i]` int32 `[n]`, each
        once, to the position with the number `groups[i]`."""
        tokens, groups = self._ahead  # before the targets: there may be more of these by then
        targets = self._targets
        moved = self.moves.copy()
        apart = [token for token in moved if _place(tokens, token) < 0]
        numbers = range(len(targets), len(targets) + len(apart))
        return (
            np.concatenate((tokens, np.array(apart, np.int32))),
            np.concatenate((groups.astype(np.intp), np.array(numbers, np.intp))),
            [*targets, *(moved[token] for token in apart)],
        )

    def expand(
        self, tokens: bytes, groups: bytes, targets: list[LearnedPosition], *, whole: bool
    ) -> int:
        """Learn that each of the `tokens` (int32, ascending) leads to one of the `targets`, by its
        number in `groups` (uint8); nothing more will come if that is the `whole`. Returns the
        bytes that this takes. Called in another thread than what follows texts: what is put in last
        makes the rest visible."""
        before, places = self._ahead
        if len(before):
            more = np.frombuffer(groups, np.uint8) + np.uint8(len(self._targets))
            both = np.concatenate((before, np.frombuffer(tokens, np.int32)))
            order = np.argsort(both, kind="stable")
            tokens = both[order].tobytes()
            groups = np.concatenate((places, more))[order].tobytes()
        self._targets = (*self._targets, *targets)
        self._ahead = shared_array(tokens, np.int32), shared_array(groups, np.uint8)
        self.expands, self.noted = not whole, whole
        return sum(map(new_bytes, self._ahead))

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


def _place(tokens: npt.NDArray[np.int32], token: int) -> int:
    """Where a token stands among `tokens`, ascending; -1 if it isn't among them."""
    # `searchsorted` would let other threads run meanwhile, and copy all to the type of an `int`.
    at = bisect_left(tokens.data, token)
    return at if at < len(tokens) and tokens[at] == token else -1
