"""The compiled half of the machine, function by function."""

from __future__ import annotations

from random import Random

import pytest

from maskwright.automaton.leaf.keys import End, LiteralState, Spaced, Text
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import DONE, DYNAMIC, NO_FRAME, POP, PUSH, STAY, Exit
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.machine.step import REQUEST_ROW, TOO_MANY, MachineArrays
from maskwright.grammar.pattern.translate import full_match
from tests.automaton.machine.toy import Listed, Toy

OUTER, INNER = 1, 2


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
    leaf, node = toy.ask(lambda arrays: arrays.advance(toy.start, toy.root, text))
    assert (leaf == DEAD) == (stack is None)
    if stack is not None:
        assert toy.contexts(node) == stack
        assert toy.ask(lambda arrays: arrays.is_accepting(leaf, node)) == accepted


def test_bytes_that_may_follow() -> None:
    toy = Brackets()
    for text, expected in ((b"", b"["), (b"[", b"a"), (b"[a", b","), (b"[a, ", b"\t\n\r ]")):
        leaf, node = toy.ask(lambda arrays, text=text: arrays.advance(toy.start, toy.root, text))
        found = toy.ask(lambda arrays, leaf=leaf, node=node: arrays.next_bytes(leaf, node))
        assert found == expected


def test_reading_stops_at_a_dynamic_exit() -> None:
    toy = Brackets(dynamic=True)
    leaf, _ = toy.ask(lambda arrays: arrays.advance(toy.start, toy.root, b"[a,"))
    arrays = toy.machine.arrays
    assert (leaf, arrays.stopped, arrays.bytes_read) == (DEAD, True, 2)
    assert arrays.stop_context == INNER
    assert toy.leaves.labels[arrays.stop_label] == 1
    assert toy.contexts(arrays.stop_node) == [OUTER, INNER]
    leaf, _ = toy.ask(lambda arrays: arrays.advance(toy.start, toy.root, b"["))
    assert leaf != DEAD
    assert not arrays.stopped


def test_a_walk_passes_a_dynamic_exit_and_remembers_it() -> None:
    toy = Brackets(dynamic=True)
    leaf, node = toy.ask(lambda arrays: arrays.advance(toy.start, toy.root, b"["))
    read, below = toy.ask(lambda arrays: arrays.move(leaf, node, ord("a")))

    def go_on(arrays: MachineArrays) -> tuple[int, int]:
        arrays.passed = 0  # the machine is asked again after each request that it has served
        return arrays.move(read, below, ord(","))

    here, _ = toy.ask(go_on)
    assert here != DEAD
    assert toy.machine.arrays.passed == 2 + toy.root


# The parent of each node: 0 is a root; 1 stands on it, 2 and 3 on 1, 4 on 2.
PARENTS = [-1, 0, 1, 1, 2]


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
    arrays = MachineArrays(LeafTable().rows)
    assert arrays.add_root(0) == 0
    for number, parent in enumerate(PARENTS[1:], 1):
        assert arrays.node(number, parent) == number
    assert arrays.pass_dynamic_exit(passed, node) == after


@pytest.mark.parametrize("bits", [0, 1 << 2, 1 << 5, 1 << 63, 1 << 64, 1 << 70, (1 << 80) - 1])
@pytest.mark.parametrize(
    ("low", "high"), [(0, 0), (0, 3), (3, 5), (5, 6), (60, 64), (63, 66), (70, 71)]
)
def test_gates_in_compiled_code_and_in_python(bits: int, low: int, high: int) -> None:
    leaves = LeafTable()
    leaf = leaves.state(End("name"))
    leaves.rows.gate_low[leaf], leaves.rows.gate_high[leaf] = low, high
    toy = Toy(leaves, Listed({}, {OUTER: (bits, 80)}))
    gated, free = toy.machine.root(OUTER), toy.machine.root(INNER)
    arrays = toy.machine.arrays
    expected = high == 0 or any(bits >> name & 1 for name in range(low, high))
    assert arrays.gate_open(leaf, gated) == expected
    assert toy.machine.gate_open(leaf, OUTER) == expected
    assert arrays.gate_open(leaf, free)
    assert toy.machine.gate_open(leaf, INNER)


