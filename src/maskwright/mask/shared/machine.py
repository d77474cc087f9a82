"""A machine with the caches of its configurations.

Most grammars have a machine of their own. JSON Schemas compiled with equal options share one: if
two of them contain equal schemas for a value, a text within this value has one configuration and
one mask for both.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import count
from typing import Final

from maskwright.automaton.finish.completion import CompletionSearch
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.machine.step import NO_NODE
from maskwright.automaton.value.names_read import TextNames
from maskwright.garbage import hide
from maskwright.limits import Limits
from maskwright.mask.position import Position
from maskwright.mask.shared.budget_cache import BudgetCache
from maskwright.mask.shared.leaf_bounds import NodeBounds
from maskwright.mask.walk.name_endings import NameEndings
from maskwright.mask.walk.walk import PrecomputedMask, Walk

MOST_TEXTS: Final = 10_000
"""Texts whose position is kept: the ones read last."""
LONGEST_TEXT: Final = 4_096
"""Bytes of the longest of them: to look a longer one up takes as long as to find its position."""
_NOTHING: Final[frozenset[bytes]] = frozenset()
_MOST_VARIANTS: Final = 10_000
_TEXT_BYTES: Final = 260
"""Estimated bytes that a kept text takes: its digest, and the entry of the dictionary."""
_VARIANT_BYTES: Final = 700
"""Estimated bytes of a position within a name, with its moves and what it excludes."""


class TextPositions:
    """The positions of a machine that depend on the text, and not on its configuration alone.

    They are kept for all grammars of the machine, so that a schema that is compiled again knows
    those of the texts that were read before. Not thread-safe: the lock of the vocabulary's tables
    guards it.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._variants: dict[tuple[Configuration, frozenset[bytes] | None], Position] = {}
        """By configuration, and what is excluded; None where the name is certainly a new one."""
        self._after: dict[tuple[Configuration, bytes], Position] = {}
        """By the configuration in which the text began, and the digest of the text, the oldest
        first. Drafts that are rolled back, and the next answers, have many texts again."""

    @property
    def nbytes(self) -> int:
        """Estimated bytes of all positions and texts."""
        return _TEXT_BYTES * len(self._after) + _VARIANT_BYTES * len(self._variants)

    def variant(self, here: Configuration, excluded: frozenset[bytes] | None) -> Position:
        """The position of a configuration within a name, for what the text excludes there; None
        where no name that the text has begins as the present one."""
        key = (here, excluded)
        known = self._variants.get(key)
        if known is None:
            if len(self._variants) >= _MOST_VARIANTS:
                self.release()
                self._variants.clear()
            known = self._variants[hide(key)] = Position(here, excluded or _NOTHING)
            known.begins_no_name = excluded is None
            known.variant = next(self._numbers)
        return known

    def after(self, start: Configuration, text: bytes) -> Position | None:
        """The position after a text that began in the configuration `start`, if it is known."""
        return self._after.get((start, _digest(text))) if len(text) <= LONGEST_TEXT else None

    def keep(self, start: Configuration, text: bytes, position: Position) -> None:
        """Remember the position after a text that began in the configuration `start`."""
        if len(text) > LONGEST_TEXT:
            return
        self._after[start, _digest(text)] = position
        if len(self._after) > MOST_TEXTS:
            del self._after[next(iter(self._after))]

    def release(self) -> None:
        """Break the cycles of references between positions."""
        for position in self._variants.values():
            position.forget()


def _digest(text: bytes) -> bytes:
    """Stands for a text: that two texts have the same digest is not to be expected."""
    return blake2b(text, digest_size=16).digest()


# Measured over the schemas of MaskBench: a position with its moves, an exit with its context.
POSITION_BYTES: Final = 500
EXIT_BYTES: Final = 1_200

MOST_BYTES: Final = 48 << 20
"""Estimated bytes of a machine after which grammars had better begin their texts in a new one."""


def _ended() -> Position:
    position = Position(Configuration(DEAD, NO_NODE))
    position.accepting = True
    position.complete = True
    position.sufficient_budget = 0
    position.row = 0
    return position


class SharedMachine:
    """The machine and its caches. Not thread-safe: the lock of the vocabulary's tables guards
    it."""

    def __init__(self, machine: Machine, bounds: NodeBounds, walk: Walk, limits: Limits) -> None:
        """`walk`: what walks the machine over the vocabulary's trie."""
        self.positions: Final[dict[int, Position]] = {}
        """By leaf << 32 | node."""
        self.precomputed: Final[dict[int, PrecomputedMask]] = {}
        """By leaf: the part of its masks that ready rows provide, where no context matters."""
        self.text_positions: Final = TextPositions()
        self.limits: Final = limits
        self.machine: Final = machine
        self.walk: Final = walk
        self.ended: Final = _ended()
        """The position after an end token, which is no configuration of the machine."""
        self.text_names: Final = TextNames(machine.contexts.leaves_names_to_text)
        self.node_bounds: Final = bounds
        self.completion: Final = CompletionSearch(self.machine, self.text_names, limits)
        self.budget_cache: Final = BudgetCache()
        self.name_endings: Final[dict[Configuration, NameEndings]] = {}
        """At configurations within names: see `mask.name_positions`."""
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
            position.forget()
        self.text_positions.release()
        self.machine.contexts.release()

    @property
    def nbytes(self) -> int:
        """Estimated bytes of all parts: arrays, masks and completions within budgets, and positions
        and exits as Python objects."""
        arrays = self.machine.nbytes + self.budget_cache.mask_bytes + self.budget_cache.onward_bytes
        positions = POSITION_BYTES * len(self.positions) + self.text_positions.nbytes
        return arrays + positions + EXIT_BYTES * self.machine.exits
