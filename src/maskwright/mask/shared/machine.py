"""What grammars of one kind share: a machine, and what is known of its configurations.

Most grammars share with none. JSON Schemas compiled with the same options do: a text within a value
that is written alike in two of them is in the same configuration, and has the same mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from maskwright.automaton.finish.completion import CompletionSearch, Finisher
from maskwright.automaton.machine.exits import Configuration, Contexts
from maskwright.automaton.machine.machine import Machine
from maskwright.mask.budget.masks import Found
from maskwright.mask.position import Position
from maskwright.mask.shared.leaf_bounds import NodeNeeds
from maskwright.mask.walk.arrays import Directory

if TYPE_CHECKING:
    from maskwright.limits import Limits
    from maskwright.mask.shared.vocabulary_tables import Space

# Measured over MaskBench's schemas: a position with its moves, an exit with its context.
POSITION_BYTES: Final = 500
EXIT_BYTES: Final = 1_200


class FinishingContexts(Contexts, Finisher, Protocol):
    """What a grammar is made of: contexts that also know how to finish."""


class Common:
    """Guarded by the lock of its space."""

    def __init__(self, space: Space, contexts: FinishingContexts, limits: Limits) -> None:
        self.space: Final = space
        self.contexts: Final = contexts
        self.limits: Final = limits
        self.machine: Final = Machine(space.leaves, contexts, limits)
        self.needs: Final = NodeNeeds(self.machine, contexts)
        self.completion: Final = CompletionSearch(self.machine, contexts, limits)
        self.budgets: Final = Found()
        self.positions: Final[dict[Configuration, Position]] = {}
        self.directory: Final = Directory()

    @property
    def nbytes(self) -> int:
        """Bytes of all this, roughly: its arrays, masks within budgets, and what positions and
        exits come to as objects."""
        arrays = sum(array.nbytes for array in self.machine.arrays) + self.budgets.size
        return arrays + POSITION_BYTES * len(self.positions) + EXIT_BYTES * self.machine.exits
