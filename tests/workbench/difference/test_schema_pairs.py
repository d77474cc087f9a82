"""Schemas compared part by part: shipped ones with each change of a keyword, and random ones."""

from __future__ import annotations

import itertools
import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import maskwright
from maskwright.errors import UnsatisfiableSchemaError
from maskwright.mask import Grammar, compile_json_schema
from maskwright.mask.compile.constructs import SchemaConstructs
from maskwright.workbench.difference.compared import Comparison, compare
from maskwright.workbench.difference.schema_pairs import SchemaPairs
from maskwright.workbench.reading import byte_vocabulary
from tests.bounds import PATIENCE
from tests.workbench.difference.changes import changes

SCHEMAS = Path(maskwright.__file__).parent / "schemas"
NAMES = sorted(file.stem for file in SCHEMAS.glob("*.json"))
CHECKER = jsonschema.Draft202012Validator.FORMAT_CHECKER


def shipped(name: str) -> dict[str, Any]:
    return json.loads((SCHEMAS / f"{name}.json").read_text())


def compiled(schema: Any, order: Any = "schema") -> Grammar:
    return compile_json_schema(schema, byte_vocabulary(), property_order=order)


def decide(what: str, schema: Any, changed: Any, order: Any) -> Comparison | None:
    """Compare two schemas; None if the second has no instances."""
    try:
        second = compiled(changed, order)
    except UnsatisfiableSchemaError:
        return None
    # The bound is one of the clock: other work on the machine must not decide.
    found = compare(compiled(schema, order), second, seconds=PATIENCE)
    assert found.equal is not None
    check_text(what, found.only_first, schema, changed)
    check_text(what, found.only_second, changed, schema)
    return found


def check_text(what: str, text: bytes | None, accepting: Any, refusing: Any) -> None:
    if text is None:
        return
    value = json.loads(text.replace(b'"0000-', b'"2000-'))  # Python knows no year 0
    errors = [
        [*jsonschema.Draft202012Validator(each, format_checker=CHECKER).iter_errors(value)]
        for each in (accepting, refusing)
    ]
    assert errors[0] == []
    formats = re.findall('"format": "([^"]+)"', json.dumps([accepting, refusing]))
    assert errors[1] or not CHECKER.checkers.keys() >= {*formats}, what


@pytest.mark.parametrize("name", NAMES)
def test_some_changes_of_a_shipped_schema_are_decided(name: str) -> None:
    """In the order of the schema, and in any, which is the command's."""
    made = [*changes(shipped(name))]
    sample = random.Random(name).sample(made, 4)
    for (what, changed), order in zip(sample, ("schema", "any") * 2, strict=True):
        assert decide(what, shipped(name), changed, order) is not None or "properties" in what


