"""What is satisfiable, what can be completed, and which options lead on."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.value.equality import equality_candidates
from maskwright.grammar.schema.options import PropertyOrder
from tests.automaton.solving import array, conjunction, object_, solver

A_B: dict[str, Any] = {"properties": {"a": {"enum": [1, 2]}, "b": {"type": "boolean"}}}
CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False, **A_B}
LIST: dict[str, Any] = {"type": "array", "items": {"$ref": "#"}}
SATISFIABLE: list[tuple[Any, bool]] = [
    (True, True),
    (False, False),
    ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, False),
    ({"allOf": [{"type": "string", "pattern": "^a"}, {"pattern": "^b"}]}, False),
    ({**LIST, "minItems": 1}, False),  # each value would have to be within another one
    ({**LIST, "maxItems": 1}, True),
    ({"anyOf": [{"const": 1}, {"type": "array", "items": {"$ref": "#"}, "minItems": 1}]}, True),
    ({**CLOSED, "minProperties": 2}, True),
    ({**CLOSED, "minProperties": 3}, False),
    ({**CLOSED, "required": ["c"]}, False),
    ({**CLOSED, "enum": [{"a": 1}, {"a": 3}]}, True),
    ({**CLOSED, "enum": [{"a": 3}]}, False),
    ({**CLOSED, "not": {"required": ["a"]}, "minProperties": 2}, False),
    ({"type": "array", "uniqueItems": True, "items": CLOSED, "minItems": 9}, True),
    ({"type": "array", "uniqueItems": True, "items": CLOSED, "minItems": 10}, False),
    ({"oneOf": [{"enum": [1, 2]}, {"enum": [2, 1]}]}, False),
    ({"oneOf": [{"enum": [1, 2]}, {"enum": [2, 3]}]}, True),
    (
        {
            "type": "object",
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            "required": ["a", "b"],
        },
        False,
    ),
]


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize(("schema", "is_satisfiable"), SATISFIABLE)
def test_satisfiable(schema: Any, is_satisfiable: bool, order: PropertyOrder) -> None:
    solving = solver(order)
    assert solving.satisfiable(conjunction(schema)) is is_satisfiable


UNIQUE: list[tuple[dict[str, Any], set[str], bool, int]] = [
    # array of unique items, those read, whether it can be completed, options of the next item
    ({"items": {"enum": [1, 2]}, "minItems": 2}, set(), True, 1),
    ({"items": {"enum": [1, 2]}, "minItems": 2}, {"1"}, True, 1),
    ({"items": {"enum": [1, 2]}, "minItems": 3}, set(), False, 0),
    ({"items": {"enum": [1, 2]}}, {"1", "2"}, True, 0),
    ({"prefixItems": [{"enum": [1, 2]}, {"const": 1}], "minItems": 2}, set(), True, 1),
    ({"prefixItems": [{"const": 1}, {"const": 1}], "minItems": 2}, set(), False, 0),
    ({"items": {"enum": [[1], [1.0], [2]]}, "minItems": 2}, {"[1]"}, True, 1),
    ({"items": {"enum": [[1], [1.0], [2]]}, "minItems": 3}, set(), False, 0),
    ({"items": {"enum": [1, 2]}, "contains": {"const": 2}}, {"2"}, False, 0),
]


@pytest.mark.parametrize(("keywords", "seen", "completes", "options"), UNIQUE)
def test_unique_items(
    keywords: dict[str, Any], seen: set[str], completes: bool, options: int
) -> None:
    solving = solver()
    progress = array({"uniqueItems": True, **keywords})
    progress = replace(progress, index=min(len(seen), progress.shape.least), seen=frozenset(seen))
    assert solving.can_complete(progress) is completes
    assert len(list(solving.item_options(progress))) == options


def test_an_item_that_would_use_up_the_only_value_of_another_one_is_not_offered() -> None:
    solving = solver()
    schema = {"prefixItems": [{"enum": [1]}, {"enum": [1]}], "items": {"enum": [1, 2]}}
    progress = array({"uniqueItems": True, **schema})
    assert solving.can_complete(progress)
    (option,) = solving.item_options(progress)
    after = option.after.with_item("1")
    assert [*solving.item_options(after)] == []  # the second item could only be 1 again


REPEATS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    # array in which two items are equal, items read, the values that the next one may have
    ({"items": {"enum": [1, 2]}, "maxItems": 2}, [], ["1", "2"]),
    ({"items": {"enum": [1, 2]}, "maxItems": 2}, ["1"], ["1"]),
    ({"items": {"enum": [1, 2]}, "maxItems": 3}, ["1"], ["1", "2"]),
    ({"items": {"enum": [1, 2]}, "maxItems": 3}, ["1", "2"], ["1", "2"]),
    ({"prefixItems": [{"enum": [1, 2]}, {"enum": [2, 3]}], "maxItems": 2}, [], ["2"]),
    ({"prefixItems": [{"const": 1}, {"const": 2}], "maxItems": 2}, [], []),
]


@pytest.mark.parametrize(("keywords", "read", "values"), REPEATS)
def test_items_that_must_repeat(
    keywords: dict[str, Any], read: list[str], values: list[str]
) -> None:
    solving = solver()
    progress = array({"not": {"uniqueItems": True}, **keywords})
    for text in read:
        progress = next(iter(progress.options())).after.with_item(text)
    allowed: set[str] = set()
    for option in solving.item_options(progress):
        for text in ("1", "2", "3"):
            after = option.after.with_item(text)
            if solving.search.equal_to(option.value, text) and solving.can_complete(after):
                allowed.add(text)
    assert sorted(allowed) == values


NAMED: list[tuple[dict[str, Any], str, PropertyOrder, list[str]]] = [
    # keywords, names read, order, the names that may come and lead on
    (CLOSED, "", "any", ["a", "b"]),
    ({**CLOSED, "maxProperties": 1}, "", "any", ["a", "b"]),
    ({**CLOSED, "maxProperties": 1, "required": ["b"]}, "", "any", ["b"]),
    ({**CLOSED, "minProperties": 2}, "", "schema", ["a"]),  # after "b" there would be one only
    ({**CLOSED, "minProperties": 2}, "", "any", ["a", "b"]),
    ({**CLOSED, "properties": {"a": False, "b": {}}}, "", "any", ["b"]),
    ({**CLOSED, "not": {"required": ["a", "b"]}}, "a", "any", []),
]


@pytest.mark.parametrize(("keywords", "before", "order", "names"), NAMED)
def test_names_that_lead_on(
    keywords: dict[str, Any], before: str, order: PropertyOrder, names: list[str]
) -> None:
    solving = solver(order)
    progress = object_(keywords)
    for name in before:
        at = progress.shape.names.index(name)
        progress = next(solving.named_options(progress, at)).after
    found = [
        progress.shape.names[at]
        for at in progress.names(order)
        if any(True for _ in solving.named_options(progress, at))
    ]
    assert found == names


def test_other_names_lead_on_only_if_their_class_has_values() -> None:
    solving = solver()
    progress = object_({"patternProperties": {"^x": False}})
    leading = [
        each.mask
        for each in solving.values.names.of(progress.shape.languages)
        if any(True for _ in solving.other_options(progress, each, None))
    ]
    assert leading == [(False,)]


CANDIDATES: list[tuple[list[str], list[str], bool, bool]] = [
    # values it must not equal, values it may equal, whether it must, whether it can be completed
    ([], [], False, True),
    (['{"a":1}', '{"a":2}'], [], False, True),
    (["{}", '{"a":1}', '{"a":2}'], [], False, False),
    ([], ['{"a":1}'], True, True),
    ([], ['{"a":3}'], True, False),
    (['{"a":1}'], ['{"a":2}'], True, True),
]


@pytest.mark.parametrize(("excluded", "allowed", "must", "completes"), CANDIDATES)
def test_candidates(excluded: list[str], allowed: list[str], must: bool, completes: bool) -> None:
    schema = {"properties": {"a": {"enum": [1, 2]}}, "additionalProperties": False}
    candidates = equality_candidates(excluded, allowed, "{")
    progress = replace(object_(schema), candidates=candidates, must_equal_one=must)
    assert solver().can_complete(progress) is completes
