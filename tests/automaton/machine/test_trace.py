"""The machine step by step: which leaves a text leaves, where, and with what exit."""

from __future__ import annotations

from maskwright.automaton.leaf.keys import End, LiteralState
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import (
    DONE,
    DYNAMIC,
    POP,
    PUSH,
    STAY,
    Configuration,
    Exit,
)
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.machine.trace import MachineTrace
from tests.automaton.machine.toy import Listed

OUTER, INNER, FRAME = 1, 2, 3


def machine() -> tuple[Machine, Listed, int]:
    """Reads `<x>`: the bracket pushes a level, which ends itself."""
    leaves = LeafTable()
    start = leaves.state(LiteralState(b"<", leaves.state(End("open"))))
    inner = leaves.state(LiteralState(b'"x"', leaves.state(End("item"))))
    close = leaves.state(LiteralState(b">", leaves.state(End("close"))))
    contexts = Listed(
        {
            (OUTER, "open"): Exit(PUSH, INNER, inner, frame=FRAME),
            (INNER, "item"): Exit(STAY + DYNAMIC, INNER + 8, close),
            (INNER + 8, "close"): Exit(POP, result="list"),
            (FRAME, "list"): Exit(STAY, DONE, leaves.dead),
        }
    )
    return Machine(leaves, contexts), contexts, start


def test_what_a_text_leaves() -> None:
    plain, contexts, start = machine()
    trace = MachineTrace(plain, Configuration(start, plain.root(OUTER)))
    left = list(trace.read(b"<"))
    assert [(each.at, each.context, each.label) for each in left] == [(1, OUTER, "open")]
    assert trace.stack == [FRAME, INNER]
    left = list(trace.read(b'"x"'))
    assert [(each.at, each.context, each.label) for each in left] == [(4, INNER, "item")]
    assert contexts.asked[-1] == (INNER, "item", '"x"'), "a dynamic exit gets the text"
    assert not trace.done
    left = list(trace.read(b">"))
    expected = [(5, INNER + 8, "close"), (5, FRAME, "list")]
    assert [(each.at, each.context, each.label) for each in left] == expected
    assert trace.done
    assert list(trace.end()) == []
    assert trace.text == b'<"x">'


def test_a_known_exit_is_not_asked_for_again() -> None:
    plain, contexts, start = machine()
    trace = MachineTrace(plain, Configuration(start, plain.root(OUTER)))
    list(trace.read(b'<"x">'))
    assert [context for context, _, _ in contexts.asked].count(OUTER) == 1
    assert [text for context, _, text in contexts.asked if context == INNER] == [None, '"x"']
