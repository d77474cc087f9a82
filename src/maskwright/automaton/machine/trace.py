"""The machine step by step, in plain Python: which leaves a text leaves, where, and to what.

It asks the contexts and reads the leaves that the compiled `automaton.machine.step` uses, one byte
after the other, so that its result does not depend on how a text is divided into tokens.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from maskwright.automaton.machine.exits import DONE, DYNAMIC, Configuration, Exit, apply_exit
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.value.last_value import last_value
from maskwright.immutable import Immutable


class Left(Immutable):
    """A leaf, or (label of a `POP`) a context, that was left after `at` bytes of text."""

    at: int
    context: int
    label: Hashable
    exit: Exit


class MachineTrace:
    """A text's way through one machine."""

    def __init__(self, machine: Machine, start: Configuration) -> None:
        self._machine = machine
        self._exits: dict[tuple[int, Hashable], Exit] = {}
        self.text = bytearray()
        self.leaf = start.leaf
        self.stack = [int(machine.arrays.node_context[start.node])]
        """The contexts, the innermost last."""

    @property
    def done(self) -> bool:
        return self.stack[-1] == DONE

    def read(self, data: bytes) -> Iterator[Left]:
        """Read `data`, which the machine must accept; yield each leaf and context that is left."""
        for byte in data:
            while True:
                target = self._machine.leaves.next_states(self.leaf).get(byte)
                if target is not None and self._machine.gate_open(target, self.stack[-1]):
                    break
                yield from self._leave()
            self.leaf = target
            self.text.append(byte)
            while self._is_over():
                yield from self._leave()

    def end(self) -> Iterator[Left]:
        """Yield each leaf and context that is left when the text ends here."""
        while not self.done:
            yield from self._leave()

    def _is_over(self) -> bool:
        """Whether the leaf is left at once."""
        leaves = self._machine.leaves
        if leaves.label_of(self.leaf) is None:
            return False
        return bool(leaves.rows.eager[self.leaf]) or not leaves.next_states(self.leaf)

    def _leave(self) -> Iterator[Left]:
        label = self._machine.leaves.label_of(self.leaf)
        while True:
            context = self.stack[-1]
            taken = self._exit(context, label)
            yield Left(len(self.text), context, label, taken)
            removed, added = apply_exit(taken)
            del self.stack[len(self.stack) - removed :]
            self.stack += added
            if not taken.pops:
                break
            label = taken.result
        self.leaf = taken.leaf

    def _exit(self, context: int, label: Hashable) -> Exit:
        known = self._exits.get((context, label))
        if known is None:
            known = self._machine.contexts.exit(context, label)
            if known.kind & DYNAMIC:
                text = last_value(bytes(self.text))
                return self._machine.contexts.exit(context, label, text)
            self._exits[context, label] = known
        return known
