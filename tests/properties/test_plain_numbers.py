"""Plain spellings of numbers against jsonschema: which values can be reached, and as what."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from itertools import islice, product
from random import Random
from typing import Any

import jsonschema
import pytest

from maskwright import Grammar, compile_json_schema
from maskwright.errors import UnsatisfiableSchemaError
from maskwright.workbench.sample.samples import random_texts
from tests.matching import EVERY_BYTE, matches

BOUNDS = ["-10", "-2.5", "-0.01", "0", "0.05", "0.5", "1", "2", "3.14159", "7", "12.5", "99.99"]
DIVISORS = ["0.01", "0.05", "0.5", "1", "2", "2.5", "3", "7"]
LISTED = ["0", "1", "2", "2.5", "-1", "7", "1.0", "0.05", "12.50", "100"]
VALUES = [
    *(str(number) for number in range(-12, 13)),
    *("-2.5", "-0.01", "-9.99", "0.05", "0.01", "0.5", "1.5", "2.25", "2.5", "3.14159", "3.1416"),
    *("7.5", "12.5", "12.49", "12.51", "99.99", "100", "100.01", "250", "1000000", "0.000001"),
]
ZEROS = ("", "0", "00", "000", ".0", ".00", ".000")
OTHERS = [
    *(number + zeros for number, zeros in product(("0", "1", "2.5", "-1", "7", "12.5"), ZEROS)),
    *("-0", "-0.0", "01", "1e0", "1E1", "25e-1", "0.5e1", "1.", ".5", "+1", "-"),
]
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def number(draw: Random, some: list[str]) -> Any:
    return json.loads(draw.choice(some))


def assertion(draw: Random, depth: int) -> dict[str, Any]:
    """A schema that says something of numbers."""
    kind = draw.randrange(9 if depth else 6)
    match kind:
        case 0:
            return {"type": draw.choice(["number", "integer", ["integer", "string"]])}
        case 1:
            return {draw.choice(["minimum", "exclusiveMinimum"]): number(draw, BOUNDS)}
        case 2:
            return {draw.choice(["maximum", "exclusiveMaximum"]): number(draw, BOUNDS)}
        case 3:
            return {"multipleOf": number(draw, DIVISORS)}
        case 4:
            return {"enum": [number(draw, LISTED) for _ in range(draw.randint(1, 4))]}
        case 5:
            return {"const": number(draw, LISTED)}
        case 6:
            return {"not": assertion(draw, depth - 1)}
        case 7:
            several = [assertion(draw, depth - 1) for _ in range(2)]
            return {draw.choice(["anyOf", "oneOf", "allOf"]): several}
        case _:
            several = [assertion(draw, depth - 1) for _ in range(3)]
            return dict(zip(("if", "then", "else"), several, strict=True))


def schema(draw: Random) -> dict[str, Any]:
    drawn = [assertion(draw, 2) for _ in range(draw.randint(1, 3))]
    return {"type": "number", "allOf": drawn}


SCHEMAS = [schema(Random(seed)) for seed in range(150)]


def exact(text: str) -> Any:
    """A JSON text with decimals that are not rounded; those without a fraction are integers."""

    def read(text: str) -> int | Decimal:
        value = Decimal(text)
        return int(value) if value == value.to_integral_value() else value

    return json.loads(text, parse_float=read)


def listed(schema: Any) -> bool:
    """Whether values are enumerated, which has spellings of its own."""
    return '"enum"' in json.dumps(schema) or '"const"' in json.dumps(schema)


def is_plain(text: str) -> bool:
    """Whether a spelling without an exponent has a fraction only for a reason."""
    _, point, decimals = text.partition(".")
    return not (point and decimals.endswith("0") and len(decimals) > 2) and not (
        text.startswith("-") and not re.search("[1-9]", text)
    )


def compiled(schema: Any) -> Grammar | None:
    try:
        return compile_json_schema(schema, EVERY_BYTE, numbers="plain")
    except UnsatisfiableSchemaError:
        return None


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_exactly_the_values_of_a_schema_are_reached(schema: dict[str, Any]) -> None:
    grammar = compiled(schema)
    valid = jsonschema.Draft202012Validator(exact(json.dumps(schema))).is_valid
    for text in VALUES:
        reached = grammar is not None and matches(grammar, text)
        assert reached is valid(exact(text)), text
    for text in OTHERS:
        if grammar is not None and matches(grammar, text):
            assert NUMBER.fullmatch(text)
            assert valid(exact(text)), text
            assert is_plain(text), text
        elif NUMBER.fullmatch(text) and "." not in text and text != "-0":
            assert not valid(exact(text)), text


@pytest.mark.parametrize("schema", [each for each in SCHEMAS if not listed(each)], ids=str)
def test_every_random_text_is_a_value(schema: dict[str, Any]) -> None:
    """And if no text is left, no value of the pool was valid."""
    grammar = compiled(schema)
    valid = jsonschema.Draft202012Validator(exact(json.dumps(schema))).is_valid
    if grammar is None:
        assert not any(valid(exact(text)) for text in VALUES)
        return
    for drawn in islice(random_texts(grammar, grammar.min_tokens + 9, 0), 12):
        text = drawn.decode()
        assert NUMBER.fullmatch(text), text
        assert valid(exact(text)), text
