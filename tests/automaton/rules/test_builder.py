"""The nodes that expressions become: which are shared, which loops count, what is nullable."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maskwright.automaton.rules.network import NetworkBuilder
from maskwright.automaton.rules.nodes import (
    NO_LOOP,
    RULE_END,
    BoundedEnd,
    BranchNode,
    CaptureBoundary,
    CutNode,
    LoopBack,
    LoopEntry,
    LoopNode,
    Node,
    RuleCall,
    RuleEnd,
    SymbolNode,
    TextSymbol,
)
from maskwright.errors import LimitError
from maskwright.grammar.rules.tree import (
    Bounded,
    Capture,
    Cut,
    Expression,
    Ref,
    Repeat,
    Rules,
    Terminal,
)
from maskwright.limits import DEFAULT_LIMITS, Limits
from tests.automaton.rules.networks import EMPTY_TEXT, TOKEN, A, B, C, alt, opt, seq, value


def build(body: Expression, limits: Limits = DEFAULT_LIMITS, **rules: Expression) -> NetworkBuilder:
    """The nodes of the rule `start`, which is `body`, and of other rules."""
    return NetworkBuilder(Rules("start", {"start": body, **rules}), limits)


def reads(terminal: Terminal, after: int) -> SymbolNode:
    return SymbolNode(TextSymbol(terminal.language), after)


ANY = value(True)
CASES: list[tuple[Expression, int, dict[int, Node]]] = [
    # expression; the node at which it begins; nodes beside the end of the rule
    (A, 1, {1: reads(A, RULE_END)}),
    (EMPTY_TEXT, RULE_END, {}),
    (ANY, 1, {1: SymbolNode(ANY, RULE_END)}),
    (TOKEN, 1, {1: SymbolNode(TOKEN, RULE_END)}),
    (Ref("start"), 1, {1: SymbolNode(RuleCall(0), RULE_END)}),
    (seq(A, B), 2, {1: reads(B, RULE_END), 2: reads(A, 1)}),
    (seq(), RULE_END, {}),
    (alt(A, B), 3, {3: BranchNode((1, 2))}),
    (alt(A, A), 1, {1: reads(A, RULE_END)}),
    (alt(), 1, {1: BranchNode(())}),
    # Equal endings are one node
    (alt(seq(A, C), seq(B, C)), 4, {1: reads(C, 0), 2: reads(A, 1), 3: reads(B, 1)}),
    # Repeats without a counter
    (Repeat(A, 1, 1), 1, {1: reads(A, RULE_END)}),
    (Repeat(A, 0, 0), RULE_END, {}),
    (Repeat(A, 3, 2), 1, {1: BranchNode(())}),
    (Repeat(A, 0, 1), 2, {2: BranchNode((RULE_END, 1))}),
    (Repeat(A, 0, None), 1, {1: BranchNode((2, RULE_END)), 2: reads(A, 1)}),
    (Repeat(A, 1, None), 2, {1: BranchNode((2, RULE_END)), 2: reads(A, 1)}),
    # Repeats that count
    (
        Repeat(A, 2, 3),
        4,
        {1: LoopNode(2, 3, 3, RULE_END), 2: LoopBack(1), 3: reads(A, 2), 4: LoopEntry(1)},
    ),
    (Repeat(A, 2, None), 4, {1: LoopNode(2, None, 3, RULE_END)}),
    # Copies that may be empty need not be read
    (Repeat(opt(A), 2, 3), 5, {1: LoopNode(0, 3, 4, RULE_END)}),
    (Repeat(opt(A), 2, None), 1, {1: BranchNode((3, RULE_END))}),
    # What reads nothing
    (
        Capture("c", A, "x"),
        3,
        {1: CaptureBoundary("c", "x", True, RULE_END), 3: CaptureBoundary("c", "x", False, 2)},
    ),
    (Cut(A), 2, {1: CutNode(RULE_END), 2: reads(A, 1)}),
    (Bounded(A, 5, 1), 2, {1: BoundedEnd(5, 1, RULE_END), 2: reads(A, 1)}),
]


@pytest.mark.parametrize(("body", "start", "nodes"), CASES)
def test_nodes_of_an_expression(body: Expression, start: int, nodes: dict[int, Node]) -> None:
    built = build(body)
    assert built.starts == [start]
    assert built.nodes[RULE_END] == RuleEnd()
    assert {at: built.nodes[at] for at in nodes} == nodes


def test_nodes_know_the_innermost_counted_loop() -> None:
    built = build(seq(Repeat(seq(A, Repeat(B, 2, 3)), 2, 3), C))
    heads = {built.nodes[at]: at for at in range(len(built.nodes))}
    [inner, outer] = sorted(
        (at for node, at in heads.items() if isinstance(node, LoopNode)), reverse=True
    )
    by_symbol = {
        node.symbol: built.loops[at] for node, at in heads.items() if isinstance(node, SymbolNode)
    }
    assert by_symbol[TextSymbol(B.language)] == inner
    assert by_symbol[TextSymbol(A.language)] == outer
    assert by_symbol[TextSymbol(C.language)] == NO_LOOP
    assert built.loops[inner] == outer
    assert built.loops[outer] == NO_LOOP


def test_rules_that_the_start_does_not_reach_are_left_out() -> None:
    built = build(seq(A, Ref("used")), unused=B, used=seq(C, Ref("start")))
    assert built.names == ["start", "used"]
    assert len(built.starts) == 2
    assert built.firsts[-1] == len(built.nodes)


def test_rules_share_equal_endings() -> None:
    built = build(alt(Ref("p"), Ref("q")), p=seq(A, C), q=seq(B, C))
    p, q = (built.nodes[start] for start in built.starts[1:])
    assert isinstance(p, SymbolNode)
    assert isinstance(q, SymbolNode)
    assert p.next == q.next != RULE_END


@pytest.mark.parametrize(
    ("body", "nullable"),
    [
        (A, False),
        (EMPTY_TEXT, True),
        (value(True), False),
        (TOKEN, False),
        (Bounded(A, 1, 0), False),
        (seq(), True),
        (seq(opt(A), opt(B)), True),
        (seq(opt(A), B), False),
        (alt(), False),
        (alt(A, seq()), True),
        (Capture("c", opt(A)), True),
        (Repeat(A, 0, 2), True),
        (Repeat(A, 1, 2), False),
        (Repeat(opt(A), 1, 2), True),
        (Repeat(A, 1, 0), False),
        (Ref("empty"), True),
        (seq(Ref("empty"), Ref("start")), False),
        (alt(seq(Ref("start"), A), Ref("empty")), True),
    ],
)
def test_which_rules_generate_the_empty_text(body: Expression, nullable: bool) -> None:
    assert build(body, empty=seq()).nullable[0] is nullable


@pytest.mark.parametrize(
    ("limit", "body"),
    [
        ("grammar_rules", seq(Ref("p"), Ref("q"))),
        ("grammar_nodes", alt(A, B, C)),
    ],
)
def test_rules_and_nodes_are_bounded(limit: str, body: Expression) -> None:
    build(body, p=A, q=B)
    with pytest.raises(LimitError, match=limit):
        build(body, replace(DEFAULT_LIMITS, **{limit: 2}), p=A, q=B)