def test_requests_are_noted_once_and_never_beyond_their_room() -> None:
    toy = Brackets()
    arrays = toy.machine.arrays
    for _ in range(2):
        arrays.ask(7, REQUEST_ROW)
        arrays.ask(7, 3)
    assert arrays.pending == [(7, REQUEST_ROW), (7, 3)]
    for number in range(300):
        arrays.ask(number, 4)
    assert len(arrays.pending) == 256
    assert arrays.lacking
    arrays.forget()
    assert (arrays.pending, arrays.lacking) == ([], False)


def test_nodes_are_interned_beyond_the_first_table() -> None:
    toy = Brackets()
    pairs = [(context, parent) for context in range(50) for parent in range(12)]
    nodes = [toy.ask(lambda arrays, pair=pair: arrays.node(*pair)) for pair in pairs]
    assert len(set(nodes)) == len(pairs)
    again = [toy.ask(lambda arrays, pair=pair: arrays.node(*pair)) for pair in pairs]
    assert again == nodes
    arrays = toy.machine.arrays
    assert [(arrays.node_context[n], arrays.node_parent[n]) for n in nodes] == pairs


def test_a_leaf_read_to_its_end_is_left_at_once() -> None:
    toy = Brackets()
    assert toy.ask(lambda arrays: arrays.settle(toy.either, toy.root)) == (toy.either, toy.root)
    state = toy.leaves.state(End("open"))
    here, above = toy.ask(lambda arrays: arrays.settle(state, toy.root))
    assert (here, toy.contexts(above)) == (toy.either, [OUTER, INNER])


@pytest.mark.parametrize(
    ("leaf", "node"), [(0, 1), (0, -1), (1 << 20, 0), (-2, 0), (0, 1 << 20), (3, -7)]
)
def test_what_is_no_configuration_is_refused(leaf: int, node: int) -> None:
    toy = Brackets()
    arrays = toy.machine.arrays
    assert arrays.nodes == 1
    for question in (
        lambda: arrays.leave(leaf, node),
        lambda: arrays.move(leaf, node, 0x20),
        lambda: arrays.settle(leaf, node),
        lambda: arrays.advance(leaf, node, b"["),
        lambda: arrays.take_bytes(leaf, node, b"["),
        lambda: arrays.take_run(leaf, node, b"["),
        lambda: arrays.is_accepting(leaf, node),
        lambda: arrays.next_bytes(leaf, node),
        lambda: arrays.gate_open(leaf, node),
    ):
        with pytest.raises(IndexError, match="there is no"):
            question()


def test_nothing_follows_the_end_of_a_text() -> None:
    arrays = Brackets().machine.arrays
    assert arrays.advance(DEAD, -1, b"[") == (DEAD, -1)
    assert arrays.leave(DEAD, -1) == (DEAD, -1)
    assert arrays.next_bytes(DEAD, -1) == b""
    assert not arrays.is_accepting(DEAD, -1)


def test_every_exit_is_kept_with_all_its_fields_as_the_table_grows() -> None:
    random = Random(1)
    leaves = LeafTable()
    machine = Machine(leaves, Listed({}))
    arrays = machine.arrays
    entered: dict[tuple[int, int], tuple[int, int, int, int]] = {}
    while len(entered) < 2_000:
        key = (random.randrange(1 << 20), random.randrange(1, 1 << 20))
        entered[key] = (STAY, random.randrange(1 << 20), random.randrange(1 << 20), NO_FRAME)
        arrays.enter_exit(*key, *entered[key])
        assert arrays.exits == len(entered)
    assert all(arrays.has_exit(*key) for key in entered)
    assert not any(arrays.has_exit(context, label + 1) for context, label in entered
                   if (context, label + 1) not in entered)  # fmt: skip
    leaf = leaves.state(End("left"))
    for (context, label), (_, following, after, _) in entered.items():
        leaves.rows.label[leaf] = label
        here, node = arrays.leave(leaf, machine.root(context))
        while node < 0 or here == DEAD:  # the table of nodes was full
            machine.serve_requests()
            here, node = arrays.leave(leaf, machine.root(context))
        assert (here, arrays.node_context[node], arrays.node_parent[node]) == (after, following, -1)
