"""Names of plain shapes: which shapes are plain, and which names may come, by counting alone."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.json.bit_sets import numbers_in
from maskwright.automaton.json.names import PlainShapes
from maskwright.automaton.json.plain_reader import PlainReader, PlainShape
from maskwright.automaton.json.remembered_names import RememberedNames
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.equality import equality_candidates
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.limits import DEFAULT_LIMITS
from tests.automaton.solving import object_, solver

A_B_C: dict[str, Any] = {"properties": {"a": {}, "b": {}, "c": {}}}
CLOSED: dict[str, Any] = {**A_B_C, "additionalProperties": False}


def reader(
    progress: ObjectProgress, order: PropertyOrder = "any", solving: Solver | None = None
) -> PlainReader | None:
    known = solving or Solver(order, DEFAULT_LIMITS)
    plain_shape = PlainShapes(known, RememberedNames(known.values.names, None))
    return PlainReader.of((Thread(0, progress),), plain_shape, 1)


PLAIN: list[tuple[dict[str, Any], bool]] = [
    (A_B_C, True),
    (CLOSED, True),
    ({**A_B_C, "patternProperties": {"^x": {"type": "null"}}}, True),
    ({**A_B_C, "patternProperties": {"^x": False}}, False),  # some other names, but not all
    ({**CLOSED, "patternProperties": {"^x": {}}}, False),
    ({**A_B_C, "additionalProperties": {"type": "string"}}, True),
    ({**A_B_C, "not": {"required": ["a", "b"]}}, False),
    ({**A_B_C, "propertyNames": {"pattern": "^[a-f]$"}}, False),
]


@pytest.mark.parametrize(("schema", "is_plain"), PLAIN)
def test_plain_shapes(schema: dict[str, Any], is_plain: bool) -> None:
    assert (reader(object_(schema)) is not None) is is_plain


def test_levels_of_several_threads_and_compared_objects_are_not_plain() -> None:
    progress, known = object_(A_B_C), solver()
    plain_shape = PlainShapes(known, RememberedNames(known.values.names, None))
    assert PlainReader.of((Thread(0, progress), Thread(1, progress)), plain_shape, 1) is None
    candidates = equality_candidates(['{"a":1}'], (), "{")
    for each in (
        replace(progress, candidates=candidates),
        replace(progress, must_equal_one=True),
    ):
        assert PlainReader.of((Thread(0, each),), plain_shape, 1) is None


def test_many_names_take_memory_in_proportion() -> None:
    """A bit for each of 10,000 names, each as a number of its own, would take 6 MB."""
    found = reader(object_({"properties": {f"n{at}": {} for at in range(10_000)}}))
    assert found is not None
    plain = found.plain
    tracemalloc.start()
    again = PlainShape(plain.shape, plain.order, plain.possible, plain.others, plain.remembered)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert again.words == plain.words
    names = {f"n{at}" for at in range(10_000)}
    after = found.reader_after(5_000)
    assert {after.words[at] for at in numbers_in(after.bits)} == names - {"n5000"}
    assert kept < 1_000_000


COMING: list[tuple[dict[str, Any], str, PropertyOrder, str, bool, bool]] = [
    # schema, names read, order, names that may come, whether others may, whether it may close
    (A_B_C, "", "any", "abc", True, True),
    (A_B_C, "b", "any", "ac", True, True),
    (A_B_C, "b", "schema", "c", True, True),
    (CLOSED, "b", "schema", "c", False, True),
    ({**A_B_C, "required": ["b"]}, "", "schema", "ab", False, False),
    ({**A_B_C, "required": ["b"]}, "", "any", "abc", True, False),
    ({**A_B_C, "required": ["b"]}, "b", "schema", "c", True, True),
    ({**CLOSED, "maxProperties": 2, "required": ["c"]}, "a", "any", "c", False, False),
    ({**A_B_C, "maxProperties": 2, "required": ["c"]}, "", "any", "abc", True, False),
    ({**A_B_C, "maxProperties": 1}, "a", "any", "", False, True),
    ({**CLOSED, "minProperties": 2}, "", "schema", "ab", False, False),
    ({**CLOSED, "minProperties": 2}, "b", "schema", "c", False, False),
    ({**CLOSED, "minProperties": 3}, "", "schema", "a", False, False),
    ({**CLOSED, "minProperties": 3}, "", "any", "abc", False, False),
    ({**A_B_C, "minProperties": 3}, "", "schema", "abc", True, False),
    ({**CLOSED, "properties": {"a": {}, "b": False, "c": {}}}, "", "any", "ac", False, True),
    ({**A_B_C, "required": ["z"]}, "b", "schema", "cz", True, False),
    ({**CLOSED, "required": ["z"], "minProperties": 2}, "", "schema", "ab", False, False),
]


@pytest.mark.parametrize(("schema", "before", "order", "coming", "others", "closes"), COMING)
def test_names_that_may_come(
    schema: dict[str, Any],
    before: str,
    order: PropertyOrder,
    coming: str,
    others: bool,
    closes: bool,
) -> None:
    found = reader(object_(schema), order)
    assert found is not None
    for name in before:
        at = found.plain.indexes[name]
        assert found.names >> at & 1
        found = found.reader_after(at)
    names = found.plain.shape.names
    assert "".join(names[at] for at in numbers_in(found.names)) == coming
    assert {found.words[at] for at in numbers_in(found.bits)} == set(coming)
    assert found.others is others
    assert found.may_close is closes


def test_labels() -> None:
    """The first entry is 1 + the word; then there is one for each language of other names."""
    found = reader(object_({**A_B_C, "required": ["a"]}), "schema")
    assert found is not None
    word = 1 + found.words.index("b")
    assert found.index((word, 1)) == 1
    assert found.index((0, 1)) is None
    assert found.threads((word, 1), None) == ()  # "a" has to come first
    (thread,) = found.threads((1 + found.words.index("a"), 1), None)
    assert isinstance(thread.progress, ObjectProgress)
    assert thread.progress.position == 1
    assert found.threads((0, 1), "z") == ()

    free = reader(object_(A_B_C))
    assert free is not None
    (other,) = free.threads((0, 1), "z")
    assert isinstance(other.progress, ObjectProgress)
    assert other.progress.others == {"z"}
    assert free.is_other((0, 1))
    assert not free.is_other((word, 1))


def test_other_names_do_not_come_twice() -> None:
    found = reader(replace(object_(A_B_C), others=frozenset(["z"])))
    assert found is not None
    word = 1 + found.words.index("z")
    assert not found.bits >> word - 1 & 1
    assert found.threads((word, 1), "z") == ()
    assert not found.is_other((word, 1))
