"""What would end a text in its middle is refused before any text is begun."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.errors import LimitError
from tests.matching import EVERY_BYTE


def _one_of(count: int) -> dict[str, Any]:
    """Objects that differ in one open property each, so that a name may belong to all of them."""
    options = [
        {"properties": {"a": {"pattern": f"{at}.*{at}"}, f"b{at}": {}}, "required": ["a"]}
        for at in range(count)
    ]
    return {"type": "object", "oneOf": options}


@pytest.mark.parametrize("wrap", ["properties", "items", "additionalProperties", "contains"])
def test_too_many_alternatives_are_refused_at_once(wrap: str) -> None:
    inner: Any = {"a": _one_of(16)} if wrap == "properties" else _one_of(16)
    with pytest.raises(LimitError) as raised:
        compile_json_schema({wrap: inner}, EVERY_BYTE)
    assert raised.value.limit == "alternatives"
    assert "oneOf" in (raised.value.pointer or "")


def test_long_choices_that_are_told_apart_are_not() -> None:
    kinds = [{"properties": {"kind": {"const": at}}, "required": ["kind"]} for at in range(60)]
    grammar = compile_json_schema({"items": {"type": "object", "oneOf": kinds}}, EVERY_BYTE)
    assert grammar.matcher().accept_bytes(b'[{"kind":59}]') == 13


def test_pairs_are_counted_for_each_oneOf() -> None:
    """A document with several of them is none with one that is as long as they are together."""
    choices = [
        {"oneOf": [{"type": "string", "pattern": f"{n}{at}"} for at in range(12)]}
        for n in range(20)
    ]
    named = {f"a{n}": {"type": "array", "items": choice} for n, choice in enumerate(choices)}
    compile_json_schema({"type": "object", "properties": named}, EVERY_BYTE)


NAMES = [f"p{at}" for at in range(13)]
PRODUCT: dict[str, Any] = {
    "allOf": [
        {"anyOf": [{"minProperties": at}, {"properties": {name: {"const": at}}}]}
        for at, name in enumerate(NAMES)
    ]
}
CONTAINED: dict[str, Any] = {"allOf": [{"contains": {"const": at}} for at in range(8)]}


@pytest.mark.parametrize("inner", [PRODUCT, CONTAINED], ids=["anyOf", "contains"])
@pytest.mark.parametrize("wrap", ["properties", "items", "additionalProperties"])
def test_unions_that_multiply_to_too_many_are_refused_at_once(wrap: str, inner: Any) -> None:
    schema = {wrap: {"a": inner} if wrap == "properties" else inner}
    with pytest.raises(LimitError) as raised:
        compile_json_schema(schema, EVERY_BYTE)
    assert raised.value.limit == "alternatives"
    assert "/allOf/" in (raised.value.pointer or "")


def test_many_unions_that_are_not_multiplied_are_no_reason() -> None:
    optional = {name: {"anyOf": [{"type": "integer"}, {"type": "null"}]} for name in NAMES}
    grammar = compile_json_schema({"properties": optional}, EVERY_BYTE)
    assert grammar.matcher().accept_bytes(b'{"p0":null,"p12":1}') == 19
