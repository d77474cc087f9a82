"""Schemas made to cost much: refused by a named limit, or compiled; counted, never timed."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.errors import LimitError, SchemaError
from tests.matching import EVERY_BYTE

_PROPERTIES = {f"p{number}": {"type": "string"} for number in range(10)}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def unions(count: int, width: int) -> dict[str, Any]:
    """Unions that are independent of each other, so that they multiply."""
    return {
        "allOf": [
            {
                "anyOf": [
                    {"properties": {f"x{at}": {"const": value}}, "required": [f"x{at}"]}
                    for value in range(width)
                ]
            }
            for at in range(count)
        ]
    }


REFUSED = {
    "nesting": (nested(5_000), "schema_depth"),
    "values": ({"enum": list(range(300_000))}, "schema_nodes"),
    "independent unions": (unions(12, 4), "alternatives"),
    "cases of unevaluatedProperties": (
        {
            "anyOf": [{"properties": {f"a{at}": {}}} for at in range(16)],
            "unevaluatedProperties": False,
        },
        "alternatives",
    ),
    "contains that count": (
        {"type": "array", "allOf": [{"contains": {"multipleOf": n}} for n in range(2, 9)]},
        "alternatives",
    ),
    "a divisor": ({"multipleOf": 17.017}, "divisor"),
}

COMPILED = {
    "a repeated repeat": {"type": "string", "pattern": "^(a{1,100000}){1,100000}$"},
    "a backtracking pattern": {"type": "string", "pattern": "^(a|b)*a(a|b){24}$"},
    "its complement": {"type": "string", "not": {"pattern": "^(a|b)*a(a|b){24}$"}},
    "a long string": {"type": "string", "minLength": 10**9},
    "a large enumeration": {"enum": [f"v{number:06}" for number in range(50_000)]},
    "many properties": {"properties": {f"property{n}": {"type": "string"} for n in range(20_000)}},
    "a long text": {"description": "x" * 10_000_000},
    "negation of negation": {
        "not": {"not": {"not": {"properties": _PROPERTIES, "required": list(_PROPERTIES)}}}
    },
}


@pytest.mark.parametrize(("schema", "limit"), REFUSED.values(), ids=REFUSED)
def test_refused_by_a_limit(schema: Any, limit: str) -> None:
    with pytest.raises(LimitError) as raised:
        compile_json_schema(schema, EVERY_BYTE, property_order="any").matcher().next_bytes()
    assert raised.value.limit == limit


@pytest.mark.parametrize("schema", COMPILED.values(), ids=COMPILED)
def test_compiled_and_begun(schema: Any) -> None:
    matcher = compile_json_schema(schema, EVERY_BYTE, property_order="any").matcher()
    assert matcher.next_bytes()


def test_a_schema_that_is_itself() -> None:
    loop = {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {}]}}
    with pytest.raises(SchemaError, match="without end"):
        compile_json_schema({"$ref": "#/$defs/a", "$defs": loop}, EVERY_BYTE)


def test_alternatives_that_differ_in_a_constant_do_not_multiply() -> None:
    """Forty kinds of objects, told apart by `kind`, each with properties of its own."""
    kinds = [
        {
            "type": "object",
            "properties": {"kind": {"const": f"k{number}"}, **_PROPERTIES, f"own{number}": {}},
            "required": ["kind", f"own{number}"],
        }
        for number in range(40)
    ]
    matcher = compile_json_schema({"oneOf": kinds}, EVERY_BYTE, whitespace="compact").matcher()
    for byte in b'{"kind":"k1':
        assert matcher.accept(byte)
    assert matcher.next_bytes() == b'"0123456789\\'


def test_alternatives_that_hardly_differ_do_not_multiply() -> None:
    """What is denied of the others is one obligation each, not a union over their properties."""
    kinds = [
        {
            "type": "object",
            "properties": {**_PROPERTIES, f"own{number}": {"type": "integer"}},
            "required": ["p1", f"own{number}"],
        }
        for number in range(4)
    ]
    grammar = compile_json_schema({"oneOf": kinds}, EVERY_BYTE, property_order="any")
    for text, valid in (
        (b'{"p1":"","own0":1}', True),
        (b'{"p1":"","own0":1,"own1":2}', False),
        (b'{"p1":"","own0":1,"own1":"x"}', True),
    ):
        matcher = grammar.matcher()
        assert (all(map(matcher.accept, text)) and matcher.accepting) is valid
