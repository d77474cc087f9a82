"""Which texts share what is found about their completion."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import Grammar, compile_json_schema
from maskwright.automaton.machine.exits import Configuration
from tests.matching import EVERY_BYTE, configuration, vocabulary

PERSON: Any = {"properties": {"name": {"type": "string"}}, "required": ["name"], "type": "object"}


def json(schema: Any, **options: Any) -> Grammar:
    return compile_json_schema(
        schema, EVERY_BYTE, whitespace="compact", property_order="any", **options
    )


@pytest.mark.parametrize(
    ("schema", "one", "other", "shared"),
    [
        (PERSON, '{"a":1', '{"bcd":1', True),
        (PERSON, '{"a":1', '{"a":1,"b":1', True),
        (PERSON, '{"a":{"b":1', '{"c":{"d":1', True),
        (PERSON, '{"a":1,"x', '{"b":1,"y', True),
        (PERSON, '{"a":1,"', '{"b":1,"', True),
        (PERSON, '{"a":1,"na', '{"b":1,"na', True),
        (PERSON, '{"a":1,"n', '{"n":1,"n', True),  # it becomes the name that is required
        (PERSON, '{"name":"","a":1,"n', '{"name":"","n":1,"n', False),  # it may not end here again
        (PERSON, '{"name":"","a":1,"', '{"name":"","b":1,"', True),  # it may be empty
        (PERSON, '{"":1,"', '{"b":1,"', True),
        (PERSON, '{"name":"","":1,"', '{"name":"","b":1,"', False),  # it may not be empty
        (PERSON, '{"a":1', '{"a":1,"name":""', False),
        ({"type": "object", "minProperties": 3}, '{"a":1', '{"b":1', False),
        ({"type": "object", "minProperties": 2}, '{"a":1,"b":1', '{"c":1,"d":1', True),
        ({"items": PERSON, "uniqueItems": True}, '[{"a":1', '[{"b":1', False),
    ],
)
def test_names_that_make_no_difference(schema: Any, one: str, other: str, shared: bool) -> None:
    grammar = json(schema)
    places = grammar.budgets.costs.places
    first, second = (
        places.of(configuration(grammar, text.encode()), text.encode()) for text in (one, other)
    )
    assert (first == second) is shared


@pytest.mark.parametrize(
    ("text", "by_text"),
    [
        ("{", False),
        ('{"', True),  # which names are left to choose depends on this one
        ('{"x', True),
        ('{"x":1', False),
        ('{"x":1,"yy', True),
        ('{"x":1,"y":1,"z', False),  # the last one that is needed
    ],
)
def test_a_name_decides_where_more_names_are_needed(text: str, by_text: bool) -> None:
    grammar = json({"type": "object", "minProperties": 3})
    here = configuration(grammar, text.encode())
    places = grammar.budgets.costs.places
    assert places.depends_on_text(here) is by_text
    assert isinstance(places.of(here, text.encode()), Configuration) is not by_text


@pytest.mark.parametrize(
    ("schema", "token", "shared"),
    [
        (PERSON, '":1', True),
        (PERSON, '":[', True),
        (PERSON, '":1,"', True),
        ({"type": "object"}, '":1,"', False),  # the name that begins may be the one that has ended
        ({"type": "object", "minProperties": 9}, '":1', False),
    ],
)
def test_tokens_that_end_a_name(schema: Any, token: str, shared: bool) -> None:
    """Where they lead by the walk, which doesn't read names, stands for all texts."""
    grammar = json(schema)
    here = configuration(grammar, b'{"x')
    target = grammar.recognizer.advance(here, token.encode(), b'{"x')
    assert target is not None
    assert grammar.budgets.costs.places.shares_costs(here, target) is shared


def test_names_count_where_bytes_are_lacking() -> None:
    lacking = vocabulary("name", alphabet='{}":,0123456789abcxe')
    grammar = compile_json_schema(PERSON, lacking, whitespace="compact")
    here = configuration(grammar, b'{"name":"","a":1')
    assert grammar.budgets.costs.places.plain(here) == here
