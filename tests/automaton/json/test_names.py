"""Reading names for any threads: which names each allows, and where they lead."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import fields, replace

from maskwright import compile_json_schema
from maskwright.automaton.json.names import NameReader, OpenNamesFinder, PlainShapes
from maskwright.automaton.json.remembered_names import RememberedNames
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.limits import DEFAULT_LIMITS
from tests.automaton.solving import object_
from tests.matching import EVERY_BYTE, after

A_B: dict[str, Any] = {"properties": {"a": {}, "b": {}}, "additionalProperties": False}
ONLY_A: dict[str, Any] = {"properties": {"a": {}}, "additionalProperties": False}
SMALL_SET: dict[str, Any] = {"patternProperties": {"^[xy]$": {}}, "additionalProperties": False}


def reader(progresses: list[ObjectProgress], order: PropertyOrder = "any") -> NameReader:
    solving = Solver(order, DEFAULT_LIMITS)
    all_names = RememberedNames(solving.values.names, None)
    threads = tuple(Thread(tag, each) for tag, each in enumerate(progresses))
    finder = OpenNamesFinder(solving, PlainShapes(solving, all_names))
    return NameReader.of(threads, finder, all_names)


WORDS: list[tuple[list[dict[str, Any]], str, bool]] = [
    # schemas of the threads, the words that may come, whether other names may
    ([A_B], "ab", False),
    ([A_B, ONLY_A], "ab", False),
    ([ONLY_A, {}], "a", True),
    ([SMALL_SET], "xy", False),  # names that may run out are words
    ([{**A_B, "not": {"required": ["a", "b"]}}], "ab", False),
    ([{**A_B, "properties": {"a": {}, "b": False}}], "a", False),
]


@pytest.mark.parametrize(("schemas", "words", "others"), WORDS)
def test_words(schemas: list[dict[str, Any]], words: str, others: bool) -> None:
    found = reader([object_(each) for each in schemas])
    coming = {word for at, word in enumerate(found.words) if found.bits >> at & 1}
    assert coming == set(words)
    assert found.others is others


SOME_OTHERS: list[dict[str, Any]] = [
    {**A_B, "patternProperties": {"^x": {}}},
    {**A_B, "patternProperties": {"^x": {"type": "null"}, "y$": False}, "required": ["b"]},
    {**A_B, "patternProperties": {"^[ax]": {}}, "minProperties": 2, "maxProperties": 3},
    {"properties": {"a": {}, "b": {}}, "propertyNames": {"pattern": "^[a-f]+$"}},
]


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("schema", SOME_OTHERS)
def test_where_only_some_other_names_may_come_counting_finds_what_search_does(
    schema: dict[str, Any], order: PropertyOrder
) -> None:
    solving = Solver(order, DEFAULT_LIMITS)
    plain_shape = PlainShapes(solving, RememberedNames(solving.values.names, None))
    counted = OpenNamesFinder(solving, plain_shape)
    searched = OpenNamesFinder(solving, lambda _: None)
    progress = object_(schema)
    plain = plain_shape(progress.shape)
    assert plain is not None
    assert plain.some
    read = [progress, *(replace(progress, others=frozenset({each})) for each in ("x", "aa"))]
    read += [each.with_member(0, order) for each in read]
    read += [each.with_member(1, order) for each in read[:3]]
    for each in read:
        left, right = counted.of(each), searched.of(each)
        for field in fields(left):
            assert getattr(left, field.name) == getattr(right, field.name), field.name


def test_a_name_leads_only_the_threads_on_that_allow_it() -> None:
    found = reader([object_(A_B), object_(ONLY_A)])

    def tags(name: str) -> list[int]:
        label = (1 + found.words.index(name), 0)
        return [thread.tag for thread in found.threads(label, name)]

    assert tags("a") == [0, 1]
    assert tags("b") == [0]


def test_names_of_a_small_set_run_out() -> None:
    found = reader([replace(object_(SMALL_SET), others=frozenset("x"))])
    assert [word for at, word in enumerate(found.words) if found.bits >> at & 1] == ["y"]
    assert not found.is_other((1 + found.words.index("y"), 0))


TEXTS: list[tuple[dict[str, Any], PropertyOrder, list[str], list[str]]] = [
    # schema, order, beginnings that are allowed, and ones that are not
    (
        {"patternProperties": {"^x": {"type": "null"}, "y$": {"type": "integer"}},
         "additionalProperties": {"type": "string"}},
        "any",
        ['{"x":n', '{"ay":1', '{"a":"', '{"x":null,"x1":n'],
        ['{"x":1', '{"ay":n', '{"a":1', '{"xy":', '{"x":null,"x":'],
    ),
    (
        {"anyOf": [{**A_B, "required": ["b"]}, {**ONLY_A, "required": ["a"]}], "type": "object"},
        "schema",
        ['{"a":0}', '{"a":0,"b":0}', '{"b":0}'],
        ['{"b":0,"a"', '{"c"', "{}"],
    ),
    (
        {**SMALL_SET, "minProperties": 2, "type": "object"},
        "any",
        ['{"x":0,"y":0}', '{"y":0,"x":0}'],
        ['{"x":0,"x"', '{"x":0}', '{"z"', '{"x":0,"y":0,'],
    ),
    (
        {**A_B, "not": {"required": ["a", "b"]}, "type": "object"},
        "any",
        ['{"a":0}', '{"b":0}', "{}"],
        ['{"a":0,', '{"b":0,'],
    ),
    (
        {"propertyNames": {"enum": ["k", 'q"']}, "type": "object"},
        "any",
        ['{"k":0}', '{"q\\"":0,"k":0}', '{"\\u006b":0'],
        ['{"q"', '{"k":0,"k"', '{"kk'],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "order", "accepted", "rejected"), TEXTS)
def test_texts(
    schema: dict[str, Any], order: PropertyOrder, accepted: list[str], rejected: list[str]
) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, property_order=order, whitespace="compact")
    assert [text for text in accepted if after(grammar, text) is None] == []
    assert [text for text in rejected if after(grammar, text) is not None] == []


def test_threads_that_have_read_the_same_ask_once() -> None:
    """Options of a `oneOf` may make thousands of them."""
    found = reader([object_({**A_B, "not": {"required": ["a", "b"]}})] * 3)
    assert len({id(each.names) for each in found.readers}) == 1
    assert [thread.tag for thread in found.threads((1, 0), "a")] == [0, 1, 2]