@pytest.mark.slow
@pytest.mark.parametrize(("name", "order"), [*itertools.product(NAMES, ("schema", "any"))])
def test_each_change_of_a_shipped_schema_is_decided(name: str, order: str) -> None:
    took: list[float] = []
    for what, changed in changes(shipped(name)):
        begin = time.process_time()
        decide(what, shipped(name), changed, order)
        took.append(time.process_time() - begin)
    assert sorted(took)[len(took) // 2] < 1
    assert max(took) < 20


@pytest.mark.parametrize(
    ("pointer", "keyword", "equal"),
    [
        (("properties", "number"), {"maxLength": 41}, False),
        (("$defs", "money"), {"minimum": -1000000001}, False),
        (("$defs", "money"), {"type": ["number", "integer"]}, True),
        (("properties", "lines"), {"title": "Lines"}, True),
        (("properties", "lines"), {"uniqueItems": False}, True),
        ((), {"minProperties": 7}, True),
    ],
)
def test_no_walk_is_needed_for_an_invoice(
    pointer: tuple[str, ...], keyword: dict[str, Any], equal: bool
) -> None:
    changed = at = shipped("invoice")
    for step in pointer:
        at = at[step]
    at.update(keyword)
    found = compare(compiled(shipped("invoice")), compiled(changed), most_pairs=1)
    assert (found.equal, found.pairs) == (equal, 0)


LEAVES: list[Any] = [
    *(True, False, {"type": "null"}, {"enum": [1, "a"]}, {"const": "a"}, {"const": {"a": 1}}),
    *({"type": "integer", "minimum": 1}, {"type": "number"}, {"maxLength": 1, "type": "string"}),
    *({"type": "string", "pattern": "^a$"}, {"type": ["integer", "string"]}),
]
FEW_LEAVES: list[Any] = [{}, {"type": "integer"}, {"type": ["integer", "object"]}, {"const": "a"}]
SCALARS: list[Any] = [None, 0, 1, 1.5, "", "a", "ab", [], [1], {}]
OBJECTS: list[Any] = [
    *({"a": value} for value in SCALARS),
    *({"b": "a"}, {"c": 1}, {"a": 1, "b": "a"}, {"b": "a", "a": 1}),
    *({"a": 1, "c": 1}, {"c": 1, "a": 1}, {"c": 1, "b": "a"}, {"b": "a", "c": 1}),
    *({"a": "a", "b": "a", "c": 1}, {"c": "a", "a": 0, "b": 1}),
]
ARRAYS: list[Any] = [[1, 1], ["a", 1], [1, "a"], ["a", "a"], [1, "a", 1], [1, 1, 1], [1, {}, 1]]
VALUES: list[Any] = [*SCALARS, *ARRAYS, *OBJECTS, *([value] for value in OBJECTS)]


def random_schema(draw: random.Random, depth: int) -> Any:
    """A small schema; many are equal to each other."""
    kind = draw.choice(["leaf", "object", "object", "array", "union", "same"]) if depth else "leaf"
    inner = [random_schema(draw, depth - 1) for _ in range(3)] if depth else []
    if kind == "leaf":
        return draw.choice(LEAVES)
    if kind == "same":
        return {"title": "", "allOf": inner[:1]}
    if kind == "union":
        return {draw.choice(["anyOf", "oneOf", "allOf"]): inner[:2]}
    if kind == "array":
        extra = draw.choice([{}, {"minItems": 1}, {"maxItems": 1}, {"uniqueItems": True}])
        return {"type": "array", "items": inner[0], **extra, **draw.choice([{}, {"contains": {}}])}
    names = draw.sample("abc", draw.randrange(3))
    return {
        "type": "object",
        "properties": dict(zip(names, inner, strict=False)),
        "required": draw.sample("ab", draw.randrange(2)),
        "additionalProperties": draw.choice([True, False, inner[2]]),
        **draw.choice([{}, {"maxProperties": 1}, {"dependentRequired": {"a": ["b"]}}]),
    }


def changed_schema(draw: random.Random) -> tuple[Any, Any]:
    """A schema, and one that differs from it in some place, or in none."""
    seed, depth = draw.random(), draw.randrange(1, 3)
    first = random_schema(random.Random(seed), depth)
    if not isinstance(first, dict) or draw.random() < 0.3:
        return first, random_schema(draw, depth)
    made = [*changes(first)] if draw.random() < 0.8 else []
    return first, draw.choice(made)[1] if made else {**first, "title": "other"}


def array_demands(draw: random.Random) -> list[dict[str, Any]]:
    """Schemas that ask for something somewhere in an array."""
    leaf, other = draw.choice(FEW_LEAVES), draw.choice(FEW_LEAVES)
    bounds = draw.sample(["minContains", "maxContains"], draw.randrange(3))
    contains = {"contains": leaf, **{bound: draw.randrange(3) for bound in bounds}}
    before = [{"prefixItems": [{}]}, {}]
    return [
        *(contains, contains, {"allOf": [contains, {"contains": other}]}),
        {"not": {"type": "array", **draw.choice(before), "items": leaf}},
        draw.choice([{"uniqueItems": True}, {"not": {"type": "array", "uniqueItems": True}}]),
    ]


def object_demands(draw: random.Random) -> list[dict[str, Any]]:
    """Schemas that ask for something somewhere in an object."""
    leaf, other = draw.choice(FEW_LEAVES), draw.choice(FEW_LEAVES)
    names = draw.sample("abc", 2)
    return [
        {"dependentRequired": {names[0]: names[1:]}},
        {"anyOf": [{"required": [name]} for name in names]},
        {"not": {"type": "object", "required": names}},
        {"not": {"type": "object", "properties": {names[0]: leaf, names[1]: other}}},
        {"not": {"type": "object", "patternProperties": {draw.choice(["[ac]", "b"]): leaf}}},
        {"not": {"type": "object", "propertyNames": {"pattern": names[0]}}},
    ]


def demanding_schemas(draw: random.Random) -> tuple[Any, Any]:
    """Two schemas that ask for things of one kind in an array or in an object."""
    kind, made = draw.choice([("array", array_demands), ("object", object_demands)])
    base = draw.choice([{}, {"items": draw.choice(LEAVES)}, {"maxItems": 2}, {"minItems": 1}])
    names = [draw.choice(["", "ab", "abc"])] * 2
    if draw.random() < 0.3:
        names[0] = "ba"
    count = len(made(draw))
    places = draw.sample(range(count), draw.randrange(1, 3))
    pair: list[list[dict[str, Any]]] = []
    for each in names:
        declared = {"properties": {name: {} for name in each}}
        asked = [made(draw)[at] for at in places if draw.random() < 0.9]
        pair.append([{"type": kind, **base, **declared}, *asked])
    if draw.random() < 0.3:
        pair[0] += pair[1]
    return {"allOf": pair[0]}, {"allOf": pair[1]}


INTEGER: Any = {"type": "integer"}
NULL: Any = {"type": "null"}


@pytest.mark.parametrize(
    ("kind", "first", "second", "without"),
    [
        ("array", {"contains": INTEGER}, {}, {0}),
        ("array", {"contains": INTEGER, "minContains": 2}, {"contains": INTEGER}, {0}),
        ("array", {"contains": INTEGER, "maxContains": 2}, {"contains": INTEGER}, {0}),
        (
            *("array", {"contains": INTEGER, "maxContains": 2}),
            *({"contains": INTEGER, "maxContains": 3}, {0}),
        ),
        (
            *("array", {"contains": INTEGER, "maxContains": 1}),
            *({"contains": INTEGER, "minContains": 2}, set()),
        ),
        ("array", {"allOf": [{"contains": INTEGER}, {"contains": {}}]}, {"contains": {}}, {0}),
        ("array", {"contains": INTEGER}, {"contains": NULL}, set()),
        ("array", {"not": {"uniqueItems": True}}, {}, {0}),
        ("array", {"not": {"uniqueItems": True}}, {"not": {"uniqueItems": True}}, {0, 1}),
        ("array", {"not": {"uniqueItems": True}}, {"uniqueItems": True, "minItems": 2}, set()),
        ("array", {"uniqueItems": True, "contains": INTEGER}, {"contains": INTEGER}, {0}),
        (
            *("array", {"not": {"prefixItems": [{}], "items": INTEGER}}),
            *({"not": {"items": NULL}}, set()),
        ),
        ("object", {"dependentRequired": {"a": ["b"]}}, {}, {0}),
        (
            *("object", {"properties": {"c": {}}, "dependentRequired": {"a": ["b"]}}),
            *({"dependentRequired": {"a": ["b"]}}, {0, 1}),
        ),
        (
            *("object", {"dependentRequired": {"a": ["b"], "b": ["a"]}}),
            *({"dependentRequired": {"b": ["a"]}}, {0}),
        ),
        (
            *("object", {"dependentRequired": {"a": ["b"]}}),
            *({"dependentRequired": {"c": ["b"]}}, set()),
        ),
        (
            *("object", {"dependentRequired": {"a": ["b"]}}),
            *({"dependentRequired": {"a": ["c"]}}, set()),
        ),
        ("object", {"not": {"properties": {"a": INTEGER}}}, {}, {0}),
        (
            *("object", {"not": {"properties": {"a": INTEGER, "b": INTEGER}}}),
            *({"not": {"properties": {"a": INTEGER, "b": NULL}}}, set()),
        ),
        (
            *("object", {"not": {"propertyNames": {"pattern": "a"}}}),
            *({"not": {"propertyNames": {"pattern": "b"}}}, set()),
        ),
        (
            *("object", {"maxProperties": 3, "not": {"propertyNames": {"pattern": "a"}}}),
            *({"not": {"propertyNames": {"pattern": "a"}}}, {0}),
        ),
        (
            *("object", {"not": {"patternProperties": {"a": INTEGER}}}),
            *({"not": {"patternProperties": {"b": INTEGER}}}, set()),
        ),
        (
            *("object", {"not": {"patternProperties": {"a": INTEGER}}}),
            *({"not": {"patternProperties": {"a": NULL}}}, set()),
        ),
    ],
)
def test_a_demand_takes_texts_from_its_own_side_alone(
    kind: str, first: Any, second: Any, without: set[int]
) -> None:
    grammars = [compiled({"type": kind, **each}, "any") for each in (first, second)]
    found = compare(*grammars, most_pairs=1)
    assert sides_without(found, grammars) == without
    assert {side for side in (0, 1) if (found.only_first, found.only_second)[side]} <= (
        {0, 1} - without
    )
    grammars.reverse()
    assert sides_without(compare(*grammars, most_pairs=1), grammars) == {1 - at for at in without}


def check_random(
    seeds: range, make: Callable[[random.Random], tuple[Any, Any]] = changed_schema
) -> list[int]:
    """Compare random schemas without a walk; every answer has to agree with texts read by both.
    Returns how many were equal, how many different, and of how many sides it was known that they
    have no text of their own."""
    counts = [0, 0, 0]
    for seed, order in itertools.product(seeds, ("schema", "any")):
        pair = make(random.Random(seed))
        try:
            grammars = [compiled(each, order) for each in pair]
        except UnsatisfiableSchemaError:
            continue
        found = compare(grammars[0], grammars[1], most_pairs=1)
        if found.decided:
            counts[found.equal is False] += 1
        without = sides_without(found, grammars)
        counts[2] += len(without)
        for text in (json.dumps(value).encode() for value in VALUES if without):
            accepting = [accepts(each, text) for each in grammars]
            for side in without:
                assert accepting[1 - side] >= accepting[side], (seed, order, pair, text)
    return counts


def sides_without(found: Comparison, grammars: list[Grammar]) -> set[int]:
    """The sides of which it is known that they have no text of their own, whatever is known of the
    other side."""
    constructs = [each.recognizer.constructs for each in grammars]
    pairs = SchemaPairs(*(each for each in constructs if isinstance(each, SchemaConstructs)))
    assert len([*pairs.texts()]) < 1000
    sides = (found.only_first, found.only_second)
    return {side for side in (0, 1) if pairs.has_none(side)} | {
        side for side in (0, 1) if found.decided and sides[side] is None
    }


def accepts(grammar: Grammar, text: bytes) -> bool:
    matcher = grammar.matcher()
    return matcher.accept_bytes(text) == len(text) and matcher.accepting


def test_random_schemas() -> None:
    equal, different, _ = check_random(range(20))
    assert equal > 5
    assert different > 10


def test_random_demands() -> None:
    _, different, without = check_random(range(60), demanding_schemas)
    assert different > 20
    assert without > 10


@pytest.mark.slow
@pytest.mark.parametrize("begin", [*range(1000, 6000, 1000)])
@pytest.mark.parametrize("make", [changed_schema, demanding_schemas])
def test_many_random_schemas(make: Callable[[random.Random], tuple[Any, Any]], begin: int) -> None:
    check_random(range(begin, begin + 1000), make)
