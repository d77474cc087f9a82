"""What would end a text in its middle is refused before any text is begun."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from maskwright import Grammar, compile_json_schema, compile_structural_tag, compile_tools
from maskwright.automaton.json.precheck import WIDE, is_long
from maskwright.errors import LimitError
from maskwright.grammar.schema.parse import ParsedSchema, ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape import disjoint, shape
from maskwright.mask.compile import json_schema
from tests.matching import EVERY_BYTE, matches


def _one_of(count: int) -> dict[str, Any]:
    """Objects that differ in two properties each, so that a name may belong to all of them."""
    number = {"type": "integer"}
    options = [
        {"properties": {"a": {"pattern": f"{at}.*{at}"}, f"b{at}": number}, "required": ["a"]}
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


def test_too_many_ways_to_read_a_member_are_refused_at_once() -> None:
    """Each option is readable with all that it may leave of the others, all together are not."""
    with pytest.raises(LimitError, match="'a' can be read in more than 4,096 ways") as raised:
        compile_json_schema({"items": _one_of(11)}, EVERY_BYTE)
    assert (raised.value.limit, raised.value.pointer) == ("alternatives", "/items")


def test_what_a_member_fulfils_with_all_others_or_not_at_all_has_two_ways() -> None:
    """The requirements that a oneOf puts on `rest` are all met as soon as there is a `kind`."""
    options = [
        {
            "properties": {"kind": {"const": at}, "rest": {"required": [f"b{at}"]}},
            "required": ["rest"],
        }
        for at in range(16)
    ]
    schema = {"type": "object", "oneOf": options}
    grammar = compile_json_schema(schema, EVERY_BYTE, property_order="any")
    every = ",".join(f'"b{at}":0' for at in range(16))
    assert matches(grammar, '{"kind":3,"rest":{"b3":0}}')
    assert matches(grammar, '{"rest":{"b3":0}}')
    assert matches(grammar, f'{{"rest":{{{every}}},"kind":5}}')
    assert not matches(grammar, f'{{"rest":{{{every}}}}}')
    assert not matches(grammar, '{"rest":{"b3":0,"b4":0}}')
    assert not matches(grammar, '{"rest":{"b3":0},"kind":4}')


def test_long_choices_that_are_told_apart_are_not() -> None:
    kinds = [{"properties": {"kind": {"const": at}}, "required": ["kind"]} for at in range(60)]
    grammar = compile_json_schema({"items": {"type": "object", "oneOf": kinds}}, EVERY_BYTE)
    assert grammar.matcher().accept_bytes(b'[{"kind":59}]') == 13


def told_apart(count: int) -> list[Any]:
    kinds = [{"properties": {"kind": {"const": at}}, "required": ["kind"]} for at in range(count)]
    return [{"type": "object", **kind} for kind in kinds]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (told_apart(60), False),
        (_one_of(WIDE)["oneOf"], False),
        (_one_of(WIDE + 1)["oneOf"], True),
        ([*told_apart(40), *_one_of(4)["oneOf"]], True),  # those may have any kind
        ([*told_apart(40), {"type": "string"}, {"pattern": "a"}], True),
        ([{"type": "null"}] * 4 + [{"const": at} for at in range(40)], False),
        ([{"type": "null"}] * 6 + [{"const": at} for at in range(40)], True),
    ],
)
def test_long_choices_have_many_pairs_to_be_told_apart(options: list[Any], expected: bool) -> None:
    (union,) = parse_schema({"oneOf": options}, ParseOptions()).one_ofs
    assert is_long(union) is expected


def test_choices_that_are_told_apart_have_no_shapes_built(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def note(*arguments: Any) -> None:
        asked.append(arguments)

    monkeypatch.setattr(json_schema, "precheck_alternatives", note)
    compile_json_schema({"title": "told apart", "oneOf": told_apart(40)}, EVERY_BYTE)
    assert not asked
    compile_json_schema({"title": "not told apart", **_one_of(WIDE + 1)}, EVERY_BYTE)
    assert len(asked) == 1


def test_members_are_not_listed_once_enough_values_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each option leaves open which of the others a `kind` tells apart: thousands of ways to read
    one member, and so in every option."""
    calls = 0

    def are_disjoint(schemas: Iterable[Schema], other: Schema) -> bool:
        nonlocal calls
        calls += 1
        return disjoint.are_disjoint(schemas, other)

    monkeypatch.setattr(shape, "are_disjoint", are_disjoint)
    options = [
        {
            "properties": {
                "kind": {"enum": [at]},
                "rest": {"properties": {f"b{at}": {"type": "null"}}},
            }
        }
        for at in range(12)
    ]
    compile_json_schema({"type": "object", "oneOf": options}, EVERY_BYTE)
    assert 0 < calls < 10_000


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


