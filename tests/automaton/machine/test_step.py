"""The compiled half of the machine, function by function."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright.automaton.leaf.keys import End, LiteralState, Spaced, Text
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.arrays import (
    BYTES_READ,
    PASSED,
    REQUEST_ROW,
    REQUESTS,
    STOP_CONTEXT,
    STOP_LABEL,
    STOP_NODE,
    STOPPED,
)
from maskwright.automaton.machine.exits import DONE, DYNAMIC, POP, PUSH, STAY, Exit
from maskwright.automaton.machine.step import (
    TOO_MANY,
    advance,
    ask,
    gate_open,
    is_accepting,
    move,
    next_bytes,
    node_of,
    pass_dynamic_exit,
    settle,
)
from maskwright.grammar.pattern.translate import full_match
from tests.automaton.machine.toy import Listed, Toy

OUTER, INNER = 1, 2


def data(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


class Brackets(Toy):
    """The text `[a,]`, with at most two bytes of whitespace after the comma."""

    def __init__(self, *, dynamic: bool = False) -> None:
        leaves = LeafTable()
        start = leaves.state(LiteralState(b"[", leaves.state(End("open"))))
        spaced = leaves.state(Spaced(2, "spaced"))
        either = leaves.state(Text(False, full_match("a")))
        separator = leaves.state(Text(False, full_match(",")))
        over = leaves.state(Text(False, full_match("]")))
        kind = DYNAMIC if dynamic else 0
        self.start, self.either = start, either
        exits = {
            (OUTER, "open"): Exit(PUSH, INNER, either, frame=OUTER),
            (INNER, 1): Exit(STAY + kind, INNER + 1, separator),  # an item has been read
            (INNER + 1, 1): Exit(STAY, INNER + 2, spaced),
            (INNER + 2, "spaced"): Exit(STAY, INNER + 3, over),
            (INNER + 3, 1): Exit(POP, result="list"),
            (OUTER, "list"): Exit(STAY, DONE, leaves.dead),
        }
        super().__init__(leaves, Listed(exits))
        self.root = self.machine.root(OUTER)


@pytest.mark.parametrize(
    ("text", "accepted", "stack"),
    [
        (b"", False, [OUTER]),
        (b"[", False, [OUTER, INNER]),
        (b"[a", False, [OUTER, INNER + 1]),  # nothing more of the item can come: it is left
        (b"[a,", False, [OUTER, INNER + 2]),
        (b"[a, ", False, [OUTER, INNER + 2]),
        (b"[a,  ]", True, [DONE]),
        (b"[a,]", True, [DONE]),
        (b"[a,   ]", None, None),
        (b"a", None, None),
        (b"[a,]]", None, None),
    ],
)
def test_a_text_is_read(text: bytes, accepted: bool | None, stack: list[int] | None) -> None:
    toy = Brackets()
    leaf, node = toy.ask(lambda address: advance(address, toy.start, toy.root, data(text)))
    assert (leaf == DEAD) == (stack is None)
    if stack is not None:
        assert toy.contexts(node) == stack
        assert toy.ask(lambda address: is_accepting(address, leaf, node)) == accepted


def test_bytes_that_may_follow() -> None:
    toy = Brackets()
    allowed = np.zeros(256, np.bool_)
    for text, expected in ((b"", b"["), (b"[", b"a"), (b"[a", b","), (b"[a, ", b"\t\n\r ]")):
        leaf, node = toy.ask(lambda at, text=text: advance(at, toy.start, toy.root, data(text)))
        count = toy.ask(lambda at, leaf=leaf, node=node: next_bytes(at, leaf, node, allowed))
        assert bytes(np.flatnonzero(allowed).astype(np.uint8)) == expected
        assert count == len(expected)


def test_reading_stops_at_a_dynamic_exit() -> None:
    toy = Brackets(dynamic=True)
    leaf, _ = toy.ask(lambda address: advance(address, toy.start, toy.root, data(b"[a,")))
    registers = toy.machine.arrays.registers
    assert (leaf, registers[STOPPED], registers[BYTES_READ]) == (DEAD, 1, 2)
    assert registers[STOP_CONTEXT] == INNER
    assert toy.leaves.labels[registers[STOP_LABEL]] == 1
    assert toy.contexts(int(registers[STOP_NODE])) == [OUTER, INNER]
    leaf, _ = toy.ask(lambda address: advance(address, toy.start, toy.root, data(b"[")))
    assert leaf != DEAD
    assert registers[STOPPED] == 0


def test_a_walk_passes_a_dynamic_exit_and_remembers_it() -> None:
    toy = Brackets(dynamic=True)
    leaf, node = toy.ask(lambda address: advance(address, toy.start, toy.root, data(b"[")))
    read, below = toy.ask(lambda address: move(address, leaf, node, ord("a")))
    registers = toy.machine.arrays.registers

    def go_on(address: int) -> tuple[int, int]:
        registers[PASSED] = 0  # the machine is asked again after each request that it has served
        return move(address, read, below, ord(","))

    here, _ = toy.ask(go_on)
    assert here != DEAD
    assert registers[PASSED] == 2 + toy.root


# 0 is a root; 1 stands on it, 2 and 3 on 1, 4 on 2.
PARENTS = np.array([-1, 0, 1, 1, 2], np.int32)


@pytest.mark.parametrize(
    ("passed", "node", "after"),
    [
        (0, 0, 1),  # the first: 2 plus the node below, which is -1 for a root
        (0, 2, 3),
        (3, 2, TOO_MANY),  # two on one level
        (3, 3, TOO_MANY),  # on another level over the same node, which may be the first one's
        (3, 4, TOO_MANY),  # within the first one's level
        (3, 1, 2),  # the first one's level is closed
        (3, 0, 1),
        (1, 0, TOO_MANY),  # the outermost level is never closed
        (TOO_MANY, 1, TOO_MANY),
    ],
)
def test_dynamic_exits_that_are_passed(passed: int, node: int, after: int) -> None:
    assert pass_dynamic_exit(PARENTS, passed, node) == after


@pytest.mark.parametrize("bits", [0, 1 << 2, 1 << 5, 1 << 63, 1 << 64, 1 << 70, (1 << 80) - 1])
@pytest.mark.parametrize(
    ("low", "high"), [(0, 0), (0, 3), (3, 5), (5, 6), (60, 64), (63, 66), (70, 71)]
)
def test_gates_in_compiled_code_and_in_python(bits: int, low: int, high: int) -> None:
    leaves = LeafTable()
    leaf = leaves.state(End("name"))
    leaves.arrays.gate_low[leaf], leaves.arrays.gate_high[leaf] = low, high
    toy = Toy(leaves, Listed({}, {OUTER: (bits, 80)}))
    gated, free = toy.machine.root(OUTER), toy.machine.root(INNER)
    arrays = (leaves.arrays, toy.machine.arrays)
    expected = high == 0 or any(bits >> name & 1 for name in range(low, high))
    assert gate_open(*arrays, leaf, gated) == expected
    assert toy.machine.gate_open(leaf, OUTER) == expected
    assert gate_open(*arrays, leaf, free)
    assert toy.machine.gate_open(leaf, INNER)


def test_requests_are_noted_once_and_never_beyond_their_room() -> None:
    toy = Brackets()
    arrays = toy.machine.arrays
    for _ in range(2):
        ask(arrays, 7, REQUEST_ROW)
        ask(arrays, 7, 3)
    assert arrays.registers[REQUESTS] == 2
    assert arrays.pending[:2].tolist() == [[7, REQUEST_ROW], [7, 3]]
    for number in range(300):
        ask(arrays, number, 4)
    assert arrays.registers[REQUESTS] == len(arrays.pending)
    arrays.registers[REQUESTS] = 0


def test_nodes_are_interned_beyond_the_first_table() -> None:
    toy = Brackets()
    pairs = [(context, parent) for context in range(50) for parent in range(12)]
    nodes = [toy.ask(lambda at, pair=pair: node_of(at, *pair)) for pair in pairs]
    assert len(set(nodes)) == len(pairs)
    again = [toy.ask(lambda at, pair=pair: node_of(at, *pair)) for pair in pairs]
    assert again == nodes
    arrays = toy.machine.arrays
    assert [(arrays.node_context[n], arrays.node_parent[n]) for n in nodes] == pairs


def test_a_leaf_read_to_its_end_is_left_at_once() -> None:
    toy = Brackets()
    assert toy.ask(lambda address: settle(address, toy.either, toy.root)) == (toy.either, toy.root)
    state = toy.leaves.state(End("open"))
    here, above = toy.ask(lambda address: settle(address, state, toy.root))
    assert (here, toy.contexts(above)) == (toy.either, [OUTER, INNER])
