"""The beginning of a JSON value that has been read beside another text.

Only where the other text can't go on is it known that there is a value. Its contexts are then found
by reading its beginning once more, step by step as `automaton.machine.trace` does.
"""

from __future__ import annotations

from typing import NamedTuple

from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import BLOCKED, DYNAMIC, Exit, apply_exit
from maskwright.automaton.machine.trace import Left
from maskwright.automaton.value.last_value import last_value
from maskwright.grammar.shape.shape import Conjunction
from maskwright.limits import CHEAP, spend


class ValueBeginning(NamedTuple):
    """Where a value stands after its beginning."""

    contexts: list[int]
    """The contexts that are open, the innermost last."""
    leaf: int
    left: list[Left]
    """The leaves and contexts that were left on the way, after how many bytes of the value."""


def read_beginning(
    contexts: JsonContexts, roots: tuple[Conjunction, ...], leaves: LeafTable, data: bytes
) -> ValueBeginning | None:
    """Where a value that satisfies one of `roots` stands after `data`; None if none begins so.

    `data` must not repeat a name within an object.
    """
    first, leaf = contexts.begin(roots)
    stack = [first]
    left: list[Left] = []
    for at, byte in enumerate(data):
        while True:
            spend(CHEAP)
            target = leaves.next_states(leaf).get(byte)
            if target is not None and _gate_open(contexts, leaves, target, stack[-1]):
                break
            taken = _leave(contexts, leaves.label_of(leaf), stack, data[:at], left)
            if taken is None:
                return None
            leaf = taken.leaf
        leaf = target
    return ValueBeginning(stack, leaf, left)


def _leave(
    contexts: JsonContexts, label: object, stack: list[int], text: bytes, left: list[Left]
) -> Exit | None:
    """Leave the leaf on top of `stack`, which is changed, and note what is left; None if that isn't
    possible, or if the value ends there."""
    while label is not None and stack:
        spend(CHEAP)
        context = stack[-1]
        taken = contexts.exit(context, label)
        if taken.kind & DYNAMIC:
            taken = contexts.exit(context, label, last_value(text))
        if taken.kind == BLOCKED:
            return None
        left.append(Left(len(text), context, label, taken))
        removed, added = apply_exit(taken)
        del stack[len(stack) - removed :]
        stack += added
        if not taken.pops:
            return taken
        label = taken.result
    return None


def _gate_open(contexts: JsonContexts, leaves: LeafTable, leaf: int, context: int) -> bool:
    """See `Machine.gate_open`."""
    low, high = int(leaves.rows.gate_low[leaf]), int(leaves.rows.gate_high[leaf])
    gate = contexts.gate(context) if high else None
    return gate is None or bool((gate[0] >> low) & ((1 << (high - low)) - 1))
