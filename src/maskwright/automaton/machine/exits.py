"""Exits: what leaving a leaf leads to, and what that does to the stack of contexts.

A *configuration* is a pair (leaf state, stack node). Where a leaf can be left, the context on top
of the stack answers with an `Exit`. This module defines exits and their effect for Python code;
`MachineArrays.leave` is the compiled twin of `apply_exit`, and
tests/automaton/machine/test_exits.py compares the two.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from maskwright.automaton.machine.step import BLOCKED as BLOCKED
from maskwright.automaton.machine.step import DONE as DONE
from maskwright.automaton.machine.step import DYNAMIC, NO_FRAME, POP, PUSH, STAY
from maskwright.immutable import Acyclic


class Exit(NamedTuple):
    """What leaving a leaf leads to: the new context and leaf state, or the result of a `POP`.

    A `PUSH` leaves the present context below the new one, or `frame` in its place. `then` lists
    further exits that the text will come to.
    """

    kind: int
    context: int = 0
    leaf: int = 0
    result: Hashable = None
    frame: int = NO_FRAME
    then: tuple[Further, ...] = ()

    @property
    def pops(self) -> bool:
        """Whether the innermost level ends, so that the one below has to be left too."""
        return self.kind & ~DYNAMIC == POP


Further = tuple[int, Hashable, Exit]
"""A context, a label, and the exit with it."""


class Replacement(NamedTuple):
    """The effect of an exit on the stack of contexts."""

    removed: int
    """How many of the innermost contexts are removed: 0 or 1."""
    added: tuple[int, ...] = ()
    """The contexts pushed then, the innermost last."""


def apply_exit(taken: Exit) -> Replacement:
    """Return what the exit `taken`, which must not be BLOCKED, does to the stack.

    After an exit that `pops`, the context that has become the innermost is left with
    `taken.result`; after any other, the text continues in leaf state `taken.leaf`.
    """
    kind = taken.kind & ~DYNAMIC
    if kind == POP:
        return Replacement(1)
    if kind == STAY:
        return Replacement(1, (taken.context,))
    if kind != PUSH:
        raise ValueError(f"an exit of kind {taken.kind} leads nowhere")
    if taken.frame == NO_FRAME:
        return Replacement(0, (taken.context,))
    return Replacement(1, (taken.frame, taken.context))


class Configuration(Acyclic):
    """Where a text stands in a machine."""

    leaf: int
    node: int
