"""Objects that are closed although their schema doesn't say so: which names they may have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, combinations, product
from random import Random
from typing import Any, NamedTuple

import jsonschema
import pytest

from maskwright import Grammar, compile_json_schema
from maskwright.errors import UnsatisfiableSchemaError
from tests.matching import EVERY_BYTE, matches, shortest_ending

A: dict[str, Any] = {"properties": {"a": {"type": "integer"}}}
B: dict[str, Any] = {"properties": {"b": {"type": "integer"}}}
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"value": {}, "kids": {"type": "array", "items": {"$ref": "#"}}},
}
NESTED = {"properties": {"p": {**A, "minProperties": 2}}, "required": ["p"]}
STRANGE = {"type": "object", "minProperties": 1, "propertyNames": {"minLength": 2}}
WITH_A, WITH_B = {**A, "required": ["a"]}, {**B, "required": ["b"]}
DOG = {"properties": {"kind": {"const": "dog"}, "bark": {}}, "required": ["kind"]}
CAT = {"properties": {"kind": {"const": "cat"}, "meow": {}}, "required": ["kind"]}

CASES: list[tuple[Any, list[Any], list[Any]]] = [
    # The schema, instances that stay, instances that are left out.
    (A, [{}, {"a": 1}, 5], [{"x": 1}, {"a": 1, "x": 1}]),
    ({"properties": {}}, [{}], [{"x": 1}]),
    ({"type": "object"}, [{}, {"x": 1}], []),
    ({**A, "additionalProperties": True}, [{"x": 1}], []),
    ({**A, "additionalProperties": {"type": "null"}}, [{"x": None}], []),
    ({**A, "additionalProperties": False}, [{"a": 1}], []),
    ({**A, "unevaluatedProperties": True}, [{"x": 1}], []),
    ({**A, "unevaluatedProperties": {"type": "null"}}, [{"x": None}], []),
    ({**A, "unevaluatedProperties": False, "allOf": [B]}, [{"a": 1, "b": 2}], []),
    ({**A, "patternProperties": {"^x": {"type": "null"}}}, [{"x1": None}], [{"y": 1}]),
    ({"patternProperties": {"^x": {"type": "null"}}}, [{"y": 1}], []),
    ({**A, "required": ["b"]}, [{"b": 1}], [{"b": 1, "c": 1}]),
    # What applies to one value lists together.
    ({"allOf": [A, B]}, [{"a": 1, "b": 1}], [{"a": 1, "x": 1}]),
    ({**A, "allOf": [{"$ref": "#/$defs/b"}], "$defs": {"b": B}}, [{"a": 1, "b": 1}], [{"x": 1}]),
    ({"allOf": [A, {**B, "additionalProperties": True}]}, [{"a": 1, "x": 1}], []),
    (
        {"properties": {"p": A}, "allOf": [{"properties": {"p": B}}]},
        [{"p": {"a": 1, "b": 2}}],
        [{"p": {"c": 1}}],
    ),
    # One option of each union.
    ({**A, "anyOf": [B, {"required": ["a"]}]}, [{"a": 1, "b": 1}, {"a": 1}, {"b": 1}], [{"c": 1}]),
    ({"oneOf": [DOG, CAT]}, [{"kind": "dog", "bark": 1}], [{"kind": "dog", "meow": 1}]),
    ({"anyOf": [A, {"type": "object", "required": ["x"]}]}, [{"x": 1, "y": 2}], [{"y": 1}]),
    ({"anyOf": [{"type": "null"}, A]}, [None, {"a": 1}], [{"x": 1}]),
    (
        {**A, "if": {"required": ["a"]}, "then": B, "else": {"required": ["c"]}},
        [{"a": 1, "b": 1}, {"c": 1}],
        [{"a": 1, "c": 1}, {"c": 1, "d": 1}],
    ),
    ({"type": "object", "if": A, "then": {"required": ["b"]}}, [{"a": 1, "b": 1, "c": 1}], []),
    ({**A, "dependentSchemas": {"a": B}}, [{"a": 1, "b": 1}], [{"b": 1}]),
    ({**A, "dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 1}, {}], [{"c": 1}]),
    # What a negation asks for is listed, too.
    ({**A, "not": {"properties": {"b": {"type": "string"}}}}, [{"b": 1}], [{"b": 1, "c": 1}]),
    ({"oneOf": [WITH_A, WITH_B]}, [{"a": 1}], [{"a": 1, "b": ""}]),
    # So it is where a required member meets the negation anyway.
    (
        {**CAT, "not": {**DOG, "patternProperties": {"^x": {"const": 2}}}},
        [{"kind": "cat"}, {"kind": "cat", "x1": 1}, {"kind": "cat", "x1": 2}],
        [{"kind": "cat", "y": 1}],
    ),
    # Too few names would be left.
    ({**A, "minProperties": 2}, [{"a": 1, "x": 1}], []),
    ({"properties": {"a": False}, "minProperties": 1}, [{"x": 1}], []),
    ({**A, "minProperties": 1}, [{"a": 1}], [{"x": 1}]),
    ({**A, "propertyNames": {"minLength": 2}, "minProperties": 1}, [{"xy": 1}], []),
    ({**A, "patternProperties": {"^x": {}}, "minProperties": 2}, [{"x": 1, "y": 1}], []),
    (NESTED, [{"p": {"x": 1, "y": 1}}], [{"p": {"x": 1, "y": 1}, "q": 1}]),
    ({"allOf": [A, STRANGE]}, [{"xy": 1}], []),
    (TREE, [{"value": 1, "kids": [{"value": {"x": 1}}]}], [{"kids": [{"x": 1}]}]),
    ({"items": A}, [[{"a": 1}], 5], [[{"x": 1}]]),
    ({"contains": A, "type": "array"}, [[{"x": 1}]], []),
]  # fmt: skip


def closed(schema: Any) -> Grammar:
    return compile_json_schema(
        schema, EVERY_BYTE, property_order="any", additional_properties="forbid"
    )


@pytest.mark.parametrize(("schema", "stay", "left_out"), CASES)
def test_which_members_closed_objects_have(
    schema: Any, stay: list[Any], left_out: list[Any]
) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    forbidding = closed(schema)
    allowing = compile_json_schema(schema, EVERY_BYTE, property_order="any")
    for value in stay:
        assert validator.is_valid(value)
        assert matches(forbidding, json.dumps(value)), value
    for value in left_out:
        assert matches(allowing, json.dumps(value)), value
        assert not matches(forbidding, json.dumps(value)), value


# Against the rule read naively --------------------------------------------------------------------

NAMES = ("a", "b", "c", "x")
VALUES = (1, "s")


class Said(NamedTuple):
    """What the schemas say that apply in one alternative."""

    listed: frozenset[str] = frozenset()
    closes: bool = False
    opens: bool = False

    def joined(self, other: Said) -> Said:
        return Said(
            self.listed | other.listed, self.closes or other.closes, self.opens or other.opens
        )


def is_valid(schema: Any, value: Any) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def alternatives(schema: Any, value: Any) -> Iterator[Said]:
    """What is said of an object by each way to choose options that it satisfies."""
    if isinstance(schema, bool):
        yield Said()
        return
    own = Said(
        frozenset((*schema.get("properties", ()), *schema.get("required", ()))),
        "properties" in schema and "additionalProperties" not in schema,
        schema.get("additionalProperties", False) is not False,
    )
    parts = [[own], *(list(alternatives(part, value)) for part in schema.get("allOf", ()))]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            held = [option for option in schema[union] if is_valid(option, value)]
            parts.append([said for option in held for said in alternatives(option, value)])
    if "if" in schema:
        holds = is_valid(schema["if"], value)
        named = [
            said._replace(closes=False, opens=False) for said in alternatives(schema["if"], value)
        ]
        branch = list(alternatives(schema.get("then" if holds else "else", True), value))
        parts += [named, branch] if holds else [branch]
    for chosen in product(*parts):
        said = Said()
        for each in chosen:
            said = said.joined(each)
        yield said


def stays(schema: Any, value: dict[str, Any]) -> bool:
    return any(
        said.opens or not said.closes or said.listed.issuperset(value)
        for said in alternatives(schema, value)
    )


def drawn(random: Random, depth: int) -> dict[str, Any]:
    """An object schema of the keywords that `alternatives` knows."""
    found: dict[str, Any] = {}
    if random.random() < 0.7:
        names = random.sample(NAMES[:3], random.randint(0, 2))
        kinds = ({}, {"type": "integer"}, {"type": "string"})
        found["properties"] = {name: random.choice(kinds) for name in names}
    if random.random() < 0.3:
        found["required"] = random.sample(NAMES[:3], 1)
    if random.random() < 0.15:
        found["additionalProperties"] = random.choice((True, False, {"type": "integer"}))
    if depth:
        keyword = random.choice(("", "allOf", "anyOf", "oneOf", "if"))
        if keyword == "if":
            found["if"] = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
            found[random.choice(("then", "else"))] = drawn(random, depth - 1)
        elif keyword:
            found[keyword] = [drawn(random, depth - 1) for _ in range(2)]
    return found


OBJECTS = [
    dict(zip(names, values, strict=True))
    for names in chain.from_iterable(combinations(NAMES, count) for count in range(4))
    for values in product(VALUES, repeat=len(names))
]


@pytest.mark.parametrize("seed", range(150))
def test_closed_objects_are_those_of_the_rule(seed: int) -> None:
    schema = {"type": "object", **drawn(Random(seed), 2)}
    valid = [value for value in OBJECTS if is_valid(schema, value)]
    try:
        grammar = compile_json_schema(
            schema, EVERY_BYTE, property_order="any", additional_properties="forbid"
        )
    except UnsatisfiableSchemaError:
        assert valid == []
        return
    accepted = [value for value in OBJECTS if matches(grammar, json.dumps(value))]
    assert [value for value in accepted if value not in valid] == []
    expected = [value for value in valid if stays(schema, value)]
    if "oneOf" in json.dumps(schema):  # whose negations may ask for further names
        assert [value for value in expected if value not in accepted] == []
    else:
        assert accepted == expected


KEYWORDS: tuple[dict[str, Any], ...] = (
    {"minProperties": 1},
    {"minProperties": 2},
    {"maxProperties": 1},
    {"patternProperties": {"^b": {"type": "integer"}}},
    {"propertyNames": {"enum": ["a", "b", "x"]}},
    {"dependentRequired": {"a": ["b"]}},
    {"dependentSchemas": {"a": {"properties": {"b": {"type": "string"}}}}},
    {"unevaluatedProperties": False},
    {"unevaluatedProperties": {"type": "string"}},
    {"not": {"required": ["a"]}},
    {"not": {"properties": {"c": {"type": "string"}}}},
    {"not": {"additionalProperties": False, "properties": {"a": {}}}},
)


@pytest.mark.parametrize("seed", range(150))
def test_what_is_closed_is_valid_and_possible(seed: int) -> None:
    """With every keyword: what stays is valid, and something stays if anything is valid."""
    random = Random(seed)
    schema = {"type": "object", **drawn(random, 1), **random.choice(KEYWORDS)}
    if random.random() < 0.5:
        schema |= random.choice(KEYWORDS)
    valid = [value for value in OBJECTS if is_valid(schema, value)]
    try:
        grammar = compile_json_schema(
            schema, EVERY_BYTE, property_order="any", additional_properties="forbid"
        )
    except UnsatisfiableSchemaError:
        assert valid == []
        return
    accepted = [value for value in OBJECTS if matches(grammar, json.dumps(value))]
    assert [value for value in accepted if value not in valid] == []
    assert is_valid(schema, json.loads(shortest_ending(grammar.matcher())))
