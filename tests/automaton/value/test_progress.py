"""How far containers have been read: what may come next, and where they may be closed."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.value.equality import equality_candidates
from maskwright.automaton.value.progress import OTHER, ArrayProgress, ObjectProgress, progress_after
from maskwright.errors import LimitError
from maskwright.grammar.schema.options import PropertyOrder
from tests.automaton.solving import array, object_

A_B_C: dict[str, Any] = {"properties": {"a": {}, "b": {}, "c": {}}}


def read(schema: dict[str, Any], names: str, order: PropertyOrder) -> ObjectProgress:
    """The progress after members with some names of the shape, by the first option of each."""
    progress = object_(schema)
    for name in names:
        progress = next(progress.take(progress.shape.names.index(name), order)).after
    return progress


def test_in_how_many_ways_a_value_may_be_read() -> None:
    """One for each set of the other options that it may rule out; a constant decides about some."""
    letters = {name: {"pattern": f"{name}.*"} for name in "abc"}
    negated = [
        {"not": {"required": ["v", name], "properties": {"v": each}}}
        for name, each in letters.items()
    ]
    wanted = object_schema({"v": {"type": "string"}, **{name: {} for name in letters}})
    assert object_({**wanted, "allOf": negated}).ways(0) == 8
    both = object_({**wanted, "allOf": negated, "required": ["v", *letters]})
    assert both.ways(0) == 1  # it rules out all
    assert object_({**wanted, "allOf": negated}).ways(1) == 1
    decided = {"not": {"required": ["v", "a"], "properties": {"v": {"type": "integer"}}}}
    progress = object_({**wanted, "allOf": [decided, *negated[:2]]})
    assert progress.ways(0) == 4
    assert len(list(progress.take(0, "any"))) == 4
    alone = [{"not": {"required": ["v"], "properties": {"v": each}}} for each in letters.values()]
    assert object_({**wanted, "allOf": alone}).ways(0) == 1  # what it may not be, if it is there


def test_requirements_that_are_otherwise_met_alike_are_met_together() -> None:
    """By the value of `v`, or where `w` stays away; by a `w` that is 1, or where `u` stays away."""
    away = [{"not": {"required": ["w"], "properties": {"v": {"pattern": e}}}} for e in "abc"]
    come = [
        {"not": {"required": ["u"], "properties": {"v": {"pattern": e}, "w": {"const": 2}}}}
        for e in "de"
    ]
    wanted = object_schema({"v": {"type": "string"}, "w": {"const": 1}, "u": {}})
    orders: tuple[PropertyOrder, ...] = ("any", "schema")
    for order in orders:
        progress = object_({**wanted, "allOf": [*away, *come]})
        options = list(progress.take(0, order))
        assert [bin(each.after.fulfilled).count("1") for each in options] == [0, 3, 5, 2]
        assert progress.ways(0) == len(options)


@pytest.mark.parametrize(
    "value", [{"$ref": "#/$defs/e"}, {"type": "string", "pattern": "e.*"}, {"minimum": 3}], ids=str
)
def test_a_value_can_not_miss_what_it_must_satisfy(value: dict[str, Any]) -> None:
    """Two options of a oneOf that say the same of a member, each in a schema of its own."""
    other = {"not": {"properties": {"v": {**value}, "w": {"const": 1}}}}
    definitions = {"$defs": {"e": {"anyOf": [{"type": "null"}, {"pattern": "e"}]}}}
    progress = object_({**object_schema({"v": value, "w": {}}), **definitions, **other})
    assert [progress.ways(at) for at in (0, 1)] == [1, 2]


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


NAMES = [
    # schema, names read, order, the names that may come
    (A_B_C, "", "any", "abc"),
    (A_B_C, "b", "any", "ac"),
    (A_B_C, "", "schema", "abc"),
    (A_B_C, "b", "schema", "c"),
    ({**A_B_C, "required": ["b"]}, "", "any", "abc"),
    ({**A_B_C, "required": ["b"]}, "", "schema", "ab"),  # "b" can't be passed
    ({**A_B_C, "required": ["b"]}, "a", "schema", "b"),
    ({**A_B_C, "required": ["b"]}, "b", "schema", "c"),
    ({**A_B_C, "required": ["z"]}, "b", "schema", "cz"),  # not declared: it may come late
    ({**A_B_C, "required": ["z"]}, "bz", "schema", ""),  # "c" should have come before it
    ({**A_B_C, "maxProperties": 1}, "", "any", "abc"),
    ({**A_B_C, "maxProperties": 1}, "b", "any", ""),
]


@pytest.mark.parametrize(("schema", "before", "order", "coming"), NAMES)
def test_names_that_may_come(
    schema: dict[str, Any], before: str, order: PropertyOrder, coming: str
) -> None:
    progress = read(schema, before, order)
    assert "".join(progress.shape.names[at] for at in progress.names(order)) == coming


OTHERS = [
    (A_B_C, "", "any", True),
    (A_B_C, "", "schema", True),
    ({**A_B_C, "required": ["b"]}, "", "schema", False),
    ({**A_B_C, "required": ["b"]}, "", "any", True),
    ({**A_B_C, "required": ["b"]}, "b", "schema", True),
    ({**A_B_C, "required": ["z"]}, "", "schema", True),
    ({**A_B_C, "maxProperties": 1}, "a", "any", False),
]


@pytest.mark.parametrize(("schema", "before", "order", "may_come"), OTHERS)
def test_names_that_the_shape_does_not_list(
    schema: dict[str, Any], before: str, order: PropertyOrder, may_come: bool
) -> None:
    assert read(schema, before, order).others_may_come(order) is may_come


def test_another_name_ends_the_declared_ones_in_order() -> None:
    progress = object_(A_B_C)
    for order, coming in (("any", 3), ("schema", 0)):
        option = next(progress.take_other((), "z", order))
        assert option.name == OTHER
        assert option.after.others == {"z"}
        assert len(option.after.names(order)) == coming
        assert next(progress.take_other((), None, order)).after.others == frozenset()


CLOSING = [
    # schema, names read, whether the object may be closed
    ({}, "", True),
    ({"required": ["a"]}, "", False),
    ({"required": ["a"]}, "a", True),
    ({"minProperties": 2}, "a", False),
    ({"minProperties": 2}, "ab", True),
    ({"not": {"required": ["a", "b"]}}, "", True),
    ({"not": {"required": ["a", "b"]}}, "a", True),
    ({"not": {"required": ["a", "b"]}}, "ab", False),  # one of them has to be missing
    ({"not": {"required": ["a", "b"]}}, "b", True),
    ({"not": {"required": ["a", "b"]}}, "bc", True),
]


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize(("keywords", "names", "closes"), CLOSING)
def test_objects_close(
    keywords: dict[str, Any], names: str, closes: bool, order: PropertyOrder
) -> None:
    assert read({**A_B_C, **keywords}, names, order).may_close() is closes


def test_a_requirement_is_one_option_more_where_a_value_may_fulfil_it() -> None:
    """One of the members must not be a string. What that one is may stay open."""
    text: Any = {"type": "string"}
    schema = {"properties": {"a": {}, "b": text, "c": {"type": "null"}}, "required": ["a", "b"]}
    progress = object_({**schema, "not": {"properties": {"a": text, "b": text, "c": text}}})

    def fulfilled(name: str) -> list[int]:
        at = progress.shape.names.index(name)
        return [option.after.fulfilled for option in progress.take(at, "any")]

    assert fulfilled("a") == [0, 1]
    assert fulfilled("b") == [0]
    assert fulfilled("c") == [1]
    assert progress.is_wanting()


def test_members_with_too_many_alternatives_are_refused() -> None:
    parts = [
        {"not": {"properties": {name: {"pattern": str(n)} for name in "ab"}}} for n in range(20)
    ]
    progress = object_({"allOf": parts, "properties": {"a": {}, "b": {}}})
    with pytest.raises(LimitError) as raised:
        list(progress.take(0, "any"))
    assert raised.value.limit == "alternatives"


def test_candidates_that_lack_a_passed_name_are_dropped_in_order() -> None:
    candidates = equality_candidates(['{"a":1,"b":1}', '{"b":1}'], (), "{")
    progress = replace(object_(A_B_C), candidates=candidates)
    for order, left in (("any", 2), ("schema", 1)):
        (option,) = progress.take(1, order)
        ((value, after),) = option.by_value
        assert (value, len(after)) == ("1", left)


# Arrays


def items(schema: dict[str, Any], *values: str) -> ArrayProgress:
    """The progress after some items (as canonical JSON), by the last option of each."""
    progress = array(schema)
    for value in values:
        progress = list(progress.options())[-1].after
        if progress.remembers_items:
            progress = progress.with_item(value)
    return progress


CONTAINS: dict[str, Any] = {"contains": {"type": "null"}}
ARRAYS = [
    # schema, items read, whether it may be closed, the options of the next item
    ({}, [], True, 1),
    ({"minItems": 1}, [], False, 1),
    ({"minItems": 1}, ["1"], True, 1),
    ({"maxItems": 1}, [], True, 1),
    ({"maxItems": 1}, ["1"], True, 0),
    (CONTAINS, [], False, 2),  # the next item is counted, or it is anything
    ({**CONTAINS, "minContains": 0, "maxContains": 1}, [], True, 2),
    ({**CONTAINS, "maxItems": 0}, [], False, 0),
    ({"uniqueItems": True}, ["1"], True, 1),
    ({"not": {"uniqueItems": True}}, ["1"], False, 1),
    ({"not": {"uniqueItems": True}}, ["1", "2"], False, 1),
    ({"not": {"uniqueItems": True}}, ["1", "2", "1"], True, 1),
]


@pytest.mark.parametrize(("schema", "values", "closes", "options"), ARRAYS)
def test_arrays(schema: dict[str, Any], values: list[str], closes: bool, options: int) -> None:
    progress = items(schema, *values)
    assert progress.may_close() is closes
    assert len(list(progress.options())) == options


def test_counting_stops_where_it_makes_no_difference() -> None:
    progress = array({**CONTAINS, "minContains": 2})
    for count in (1, 2):
        progress = next(iter(progress.options())).after
        assert progress.counts == (count,)
    (option,) = progress.options()
    assert option.after == progress

    exactly = array({**CONTAINS, "maxContains": 1})
    counted = next(iter(exactly.options())).after
    (option,) = counted.options()  # a second null is one too many
    assert option.after.counts == (1,)


NEEDED = [
    ({}, 0),
    ({"minItems": 3}, 3),
    (CONTAINS, 1),
    ({**CONTAINS, "minContains": 2, "minItems": 3}, 5),  # an upper bound
]


@pytest.mark.parametrize(("schema", "needed"), NEEDED)
def test_items_needed(schema: dict[str, Any], needed: int) -> None:
    assert array(schema).items_needed == needed


AFTER = [("1", False, 1), ("2", False, 0), (None, False, 0), ("1", True, 1), ("2", True, None)]


@pytest.mark.parametrize(("value", "must_equal_one", "left"), AFTER)
def test_the_progress_after_an_item(
    value: str | None, must_equal_one: bool, left: int | None
) -> None:
    candidates = equality_candidates(["[1,2]"], (), "[")
    progress = replace(array({}), candidates=candidates, must_equal_one=must_equal_one)
    (option,) = progress.options()
    found = progress_after(option.after, option.by_value, value)
    assert (None if found is None else len(found.candidates)) == left
