"""The machine's tables: they grow, keep what they have, and count what a grammar adds."""

from __future__ import annotations

import pytest

from maskwright.automaton.leaf.keys import End, LiteralState
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import STAY, Exit
from maskwright.automaton.machine.machine import Added, Machine
from maskwright.automaton.machine.step import REQUEST_ROW
from maskwright.errors import LimitError
from maskwright.limits import Limits, Work
from tests.automaton.machine.toy import Listed, Toy

MANY = 1_000


def test_each_exit_is_asked_for_once_and_kept_as_tables_grow() -> None:
    leaves = LeafTable()
    states = [leaves.state(End(("label", number))) for number in range(MANY)]
    exits = {(1, ("label", number)): Exit(STAY, 1, number % 7) for number in range(MANY)}
    contexts = Listed(exits)
    toy = Toy(leaves, contexts)
    root = toy.machine.root(1)
    for _ in range(2):
        for number, state in enumerate(states):
            found = toy.ask(lambda arrays, state=state: arrays.leave(state, root))
            assert found == (number % 7, root)
    assert toy.machine.exits == MANY
    assert len(contexts.asked) == MANY


def test_exits_that_come_next_are_entered_with_the_first() -> None:
    leaves = LeafTable()
    first, second = leaves.state(End("first")), leaves.state(End("second"))
    later = (1, "second", Exit(STAY, 1, 6))
    contexts = Listed({(1, "first"): Exit(STAY, 1, 5, then=(later,))})
    toy = Toy(leaves, contexts)
    root = toy.machine.root(1)
    assert toy.ask(lambda arrays: arrays.leave(first, root)) == (5, root)
    assert [label for _, label, _ in contexts.asked] == ["first"]
    assert toy.machine.arrays.leave(second, root) == (6, root), "at once"


def test_a_blocked_exit_is_remembered_too() -> None:
    leaves = LeafTable()
    state = leaves.state(End("end"))
    contexts = Listed({})
    toy = Toy(leaves, contexts)
    root = toy.machine.root(1)
    for _ in range(3):
        assert toy.ask(lambda arrays: arrays.leave(state, root)) == (DEAD, root)
    assert len(contexts.asked) == 1


def test_a_root_is_one_node() -> None:
    machine = Machine(LeafTable(), Listed({}))
    roots = [machine.root(context) for context in range(300)]
    assert len(set(roots)) == 300
    assert [machine.root(context) for context in range(300)] == roots
    assert machine.arrays.node_context[roots].tolist() == list(range(300))


@pytest.mark.parametrize("width", [1, 64, 65, 5_000])
def test_gates_are_kept_word_by_word(width: int) -> None:
    bits = (1 << (width - 1)) | 1
    machine = Machine(LeafTable(), Listed({}, {3: (bits, width), 200: (1, 1)}))
    for context in (3, 200, 3, 4):
        machine.know_context(context)
    arrays = machine.arrays
    words = (width + 63) // 64
    start = int(arrays.gate_start[3])
    kept = sum(int(word) << (64 * at) for at, word in enumerate(arrays.gate_bits[start:][:words]))
    assert kept == bits
    assert arrays.gate_bits[arrays.gate_start[200]] == 1
    assert arrays.gate_start[4] == -1


def test_what_a_grammar_adds_is_bounded() -> None:
    machine = Machine(LeafTable(), Listed({}), Limits(contexts=10))
    added = Added()
    machine.begin(Added(), added)
    for context in range(11):
        machine.know_context(context)
    with pytest.raises(LimitError, match="more than 10 contexts"):
        machine.know_context(11)
    machine.begin(Added(), Added())
    machine.know_context(20)  # another grammar has its own count
    assert added.contexts == 11


def test_leaf_states_are_bounded() -> None:
    leaves = LeafTable()
    state = leaves.state(LiteralState(b"a" * 100, leaves.state(End("end"))))
    toy = Toy(leaves, Listed({}), Limits(leaf_states=5))
    toy.machine.begin(Added(), Added())

    def build() -> None:  # a row, which brings the state of the next byte
        toy.machine.arrays.ask(leaves.count - 1, REQUEST_ROW)
        toy.machine.serve_requests()

    leaves.build(state)
    for _ in range(5):
        build()
    with pytest.raises(LimitError, match="more than 5 leaf states"):
        build()


@pytest.mark.parametrize(("requests", "most"), [(4, 4), (5, 4)])
def test_each_served_request_is_counted(requests: int, most: int) -> None:
    leaves = LeafTable()
    toy = Toy(leaves, Listed({}))
    for label in range(requests):
        toy.machine.arrays.ask(1, leaves.label_id(("label", label)))
    with Work(Limits(work=most)):
        if requests <= most:
            toy.machine.serve_requests()
        else:
            with pytest.raises(LimitError, match="more than 4 steps"):
                toy.machine.serve_requests()


def test_an_exit_has_all_its_fields() -> None:
    leaves = LeafTable()
    machine = Machine(leaves, Listed({(1, "end"): (STAY, 1)}))  # pyright: ignore[reportArgumentType]
    machine.arrays.ask(1, leaves.label_id("end"))
    with pytest.raises(TypeError, match="a tuple of six"):
        machine.serve_requests()
