"""Changing the children of a node of a grammar's syntax tree."""

from __future__ import annotations

from dataclasses import fields
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
    with_below,
)
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.schema.tree import Schema
from tests.ids import named

A, B = Name("a", 1), Name("b", 2)
NODES: list[Node] = [
    Literal(full_match("x"), 3),
    Name("t", 4, (A, B)),
    Series((A, B)),
    Either((A, B)),
    Times(A, 2, 5),
    Both((A, B), 6),
    Not(A, 7),
    Json(Schema(""), 8),
    Special(((9, 9),), 9),
]


def test_every_kind_of_node_is_here() -> None:
    assert {type(node) for node in NODES} == {*get_args(Node)}


@pytest.mark.parametrize("node", NODES, ids=named)
def test_only_the_children_are_changed(node: Node) -> None:
    changed = with_below(node, lambda each: Series((each,)))
    assert type(changed) is type(node)
    assert below(changed) == tuple(Series((each,)) for each in below(node))
    children = {"parts", "options", "body", "arguments"}
    for name in {field.name for field in fields(node)} - children:
        assert getattr(changed, name) == getattr(node, name)