RANGES: dict[str, Any] = {
    "oneOf": [{"minimum": at, "maximum": 2 * at + 20} for at in range(10)],
}
DENIED: dict[str, Any] = {
    "not": {
        "anyOf": [
            {"properties": {"a": {"pattern": f"{at}.*{at}"}}, "required": ["a", f"c{at}"]}
            for at in range(16)
        ]
    }
}
MANY_THAT_DIFFER: dict[str, Any] = {"type": "array", "uniqueItems": True, "minItems": 1_500}
MANY_MEMBERS: dict[str, Any] = {"type": "object", "minProperties": 30_000}


def _closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    closed = {"type": "object", "additionalProperties": False}
    return {**closed, "properties": properties, "required": required}


@pytest.mark.parametrize(
    ("schema", "limit", "pointer"),
    [
        (_closed({"a": RANGES}, []), "alternatives", "/properties/a/oneOf"),
        (_closed({"b": {}, "a": RANGES}, ["b"]), "alternatives", "/properties/a/oneOf"),
        ({"type": "object", "additionalProperties": RANGES}, "alternatives", "/oneOf"),
        ({"type": "array", "items": RANGES}, "alternatives", "/items/oneOf"),
        ({"type": "array", "items": MANY_THAT_DIFFER}, "witness_search", "/items"),
        (_closed({"a": MANY_THAT_DIFFER}, []), "witness_search", "/properties/a"),
        (_closed({"a": MANY_MEMBERS}, []), "witness_search", "/properties/a"),
        (_closed({"a": {"type": "object", **DENIED}}, ["a"]), "alternatives", "/properties/a/not"),
        (
            {"type": "array", "minItems": 2, "items": {"type": "object", **DENIED}},
            "alternatives",
            "/items/not",
        ),
        # Only the first mask meets these
        ({"type": "array", "items": {"type": "object", **DENIED}}, "alternatives", "/items/not"),
        (
            {"anyOf": [{"type": "null"}, {"type": "object", **DENIED}]},
            "alternatives",
            "/anyOf/1/not",
        ),
    ],
    ids=lambda each: str(each)[:60],
)
def test_what_every_text_meets_is_refused_at_once(schema: Any, limit: str, pointer: str) -> None:
    """Without a long `oneOf`: such a document was compiled, and no text of it got further than its
    first masks."""
    for _ in range(2):  # the second time its beginning is known
        with pytest.raises(LimitError) as raised:
            compile_json_schema(schema, EVERY_BYTE)
        assert raised.value.limit == limit
        assert pointer in (raised.value.pointer or "")


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (_closed({"b": {"const": 1}, "a": {"type": "object", **DENIED}}, []), '{"b":1}'),
        (_closed({"b": {}, "a": {"type": "array", "minItems": 30_000}}, ["b"]), '{"b":2}'),
        ({"oneOf": [{"minimum": at, "maximum": 2 * at + 2} for at in range(4)]}, "0"),
    ],
    ids=lambda each: str(each)[:60],
)
def test_what_only_some_texts_meet_is_not(schema: Any, text: str) -> None:
    assert matches(compile_json_schema(schema, EVERY_BYTE), text)


def test_the_first_mask_of_an_intricate_schema_is_kept() -> None:
    for schema, known in ((RANGES["oneOf"][:3], True), (RANGES["oneOf"][:2], False)):
        document = {"oneOf": schema, "title": "whether its first mask is kept"}
        assert compile_json_schema(document, EVERY_BYTE).matcher().known is known


def test_a_known_schema_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"oneOf": RANGES["oneOf"][:3], "title": "whether it is checked again"}
    first = compile_json_schema(document, EVERY_BYTE)
    monkeypatch.delattr(Grammar, "find_first_mask")
    monkeypatch.delattr(ParsedSchema, "branches")
    again = compile_json_schema(document, EVERY_BYTE)
    assert again.recognizer.start == first.recognizer.start


def test_tags_and_tools_are_refused_at_once_too() -> None:
    schema = _closed({"a": RANGES}, [])
    value = {"type": "json_schema", "json_schema": schema}
    with pytest.raises(LimitError, match="alternatives"):
        compile_structural_tag({"type": "structural_tag", "format": value}, EVERY_BYTE)
    tool = {"type": "function", "function": {"name": "call", "parameters": schema}}
    for _ in range(2):  # the second time its arguments are known
        with pytest.raises(LimitError, match="alternatives"):
            compile_tools([tool], "required", EVERY_BYTE)


def test_limits_are_found_once_enough_values_are_looked_at() -> None:
    """All members of the first object are as many values as are looked at."""
    options = [*told_apart(40), {"type": "string"}, {"pattern": "a"}]
    properties = {"long": {"oneOf": options}, "a": {"type": "object", **DENIED}}
    others = {f"b{at}": {"const": at} for at in range(1_000)}
    with pytest.raises(LimitError) as raised:
        compile_json_schema({"properties": {**properties, **others}}, EVERY_BYTE)
    assert (raised.value.limit, raised.value.value) == ("alternatives", 14)
