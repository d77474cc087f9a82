"""FIRST and FOLLOW sets in bytes, and what depends on them: when a leaf is left."""

from __future__ import annotations

import pytest

from maskwright import compile_grammar
from maskwright.automaton.rules.follow import SPECIAL, VALUE, NextBytes, successors
from maskwright.automaton.rules.nodes import (
    BoundedEnd,
    BranchNode,
    CaptureBoundary,
    CutNode,
    LoopBack,
    LoopEntry,
    LoopNode,
    Node,
    RuleEnd,
    SymbolNode,
    TextSymbol,
)
from maskwright.grammar.rules.tree import Expression, Ref, Repeat
from tests.automaton.rules.networks import (
    TOKEN,
    A,
    B,
    C,
    X,
    Y,
    along,
    alt,
    network,
    opt,
    seq,
    text,
    value,
)
from tests.matching import EVERY_BYTE, matches


def shown(found: int) -> str:
    """A set of bytes as characters; `V` and `T` for the first bytes of values and tokens."""
    names = ""
    for bits, name in ((VALUE, "V"), (SPECIAL, "T")):
        if found & bits == bits:
            found &= ~bits
            names += name
    return "".join(chr(byte) for byte in range(256) if found >> byte & 1) + names


CASES: list[tuple[dict[str, Expression], str, str]] = [
    # rules; rule and path; the bytes that may come next
    ({"start": seq(A, B)}, "start", "a"),
    ({"start": seq(A, B)}, "start a", "b"),
    ({"start": seq(A, B)}, "start a b", ""),
    ({"start": seq(A, opt(B), C)}, "start a", "bc"),
    ({"start": seq(A, text("b*"), C)}, "start a", "bc"),
    ({"start": seq(A, text("[x-z]|bc"))}, "start a", "bxyz"),
    ({"start": seq(A, value(True))}, "start a", "V"),
    ({"start": seq(A, alt(TOKEN, B))}, "start a", "bT"),
    ({"start": Repeat(seq(A, B), 2, 3)}, "start a b", "a"),
    ({"start": seq(Repeat(A, 2, 3), X)}, "start a", "ax"),
    ({"start": Repeat(A, 1)}, "start a", "a"),
    # A call: the FIRST set of its rule, and more where that may be empty
    ({"start": seq(A, Ref("p"), X), "p": alt(B, C)}, "start a", "bc"),
    ({"start": seq(A, Ref("p"), X), "p": opt(B)}, "start a", "bx"),
    # The end of a rule: what follows its callers
    ({"start": seq(Ref("p"), X), "p": A}, "p a", "x"),
    ({"start": alt(seq(Ref("p"), X), seq(B, Ref("p"), Y)), "p": A}, "p a", "xy"),
    ({"start": seq(Ref("p"), opt(X), Y), "p": A}, "p a", "xy"),
    # A rule that ends its caller is followed by what follows the caller. (All rules share the node
    # at which they end, so what follows a single one shows where more of it may come first.)
    ({"start": seq(Ref("p"), X), "p": seq(A, Ref("q")), "q": seq(B, opt(C))}, "q b", "cx"),
    ({"start": seq(Ref("p"), X), "p": seq(A, Ref("q"), opt(Y)), "q": seq(B, opt(C))}, "q b", "cxy"),
    (
        {"start": seq(Ref("p"), X), "p": seq(A, Ref("q")), "q": seq(B, Ref("r")), "r": Repeat(C)},
        "r c",
        "cx",
    ),
    ({"start": seq(Ref("p"), X), "p": alt(seq(A, Ref("p")), seq(B, opt(C)))}, "p b", "cx"),
    ({"start": seq(Ref("p"), X), "p": alt(seq(Ref("p"), A), seq(B, opt(C)))}, "p b", "acx"),
    # What follows another rule doesn't count
    (
        {
            "start": alt(seq(Ref("p"), X), seq(Ref("q"), Y)),
            "p": seq(A, opt(C)),
            "q": seq(B, opt(text("d"))),
        },
        "p a",
        "cx",
    ),
    # Rules that share an ending
    (
        {
            "start": alt(seq(Ref("p"), X), seq(Ref("q"), Y)),
            "p": seq(A, C, opt(B)),
            "q": seq(B, C, opt(B)),
        },
        "p a c",
        "bxy",
    ),
]


@pytest.mark.parametrize(("rules", "place", "expected"), CASES)
def test_bytes_that_may_come_next(rules: dict[str, Expression], place: str, expected: str) -> None:
    found = network(rules)
    rule, _, path = place.partition(" ")
    node, _ = along(found, rule, path)
    assert shown(NextBytes(found).of_nodes()[node]) == expected


@pytest.mark.parametrize(
    ("end", "text", "expected"),
    [("x", "bx", True), ("x", "bxx", True), ("x", "b", False), ("x", "b(-)x", True),
     (";", "bx;", True), (";", "b(-)", False)],
)  # fmt: skip
def test_a_text_may_end_where_the_caller_of_its_caller_goes_on(
    end: str, text: str, expected: bool
) -> None:
    """Where a letter comes next, the leaf that reads letters is left and read on, too."""
    rules = f'start: p "{end}"\np: q\nq: /[a-z]+/ r?\nr: "(" r ")" | "-"'
    assert matches(compile_grammar(rules, EVERY_BYTE, dialect="lark"), text) is expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (SymbolNode(TextSymbol(A.language), 5), (5,)),
        (CaptureBoundary("c", "", True, 5), (5,)),
        (BoundedEnd(1, 0, 5), (5,)),
        (CutNode(5), (5,)),
        (BranchNode((3, 4)), (3, 4)),
        (LoopEntry(6), (6,)),
        (LoopBack(6), (6,)),
        (LoopNode(1, 2, 3, 4), (3, 4)),
        (RuleEnd(), ()),
    ],
)
def test_successors(node: Node, expected: tuple[int, ...]) -> None:
    assert successors(node) == expected
