"""Keys of leaf states: each kind is a state of its own, and every kind is a `Key`."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import astuple

from maskwright.automaton.leaf import keys
from maskwright.automaton.leaf.keys import (
    Dead,
    End,
    Key,
    LiteralState,
    Opened,
    Padded,
    PartsEnded,
    Skipped,
    Spaced,
    Text,
    TokenRead,
    ValueBegan,
)
from maskwright.automaton.leaf.table import LeafTable
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.terms import EPSILON
from tests.ids import named

TERM = full_match("[a-z]+")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Spaced(2, 0), Padded(2, 0)),
        (Skipped(16, 0), Padded(16, 0)),
        (Skipped(16, 0), Spaced(16, 0)),
    ],
    ids=named,
)
def test_keys_of_two_kinds_with_equal_fields_are_two_states(one: Key, other: Key) -> None:
    assert astuple(one) == astuple(other)
    leaves = LeafTable()
    first, second = leaves.state(one), leaves.state(other)
    assert first != second
    assert [type(leaves.keys[state]) for state in (first, second)] == [type(one), type(other)]
    assert (leaves.state(one), leaves.state(other)) == (first, second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Text(True, TERM), Text(False, TERM)),
        (Text(True, TERM), Text(True, EPSILON)),
        (End(1), End(2)),
        (LiteralState(b"ab", 0), LiteralState(b"b", 0)),
    ],
    ids=named,
)
def test_keys_that_differ_in_a_field_are_read_differently(one: Key, other: Key) -> None:
    leaves = LeafTable()
    one_state, other_state = leaves.state(one), leaves.state(other)
    rows = leaves.next_states(one_state), leaves.next_states(other_state)
    labels = leaves.label_of(one_state), leaves.label_of(other_state)
    assert rows[0] != rows[1] or repr(labels[0]) != repr(labels[1])


def test_every_kind_of_the_module_is_a_key_except_the_labels() -> None:
    kinds = {
        kind
        for kind in vars(keys).values()
        if isinstance(kind, type) and kind.__module__ == keys.__name__
    }
    assert kinds - {Opened, PartsEnded, TokenRead, ValueBegan} == set(get_args(Key))
    assert Dead in kinds
