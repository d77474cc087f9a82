"""Positions of a followed grammar, and the way through them: what is looked at for each token."""

from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from maskwright.mask.matcher.forced import ForcedRun

P = TypeVar("P", bound=KnownPosition)

class KnownPosition:
    """What a text finds at a position, as far as it has been learned."""

    complete: bool
    """Whether the text is complete and nothing but an end token may follow."""
    expands: bool
    """Whether a process may still tell more ahead of a text."""
    noted: bool
    """Whether a process knows that a text has come here, or there is nothing to expand."""
    row: NDArray[np.int32] | None
    """The mask, int32 `[words]`, under `sufficient_budget` and more."""
    sufficient_budget: int
    run: ForcedRun | None
    """The forced run, None if it hasn't been learned."""
    moves: dict[int, Self]
    """Where tokens lead from here, whatever the text before."""
    drawn_under: object
    """What the engine has made of `row`; None if nothing yet."""

    def __init__(self, *, complete: bool, noted: bool) -> None: ...

class TextPath(Generic[P]):
    """A text's way through a grammar: its positions, and the tokens between them."""

    _path: list[P]
    _steps: list[int]

    def __init__(self, start: P | None) -> None: ...
