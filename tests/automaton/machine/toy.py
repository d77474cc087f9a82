"""A machine whose exits and gates are listed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Contexts
from maskwright.automaton.machine.exits import BLOCKED, Exit
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.machine.step import MachineArrays
from maskwright.limits import DEFAULT_LIMITS, Limits

T = TypeVar("T")


class Listed(Contexts):
    """Contexts whose exits and gates are listed; every other exit is blocked."""

    def __init__(
        self,
        exits: Mapping[tuple[int, Hashable], Exit],
        gates: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        self.exits = exits
        self.gates = gates or {}
        self.asked: list[tuple[int, Hashable, str | None]] = []

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        self.asked.append((context, label, text))
        return self.exits.get((context, label), Exit(BLOCKED))

    def gate(self, context: int) -> tuple[int, int] | None:
        return self.gates.get(context)


class Toy:
    def __init__(
        self, leaves: LeafTable, contexts: Listed, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.machine = Machine(leaves, contexts, limits)
        self.leaves = leaves

    def ask(self, question: Callable[[MachineArrays], T]) -> T:
        """The answer to a question to the machine, once nothing is lacking."""
        arrays = self.machine.arrays
        while True:
            answer = question(arrays)
            if not arrays.lacking:
                return answer
            self.machine.serve_requests()

    def contexts(self, node: int) -> list[int]:
        """The contexts of a stack, the outermost first."""
        found: list[int] = []
        while node >= 0:
            found.insert(0, int(self.machine.arrays.node_context[node]))
            node = int(self.machine.arrays.node_parent[node])
        return found
