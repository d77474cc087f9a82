"""Objects are found by their keys as long as they are alive."""

from __future__ import annotations

from maskwright.grammar.regular.interned import Interned


class Value:
    """An object that can be referred to weakly."""


def test_a_value_is_found_until_it_is_gone() -> None:
    known: Interned[Value] = Interned()
    value = Value()
    assert known.get("key") is None
    assert known.keep("key", value) is value
    assert known.get("key") is value
    assert known.get(("key", 1)) is None
    assert len(known) == 1
    del value
    assert known.get("key") is None
    assert len(known) == 0


def test_the_end_of_a_value_leaves_the_one_after_it() -> None:
    known: Interned[Value] = Interned()
    first, second = Value(), Value()
    known.keep("key", first)
    known.keep("key", second)
    del first
    assert known.get("key") is second
    assert len(known) == 1


def test_nothing_is_left_of_a_table_that_is_gone_before_its_values() -> None:
    known: Interned[Value] = Interned()
    value = known.keep("key", Value())
    del known
    assert isinstance(value, Value)
    del value
