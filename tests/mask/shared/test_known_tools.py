"""Tools that come again, and what must not be taken for them."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import compile_tools
from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.errors import SchemaError
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.rules.tree import Terminal
from maskwright.grammar.schema.document import json_of
from maskwright.mask.shared.known_tools import Arguments, KnownTools
from tests.matching import EVERY_BYTE, matches


def schema(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "null"} for name in names}}


def given(known: KnownTools, of: Any, options: object = None) -> Arguments:
    """What is known, or new: another object each time."""
    return known.get(of, options, lambda: Arguments(Terminal(full_match("a")), {}, (), ()))


def test_equal_schemas_are_known() -> None:
    known = KnownTools()
    first = given(known, schema("a"))
    assert given(known, schema("a")) is first
    assert given(known, schema("b")) is not first
    assert given(known, schema("a"), "otherwise") is not first
    assert given(known, schema("a")) is first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"const": 1}, {"const": True}),
        ({"const": 1}, {"const": 1.0}),
        (schema("a", "b"), schema("b", "a")),
        ({"properties": {"1": True}}, {"properties": {1: True}}),
        ({"enum": [1]}, {"enum": (1,)}),
        ({"minimum": 0.0}, json_of('{"minimum": 1e-400}')),
    ],
)
def test_what_only_looks_equal_is_not(one: Any, other: Any) -> None:
    known = KnownTools()
    assert given(known, one) is not given(known, other)


def test_a_schema_that_is_changed_later_is_another() -> None:
    known, mine = KnownTools(), schema("a")
    first = given(known, mine)
    mine["properties"]["b"] = {}
    assert given(known, mine) is not first
    assert given(known, schema("a")) is first


def test_the_oldest_are_forgotten() -> None:
    known = KnownTools(room=3 * len('{"type": "object", "properties": {"a": {"type": "null"}}}'))
    first, second = given(known, schema("a")), given(known, schema("b"))
    assert given(known, schema("a")) is first
    given(known, schema("c"))
    given(known, schema("d"))
    assert given(known, schema("a")) is first
    assert given(known, schema("b")) is not second


def test_a_schema_larger_than_the_room_is_not_kept() -> None:
    known = KnownTools(room=10)
    assert given(known, schema("a")) is not given(known, schema("a"))
    assert given(known, True) is given(known, True)


def test_options_and_names_make_tools_their_own() -> None:
    tools = [{"name": name, "parameters": schema("x")} for name in ("one", "two")]
    written: dict[WhitespaceName, str] = {
        "compact": '{"x":null}',
        "pretty": '{\n  "x": null\n}',
    }
    for whitespace, said in written.items():
        for name in ("one", "two"):
            grammar = compile_tools(
                tools, "required", EVERY_BYTE, format="llama3_json", whitespace=whitespace
            )
            assert {f"/{name}/properties"} <= {
                f"{e.pointer}/{e.keyword}" for e in grammar.report.enforced
            }
            assert matches(grammar, f'{{"name": "{name}", "parameters": {said}}}')


def test_a_bad_schema_is_reported_every_time() -> None:
    bad = [{"name": "bad", "parameters": {"type": "object", "properties": 3}}]
    for _ in range(2):
        with pytest.raises(SchemaError, match="'bad'"):
            compile_tools(bad, "auto", EVERY_BYTE)
