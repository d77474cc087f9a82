"""Positions of a followed grammar, and the way through them: what is looked at for each token."""

from collections.abc import Iterable
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from maskwright.mask.matcher.protocol import ForcedRun
from maskwright.processes.messages import Scope

Row = NDArray[np.int32]
"""A mask, int32 `[words]`."""

P = TypeVar("P", bound=KnownPosition)
P_co = TypeVar("P_co", bound=KnownPosition, covariant=True)

class BudgetRow:
    """A mask `row` under the budgets of `scope`, and `free`, the one without a budget."""

    scope: Scope
    row: Row
    free: Row

    def __init__(self, scope: Scope, row: Row, free: Row) -> None: ...
    def holds(self, budget: int) -> bool:
        """Whether the mask is the one under `budget`."""

class Ways(Generic[P_co]):
    """Where tokens lead, as a process has sent it ahead of a text: `tokens` int32 `[n]`, ascending,
    each to the one of `targets` whose number is in `groups`, uint8 `[n]`. Raises `ValueError` and
    `IndexError` where these don't fit together."""

    tokens: NDArray[np.int32]
    groups: NDArray[np.uint8]
    targets: tuple[P_co, ...]

    def __init__(
        self, tokens: NDArray[np.int32], groups: NDArray[np.uint8], targets: Iterable[P_co]
    ) -> None: ...
    def find(self, token: int) -> P_co | None:
        """Where a token leads; None if it isn't among `tokens`."""

NO_WAYS: Ways[Any]
"""What is known of a position that has not been expanded; shared, since most never are."""

class KnownPosition:
    """What a text finds at a position, as far as it has been learned."""

    complete: bool
    """Whether the text is complete and nothing but an end token may follow."""
    expands: bool
    """Whether a process may still tell more ahead of a text."""
    noted: bool
    """Whether a process knows that a text has come here, or there is nothing to expand."""
    row: Row | None
    """The mask under `sufficient_budget` and more."""
    sufficient_budget: int
    bounded: tuple[BudgetRow, ...]
    """Masks under smaller budgets."""
    run: ForcedRun | None
    """The forced run, None if it hasn't been learned."""
    moves: dict[int, Self]
    """Where tokens lead from here, whatever the text before, as texts have come this way."""
    ways: Ways[Self]
    """The same for tokens that were sent ahead of a text."""
    drawn_under: object
    """What the engine has made of `row`; None if nothing yet."""

    def __init__(self, *, complete: bool, noted: bool) -> None: ...
    def within(self, budget: int) -> BudgetRow | None:
        """The mask under `budget`, which is smaller than the sufficient one; None if it hasn't
        been learned."""

    def after(self, token: int) -> Self | None:
        """Where a token leads whatever the text before; None if that isn't known."""

class TextPath(Generic[P]):
    """A text's way through a grammar: its positions, and the tokens between them."""

    _path: list[P]
    _steps: list[int]

    def __init__(self, start: P | None) -> None: ...
