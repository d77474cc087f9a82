"""Shapes compared, with matchers, brute force and the package `jsonschema` as oracles."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import maskwright
from maskwright.mask import compile_json_schema, compile_regex
from maskwright.workbench.difference.compared import Comparison, compare
from maskwright.workbench.reading import byte_vocabulary

SCHEMAS = Path(maskwright.__file__).parent / "schemas"
NAMES = sorted(file.stem for file in SCHEMAS.glob("*.json"))


def shipped(name: str) -> dict[str, Any]:
    return json.loads((SCHEMAS / f"{name}.json").read_text())


def compared(first: Any, second: Any) -> Comparison:
    vocabulary = byte_vocabulary()
    return compare(
        compile_json_schema(first, vocabulary), compile_json_schema(second, vocabulary), seconds=60
    )


def is_instance(schema: Any, text: bytes) -> bool:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
    return validator.is_valid(json.loads(text))


def check_texts(first: Any, second: Any, found: Comparison) -> None:
    if found.only_first is not None:
        assert is_instance(first, found.only_first)
        assert not is_instance(second, found.only_first)
    if found.only_second is not None:
        assert is_instance(second, found.only_second)
        assert not is_instance(first, found.only_second)


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_schema_equals_itself(name: str) -> None:
    assert compared(shipped(name), shipped(name)).equal is True


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("sentiment", '"maxItems": 20', '"maxItems": 21'),
        ("bounding_boxes", '"maxItems": 500', '"maxItems": 501'),
        ("address", '"type": "object"', '"type": ["object", "null"]'),
    ],
)
def test_a_shipped_schema_with_one_keyword_changed(name: str, before: str, after: str) -> None:
    text = (SCHEMAS / f"{name}.json").read_text()
    assert before in text
    changed = json.loads(text.replace(before, after, 1))
    found = compared(shipped(name), changed)
    assert found.equal is False
    assert found.only_first is None
    assert found.only_second is not None
    check_texts(shipped(name), changed, found)


@pytest.mark.parametrize(
    ("first", "second", "only_first", "only_second"),
    [
        ({"type": "integer"}, {"type": "number"}, False, True),
        (
            {"type": "integer", "minimum": 3},
            {"type": "integer", "exclusiveMinimum": 2},
            False,
            False,
        ),
        ({"enum": ["a"]}, {"type": "string", "pattern": "^a$"}, False, False),
        ({"enum": [1, 2, 3]}, {"enum": [3, 4]}, True, True),
        ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 4}, False, True),
        (
            {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
            {"type": "array", "items": {"enum": [True, False]}, "maxItems": 4},
            False,
            True,
        ),
        (
            {"type": "array", "items": {"type": "null"}, "maxItems": 2, "minItems": 2},
            {"type": "array", "prefixItems": [{"type": "null"}] * 2, "items": False, "minItems": 2},
            False,
            False,
        ),
    ],
)
def test_both_directions(first: Any, second: Any, only_first: bool, only_second: bool) -> None:
    found = compared(first, second)
    assert (found.only_first is not None, found.only_second is not None) == (
        only_first,
        only_second,
    )
    assert found.decided or (only_first and only_second)
    check_texts(first, second, found)


PATTERNS = ["(a|b)*", "[ab]*", "a*b*", "(ab)*a", "a(ba)*", "a+b?", "aa*(b|)", "[^b]*", "a{1,3}", ""]


@pytest.mark.parametrize(
    ("first", "second"), [*itertools.combinations_with_replacement(PATTERNS, 2)]
)
def test_patterns_as_by_brute_force(first: str, second: str) -> None:
    vocabulary = byte_vocabulary()
    found = compare(compile_regex(first, vocabulary), compile_regex(second, vocabulary))
    texts = ["".join(each) for size in range(6) for each in itertools.product("abc", repeat=size)]
    one, other = ({t for t in texts if re.fullmatch(p, t)} for p in (first, second))
    assert found.decided or (found.only_first is not None and found.only_second is not None)
    assert (found.only_first is not None) == bool(one - other)
    assert (found.only_second is not None) == bool(other - one)
    for text, mine, others in (
        (found.only_first, first, second),
        (found.only_second, second, first),
    ):
        if text is not None:
            assert re.fullmatch(mine, text.decode())
            assert not re.fullmatch(others, text.decode())


def test_nothing_is_decided_within_a_bound() -> None:
    vocabulary = byte_vocabulary()
    first, second = (compile_regex(each, vocabulary) for each in ("(ab)*a", "a(ba)*"))
    found = compare(first, second, most_pairs=1)
    assert (found.equal, found.pairs) == (None, 1)


def test_items_that_must_differ_are_compared_as_others() -> None:
    first = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    assert compared(first, {**first}).equal is True
    found = compared({**first, "maxItems": 2}, {**first, "maxItems": 3})
    assert found.only_first is None
    assert found.only_second is not None
    assert found.decided
    check_texts({**first, "maxItems": 2}, {**first, "maxItems": 3}, found)
