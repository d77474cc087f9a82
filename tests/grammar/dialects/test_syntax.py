"""The tree of a grammar as it is written: what lies below a node, and lists of one."""

from __future__ import annotations

from typing import get_args

import pytest

from maskwright.grammar.dialects.syntax import (
    Both,
    Either,
    Json,
    Literal,
    Name,
    Node,
    Not,
    Series,
    Special,
    Times,
    below,
    either,
    series,
    with_below,
)
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.schema.tree import Schema
from tests.ids import named

A, B = (Literal(full_match(text), at) for at, text in enumerate("ab"))

BELOW: list[tuple[Node, tuple[Node, ...]]] = [
    (A, ()),
    (Name("x", 0), ()),
    (Name("sep", 0, (A, Name("x", 4))), (A, Name("x", 4))),
    (Series((A, B, A)), (A, B, A)),
    (Series(()), ()),
    (Either((B, A)), (B, A)),
    (Times(Series((A, B)), 0, None), (Series((A, B)),)),  # one level, no further
    (Both((A, B), 0), (A, B)),
    (Not(A, 0), (A,)),
    (Json(Schema(""), 0), ()),
    (Special(((1, 2),), 0), ()),
]


@pytest.mark.parametrize(("node", "expected"), BELOW, ids=named)
def test_the_nodes_below_a_node(node: Node, expected: tuple[Node, ...]) -> None:
    assert below(node) == expected


@pytest.mark.parametrize(("node", "children"), BELOW, ids=named)
def test_only_the_nodes_below_a_node_are_changed(node: Node, children: tuple[Node, ...]) -> None:
    changed = with_below(node, lambda each: Not(each, 7))
    assert type(changed) is type(node)
    assert below(changed) == tuple(Not(each, 7) for each in children)
    for name in {*node.__struct_fields__} - {"parts", "options", "body", "arguments"}:
        assert getattr(changed, name) == getattr(node, name)


def test_every_kind_of_node_has_a_row() -> None:
    assert {type(node) for node, _ in BELOW} == set(get_args(Node))


def test_a_list_of_one_is_that_one() -> None:
    assert series([A]) is A
    assert either([A]) is A
    assert (series([A, B]), either([A, B])) == (Series((A, B)), Either((A, B)))
    assert (series([]), either([])) == (Series(()), Either(()))  # the empty text, and none
