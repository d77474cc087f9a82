"""Items that must differ, where they are arrays and objects: masks against brute force."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations, product
from random import Random
from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.errors import UnsatisfiableSchemaError
from tests.matching import vocabulary
from tests.properties.exactness import check_exact
from tests.properties.judge import Judge, validator
from tests.properties.test_liveness import walk
from tests.walks.samples import sampled

TOKENS = ('{"a":', '":', ',"b":', "true", '{"', "},", "1,", '"b"', "1}", "[1", ',{"a":1', "}]")
SMALL = vocabulary(*TOKENS, alphabet='{}[]",:0123456789.-+eE\\truefalsnbxcdADF ')


def texts(value: Any, order: str) -> Iterator[str]:
    """The value without whitespace; for `order` "any" with its members in every order."""
    match value:
        case dict():
            members = list(value.items())
            for each in permutations(members) if order == "any" else [members]:
                for inner in product(*(list(texts(item, order)) for _, item in each)):
                    parts = (f"{json.dumps(n)}:{t}" for (n, _), t in zip(each, inner, strict=True))
                    yield "{" + ",".join(parts) + "}"
        case list():
            for inner in product(*(list(texts(each, order)) for each in value)):
                yield "[" + ",".join(inner) + "]"
        case _:
            yield json.dumps(value)


def arrays(items: list[str], most: int, random: Random) -> list[str]:
    """Arrays of up to `most` of these items, some of them by chance where there are many."""
    found = ["[]"]
    for size in range(1, most + 1):
        count = min(60, len(items) ** size)
        drawn = (
            product(items, repeat=size)
            if count == len(items) ** size
            else (random.choices(items, k=size) for _ in range(count))
        )
        found += ["[" + ",".join(each) + "]" for each in drawn]
    return found


A_B = {"a": {"enum": [1, 2]}, "b": {"type": "boolean"}}
BOTH = {"type": "object", "properties": A_B, "required": ["a", "b"], "additionalProperties": False}
SOME = {**BOTH, "required": ["a"]}
FREE = {"type": "object", "additionalProperties": {"enum": [1, 2]}, "maxProperties": 2}
WIDE = {"type": "object", "properties": {"a": {"enum": [1, 2]}, "b": {"type": "string"}}}
PAIRS = {"type": "array", "items": {"enum": [1, "x"]}, "maxItems": 2}
SETS = {"type": "array", "items": {"enum": [1, 2, "x"]}, "uniqueItems": True, "minItems": 2}
NESTED = {"type": "object", "properties": {"a": PAIRS}, "additionalProperties": False}
ONES = {"type": "array", "items": {"const": 1}, "maxItems": 2}
SOLE = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 1}, "maxItems": 2}
DEEP = {"type": "array", "items": SOME, "uniqueItems": True, "maxItems": 2}
WORDS = {"enum": ["b", "bx", "bxb", 'b"']}
OTHERS = {"enum": ["xb", "bx", "x"]}
MIXED = {"anyOf": [BOTH, {"enum": [1, [1], [1, 2], {"a": 1, "b": True}]}]}

VALUES: dict[str, list[Any]] = {
    "objects": [
        {}, {"a": 1}, {"b": 1}, {"a": 2}, {"a": 1, "b": True}, {"a": 1, "b": False},
        {"a": 2, "b": True}, {"a": 2, "b": False}, {"a": 1, "b": "x"}, {"a": 1, "b": "xb"},
        {"b": 2}, {"a": 1, "b": 2}, {"a": 2, "b": 2}, {"b": "b"},
    ],
    "arrays": [[], [1], ["x"], [1, "x"], [1, 1], ["x", 1], ["x", "x"], [1, 2], [2, "x"], [2, 1], 1],
    "nested": [{}, {"a": []}, {"a": [1]}, {"a": ["x", 1]}, {"a": [1, 1]}, {"a": [1, "x"]}],
    "deep": [
        [], [{"a": 1}], [{"a": 2}], [{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 1, "b": True}],
        [{"a": 2}, {"a": 1}], [{"a": 1, "b": True}],
    ],
    "words": ["b", "bx", "bxb", "x", "xb", "b\"", "bd", 1, None],
}  # fmt: skip
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "all of them": ({"items": BOTH, "minItems": 4}, "objects"),
    "most of them": ({"items": BOTH, "minItems": 3}, "objects"),
    "some optional": ({"items": SOME, "minItems": 5}, "objects"),
    "at most": ({"items": SOME, "maxItems": 3}, "objects"),
    "free names": ({"items": FREE, "minItems": 2}, "objects"),
    "strings within": ({"items": WIDE, "minItems": 2}, "objects"),
    "then a constant": (
        {"prefixItems": [SOME, SOME, {"const": {"a": 1}}], "items": False, "minItems": 3},
        "objects",
    ),
    "a constant behind strings": (
        {"prefixItems": [WIDE, WIDE], "items": {"const": {"a": 1, "b": "x"}}, "minItems": 3},
        "objects",
    ),
    "contained": (
        {"items": SOME, "contains": {"required": ["b"]}, "minContains": 3, "minItems": 5},
        "objects",
    ),
    "counted": (
        {"items": BOTH, "contains": {"properties": {"a": {"const": 1}}}, "maxContains": 1},
        "objects",
    ),
    "mixed": ({"items": MIXED, "minItems": 6}, "objects"),
    "pairs": ({"items": PAIRS, "minItems": 6}, "arrays"),
    "sets": ({"items": SETS, "minItems": 2}, "arrays"),
    "arrays in objects": ({"items": NESTED, "minItems": 6}, "nested"),
    "arrays of objects": ({"items": DEEP, "minItems": 3}, "deep"),
    "anything": ({"minItems": 2}, "arrays"),
    "words": ({"items": WORDS, "minItems": 3}, "words"),
    "words, a few": ({"items": WORDS, "maxItems": 2}, "words"),
    "words and others": ({"items": {"anyOf": [WORDS, {"type": ["integer", "null"]}]}}, "words"),
    "words, dealt out": (
        {"prefixItems": [WORDS, OTHERS, {"const": "bx"}], "items": {"enum": ["xb", "x", "bd"]}},
        "words",
    ),
    "words, one of them sure to come": (
        {"items": WORDS, "contains": {"const": "bxb"}, "minItems": 2, "maxItems": 3},
        "words",
    ),
    "words, or strings of a pattern": (
        {"anyOf": [{"items": WORDS, "minItems": 3}, {"items": {"pattern": "^x*b$"}}]},
        "words",
    ),
    "alternatives that overlap, too few": (
        {"anyOf": [{"items": {"anyOf": [ONES, SOLE]}, "minItems": 4}, {"maxItems": 1}]},
        "arrays",
    ),
    "equal values, too few": (
        {"anyOf": [{"items": {"enum": [[1], [1.0], [2]]}, "minItems": 3}, {"maxItems": 1}]},
        "arrays",
    ),
    "one list or the other": ({"anyOf": [{"items": WORDS}, {"items": OTHERS}]}, "words"),
}


IN_ORDERS = [
    *sampled([pytest.param(name, "any") for name in CASES], 14),
    *sampled([pytest.param(name, "schema") for name in CASES], 8),
]


@pytest.mark.parametrize(("name", "order"), IN_ORDERS)
def test_masks_of_unique_containers(name: str, order: str) -> None:
    keywords, kind = CASES[name]
    _check({"type": "array", "uniqueItems": True, **keywords}, VALUES[kind], order, name)


@pytest.mark.parametrize("seed", sampled(range(24), 10))
def test_masks_of_random_unique_containers(seed: int) -> None:
    random = Random(seed)
    kind = random.choice(list(VALUES))
    items = random.sample(VALUES[kind], random.randint(1, 4))
    options = [{"enum": items}, SOME, NESTED, PAIRS, SETS, FREE]
    drawn: dict[str, Any] = {"type": "array", "uniqueItems": True}
    drawn["items"] = random.choice([random.choice(options), {"anyOf": random.sample(options, 2)}])
    drawn["minItems"] = random.randint(0, 4)
    if random.random() < 0.4:
        drawn["prefixItems"] = random.choices(options, k=random.randint(1, 2))
    if random.random() < 0.3:
        drawn["maxItems"] = drawn["minItems"] + random.randint(0, 2)
    _check(drawn, VALUES[kind], random.choice(["any", "schema"]), seed)


def _check(schema: Any, values: list[Any], order: str, seed: Any) -> None:
    random = Random(seed)
    judge = Judge(schema, order)
    items = [text for value in values for text in texts(value, order)]
    language = [text.encode() for text in arrays(items, 5, random) if judge.value(json.loads(text))]
    try:
        grammar = compile_json_schema(schema, SMALL, property_order=order, whitespace="compact")
    except UnsatisfiableSchemaError:
        assert not language, schema
        return
    check_exact(grammar, language, judge, seed=seed if isinstance(seed, int) else 0)
    valid = validator(schema)
    for _ in range(2):
        text = walk(grammar.matcher(), grammar.min_tokens + random.choice([0, 1, 5, 30]), random)
        assert valid.is_valid(json.loads(text)), text
