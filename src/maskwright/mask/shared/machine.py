"""A machine with the caches of its configurations.

Most grammars have a machine of their own. JSON Schemas compiled with equal options share one: if
two of them contain equal schemas for a value, a text within this value has one configuration and
one mask for both.
"""

from __future__ import annotations

from typing import Final

from maskwright.automaton.finish.completion import CompletionSearch
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Contexts
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.value.text_names import TextNames
from maskwright.limits import Limits
from maskwright.mask.position import Position
from maskwright.mask.shared.budget_cache import BudgetCache
from maskwright.mask.shared.leaf_bounds import NodeBounds
from maskwright.mask.shared.text_positions import TextPositions
from maskwright.mask.walk.name_endings import NameEndings
from maskwright.mask.walk.walk import PrecomputedMask

# Measured over the schemas of MaskBench: a position with its moves, an exit with its context.
POSITION_BYTES: Final = 500
EXIT_BYTES: Final = 1_200

MOST_BYTES: Final = 48 << 20
"""Estimated bytes of a machine after which grammars had better begin their texts in a new one."""


class SharedMachine:
    """The machine and its caches. Not thread-safe: the lock of the vocabulary's tables guards
    it."""

    def __init__(self, leaves: LeafTable, contexts: Contexts, limits: Limits) -> None:
        self.positions: Final[dict[int, Position]] = {}
        """By leaf << 32 | node."""
        self.precomputed: Final[dict[int, PrecomputedMask]] = {}
        """By leaf: the part of its masks that ready rows provide, where no context matters."""
        self.text_positions: Final = TextPositions()
        self.limits: Final = limits
        self.machine: Final = Machine(leaves, contexts, limits)
        self.text_names: Final = TextNames(contexts.leaves_names_to_text)
        self.node_bounds: Final = NodeBounds(self.machine)
        self.completion: Final = CompletionSearch(self.machine, self.text_names, limits)
        self.budget_cache: Final = BudgetCache()
        self.name_endings: Final[dict[Configuration, NameEndings]] = {}
        """At configurations within names: see `mask.names.positions`."""
        self.distinct_endings: Final[dict[bytes, NameEndings]] = {}
        """Each of those once, by the lengths that `Walk.read_endings` gives."""
        self.checked: Final[set[tuple[int, int]]] = set()
        """Where texts begin of schemas for which nothing is left to be found out at compile
        time."""

    def __del__(self) -> None:
        """Break the cycles of references between positions, and between contexts and what they are
        made of, so that the memory is free as soon as the last matcher is gone, and not only after
        a garbage collection."""
        for position in self.positions.values():
            position.moves.clear()
        self.text_positions.release()
        self.machine.contexts.release()

    @property
    def nbytes(self) -> int:
        """Estimated bytes of all parts: arrays, masks and completions within budgets, and positions
        and exits as Python objects."""
        arrays = self.machine.nbytes + self.budget_cache.mask_bytes + self.budget_cache.onward_bytes
        positions = POSITION_BYTES * len(self.positions) + self.text_positions.nbytes
        return arrays + positions + EXIT_BYTES * self.machine.exits
