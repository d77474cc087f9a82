"""What exits do to the stack, in Python and in compiled code alike."""

from __future__ import annotations

import pytest

from maskwright.automaton.leaf.keys import End
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import (
    BLOCKED,
    DYNAMIC,
    POP,
    PUSH,
    STAY,
    Exit,
    Replacement,
    apply_exit,
)
from tests.automaton.machine.toy import Listed, Toy

OUTER, INNER, NEXT, FRAME = 11, 12, 13, 14
LEAF = 0

EFFECTS = [
    (Exit(STAY, NEXT, LEAF), Replacement(1, (NEXT,))),
    (Exit(STAY + DYNAMIC, NEXT, LEAF), Replacement(1, (NEXT,))),
    (Exit(PUSH, NEXT, LEAF), Replacement(0, (NEXT,))),
    (Exit(PUSH + DYNAMIC, NEXT, LEAF), Replacement(0, (NEXT,))),
    (Exit(PUSH, NEXT, LEAF, frame=FRAME), Replacement(1, (FRAME, NEXT))),
    (Exit(PUSH + DYNAMIC, NEXT, LEAF, frame=0), Replacement(1, (0, NEXT))),
    (Exit(POP, result="inner"), Replacement(1)),
]


@pytest.mark.parametrize(("found", "effect"), EFFECTS)
def test_the_effect_of_an_exit(found: Exit, effect: Replacement) -> None:
    assert apply_exit(found) == effect
    assert found.pops == (found.kind == POP)


@pytest.mark.parametrize("kind", [BLOCKED, DYNAMIC])
def test_a_blocked_exit_has_no_effect_to_apply(kind: int) -> None:
    with pytest.raises(ValueError, match="leads nowhere"):
        apply_exit(Exit(kind))


def compiled(contexts: Listed) -> list[int] | None:
    """The stack, the outermost first, after `leave` from INNER on OUTER; None where it is DEAD."""
    leaves = LeafTable()
    leaf = leaves.state(End("end"))
    toy = Toy(leaves, contexts)
    root = toy.machine.root(OUTER)
    found, node = toy.ask(lambda arrays: arrays.leave(leaf, arrays.node(INNER, root)))
    if found == DEAD:
        return None
    assert found == LEAF
    return toy.contexts(node)


def in_python(contexts: Listed) -> list[int] | None:
    stack, label = [OUTER, INNER], "end"
    while True:
        found = contexts.exit(stack[-1], label)
        if found.kind == BLOCKED:
            return None
        removed, added = apply_exit(found)
        stack = stack[: len(stack) - removed] + list(added)
        if not found.pops:
            return stack
        label = str(found.result)


INNERMOST = [(found, False) for found, _ in EFFECTS]
AFTER_A_POP = [(found, True) for found, _ in EFFECTS if not found.pops]
BLOCKED_EXITS = [(Exit(BLOCKED), False), (Exit(BLOCKED), True)]


@pytest.mark.parametrize(("found", "popped"), [*INNERMOST, *AFTER_A_POP, *BLOCKED_EXITS])
def test_compiled_code_applies_exits_alike(found: Exit, popped: bool) -> None:
    if popped:
        exits = {(INNER, "end"): Exit(POP, result="inner"), (OUTER, "inner"): found}
    else:
        exits = {(INNER, "end"): found, (OUTER, "inner"): Exit(STAY, NEXT, LEAF)}
    contexts = Listed(exits)
    assert compiled(contexts) == in_python(contexts)
    assert (in_python(contexts) is None) == (found.kind == BLOCKED)
