"""Objects whose names are decided on by patterns and other names: masks against brute force."""

from __future__ import annotations

from itertools import permutations, product
from random import Random
from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.errors import UnsatisfiableSchemaError
from tests.matching import vocabulary
from tests.properties.exactness import check_exact
from tests.properties.judge import Judge
from tests.properties.test_liveness import check_walks
from tests.walks.samples import sampled

TOKENS = ('{"', '":', '":1', ',"', '"s"', '":"s"', "1,", '1,"x', "xa", "xy", '"":', "}")
SMALL = vocabulary(*TOKENS, alphabet='{}",:01abcsxynule.-\\')
SPACED = vocabulary(*TOKENS, ", ", ': "', alphabet=' {}",:01abcsxynule.-\\')
NAMES = ("", "a", "b", "x", "xa", "xy")
VALUES = ("1", '"s"')
PATTERNS = ("^x", "a$", "^[ab]?$", "y", "^x.*y$", "^(a|b|x)$", "^$", "^.{2}$", ".", "^[^a]*$")
SUBSCHEMAS = (True, False, {"type": "integer"}, {"type": "string"}, {"type": "null"}, {"enum": [1]})
CASES = 300


def drawn(random: Random) -> dict[str, Any]:
    """A schema of objects: each keyword that decides which names may come, by chance."""

    def some(names: tuple[str, ...]) -> dict[str, Any]:
        chosen = random.sample(names, random.randint(1, 3))
        return {name: random.choice(SUBSCHEMAS) for name in chosen}

    keywords: dict[str, tuple[float, Any]] = {
        "properties": (0.7, some(NAMES)),
        "patternProperties": (0.8, some(PATTERNS)),
        "additionalProperties": (0.6, random.choice((*SUBSCHEMAS, False, False))),
        "required": (0.4, random.sample(NAMES, random.randint(1, 2))),
        "minProperties": (0.3, random.randint(1, 3)),
        "maxProperties": (0.3, random.randint(1, 3)),
        "propertyNames": (0.25, {"pattern": random.choice(PATTERNS)}),
        "not": (0.15, {"required": [random.choice(NAMES)]}),
        "dependentRequired": (0.15, {random.choice(NAMES): [random.choice(NAMES)]}),
        "if": (0.1, {"required": [random.choice(NAMES)]}),
        "then": (0.1, {"patternProperties": some(PATTERNS)}),
    }
    kept = {name: value for name, (odds, value) in keywords.items() if random.random() < odds}
    return {"type": "object", **kept}


# Objects that can't be completed, or not in every way, without the empty name.
EMPTY_NAME: dict[str, dict[str, Any]] = {
    "alone": {
        "properties": {"xa": {"enum": [1, "s"]}},
        "patternProperties": {"^$": {"enum": [1, "s"]}},
        "required": ["xa"],
    },
    "first": {"patternProperties": {"^$": {"enum": [1]}}, "minProperties": 1},
    "counted": {"patternProperties": {"^[ab]?$": {"enum": [1, "s"]}}, "minProperties": 3},
    "of-two-classes": {
        "patternProperties": {"^[ab]?$": {"enum": [1]}, "^x?$": {"enum": [1, "s"]}},
        "minProperties": 3,
    },
}


def objects() -> list[bytes]:
    """The objects of at most three members, in every order."""
    found: list[bytes] = []
    for count in range(4):
        for names, values in product(permutations(NAMES, count), product(VALUES, repeat=count)):
            members = (f'"{name}":{value}' for name, value in zip(names, values, strict=True))
            found.append(f"{{{','.join(members)}}}".encode())
    return found


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("seed", sampled(range(CASES), 14))
def test_masks_of_objects_whose_names_are_decided_on(seed: int, order: Any) -> None:
    schema = drawn(Random(seed))
    judge = Judge(schema, order)
    right = [text for text in objects() if judge(text)]
    try:
        grammar = compile_json_schema(schema, SMALL, property_order=order, whitespace="compact")
    except UnsatisfiableSchemaError:
        assert right == []
        return
    check_exact(grammar, right, judge, seed=seed)
    check_all_walks(schema, order, seed)


def check_all_walks(schema: dict[str, Any], order: Any, seed: int) -> None:
    for whitespace, vocab in (("compact", SMALL), ("spaced", SPACED)):
        options = {"property_order": order, "whitespace": whitespace}
        check_walks(schema, vocab, Random(seed), 3, **options)


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("name", EMPTY_NAME)
def test_completions_that_need_the_empty_name(name: str, order: Any) -> None:
    schema = {"type": "object", "additionalProperties": False, **EMPTY_NAME[name]}
    check_all_walks(schema, order, 0)
    judge = Judge(schema, order)
    right = [text for text in objects() if judge(text)]
    assert any(b'"":' in text for text in right)
    grammar = compile_json_schema(schema, SMALL, property_order=order, whitespace="compact")
    check_exact(grammar, right, judge, seed=0)
