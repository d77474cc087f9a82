"""Random schemas of the supported keywords, deep enough that keywords meet."""

from __future__ import annotations

from random import Random
from typing import Any

NAMES = ("a", "b", "c")
_SCALARS: tuple[Any, ...] = (1, 2, "a", None, True)


def schema(random: Random, depth: int = 3) -> Any:
    """A schema document, with two definitions that it may refer to."""
    root = _schema(random, depth)
    if not isinstance(root, dict) or "#/$defs/" not in repr(root):
        return root
    # Containers, so that no definition is nothing but a way back to itself.
    return {**root, "$defs": {"x": _array(random, depth - 1), "y": _object(random, depth - 1)}}


def _schema(random: Random, depth: int) -> Any:
    if depth <= 0:
        return random.choice(
            [{}, True, *({"const": value} for value in _SCALARS), {"type": "integer"}]
        )
    kinds = [_array, _object, _object, _any_of, _all_of, _enum, _bounds, _string, _reference]
    return random.choice(kinds)(random, depth)


def _array(random: Random, depth: int) -> Any:
    found: dict[str, Any] = {"type": "array"}
    if random.random() < 0.7:
        found["items"] = _schema(random, depth - 1)
    if random.random() < 0.3:
        found["prefixItems"] = [_schema(random, depth - 1) for _ in range(random.randint(1, 2))]
    if random.random() < 0.3:
        found["minItems"] = random.randint(0, 2)
    if random.random() < 0.4:
        found["maxItems"] = random.randint(0, 3)
    return _sometimes_without_type(random, found)


def _object(random: Random, depth: int) -> Any:
    names = random.sample(NAMES, random.randint(0, 3))
    found: dict[str, Any] = {
        "type": "object",
        "properties": {name: _schema(random, depth - 1) for name in names},
        "additionalProperties": random.choice([False, False, False, {"const": 1}]),
    }
    if random.random() < 0.5:
        found["required"] = random.sample(NAMES, random.randint(0, 2))
    return _sometimes_without_type(random, found)


def _any_of(random: Random, depth: int) -> Any:
    options = [_schema(random, depth - 1) for _ in range(random.randint(2, 3))]
    return {**_siblings(random, depth), "anyOf": options}


def _all_of(random: Random, depth: int) -> Any:
    return {**_siblings(random, depth), "allOf": [_schema(random, depth - 1) for _ in range(2)]}


def _siblings(random: Random, depth: int) -> Any:
    if random.random() < 0.6:
        return {}
    return random.choice([_array, _object, _bounds, _string])(random, depth - 1)


def _enum(random: Random, depth: int) -> Any:
    values = [*_SCALARS, [], [1], {"a": 1}, {}, 1.5, "ab"]
    return {"enum": random.sample(values, random.randint(1, 4))}


def _bounds(random: Random, depth: int) -> Any:
    found: dict[str, Any] = {"type": random.choice(["integer", "number"])}
    for keyword in random.sample(["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"], 2):
        found[keyword] = random.choice([0, 1, 2, 1.5, -1])
    return _sometimes_without_type(random, found)


def _string(random: Random, depth: int) -> Any:
    options = [{"minLength": 1}, {"maxLength": 1}, {"pattern": "a"}, {"pattern": "^a?b*$"}]
    found = {"type": "string", **random.choice(options), **random.choice(options)}
    return _sometimes_without_type(random, found)


def _reference(random: Random, depth: int) -> Any:
    return {"$ref": random.choice(["#/$defs/x", "#/$defs/y"])}


def _sometimes_without_type(random: Random, found: dict[str, Any]) -> dict[str, Any]:
    if random.random() < 0.2:
        del found["type"]
    return found


def combined(random: Random, depth: int = 2) -> Any:
    """A schema of the keywords that combine other schemas, or see a container as a whole."""
    if depth <= 0 or random.random() < 0.2:
        return _unreferring(_schema(random, 1))

    def part() -> Any:
        return _unreferring(combined(random, depth - 1))

    name = random.choice(NAMES)
    options: list[dict[str, Any]] = [
        {"oneOf": [part(), part()]},
        {"not": part()},
        {"allOf": [part(), part(), {"not": part()}]},
        {"if": part(), "then": part(), "else": part()},
        {"type": "object", "patternProperties": {"[ab]": part(), "[bc]": part()}},
        {"type": "object", "propertyNames": {"pattern": "^[ab]"}, "maxProperties": 2},
        {"dependentRequired": {name: [random.choice(NAMES)]}, "minProperties": 1},
        {"dependentSchemas": {name: part()}},
        {"type": "array", "contains": part(), "maxContains": random.randint(1, 2)},
        {"type": "array", "contains": part(), "maxItems": 2},
        {"properties": {name: part()}, "anyOf": [part(), True], "unevaluatedProperties": part()},
        {"prefixItems": [part()], "unevaluatedItems": part(), "type": "array"},
        {"type": ["integer", "null"], "multipleOf": 2},
    ]
    return random.choice(options)


def _unreferring(drawn: Any) -> Any:
    return True if "$ref" in repr(drawn) else drawn
