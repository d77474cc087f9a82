"""Names that must not come twice, read off the text where contexts do not remember them."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import Grammar, compile_grammar, compile_json_schema
from maskwright.automaton.value.names_read import TextNames
from tests.matching import EVERY_BYTE, configuration

LISTED = {"properties": {"a": True}, "additionalProperties": False}
OPEN = {"type": "object", "additionalProperties": {"const": 1}}
WITHIN = 'start: "see " value\nvalue: %json ' + '{"type": "object"}'


def names_at(grammar: Grammar, text: bytes) -> tuple[TextNames, int]:
    """The names of a machine's texts, and the context in which a name of `text` is read."""
    machine = grammar.recognizer.machine
    node = configuration(grammar, text).node
    return TextNames(machine.contexts.leaves_names_to_text), int(machine.arrays.node_context[node])


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (OPEN, '{"', False),  # there is no name before it
        (OPEN, '{"a":1,"', True),
        (OPEN, '{"a":1,', True),
        (OPEN, '{"a":1', False),  # what ends here is no name
        (OPEN, '{"a":', False),
        ({"items": OPEN}, '[{"a":1,"', True),
        ({"items": OPEN}, '[{"a":1},{"', False),
        (LISTED, '{"a":1', False),
        ({"type": "array"}, "[1,", False),
    ],
)
def test_where_names_of_the_text_matter(schema: Any, text: str, expected: bool) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    names, context = names_at(grammar, text.encode())
    assert [names.matter(context) for _ in range(2)] == [expected, expected]


@pytest.mark.parametrize(
    ("name", "expected"),
    [(b'"a"', True), (b'"\\u0061"', True), (b'"b"', True), (b'"c"', False), (b'"ab"', False)],
)
def test_a_name_that_comes_again_is_found_in_any_spelling(name: bytes, expected: bool) -> None:
    grammar = compile_json_schema(OPEN, EVERY_BYTE, whitespace="compact")
    text = b'{"a":1,"b":1,'
    names, context = names_at(grammar, text)
    assert names.are_repeated(context, text + name) is expected
    assert names.before(text, len(text)).members == 2


def test_where_no_names_matter_none_is_repeated() -> None:
    grammar = compile_json_schema(OPEN, EVERY_BYTE, whitespace="compact")
    names, context = names_at(grammar, b"{")
    assert not names.are_repeated(context, b'{"a":1,"a"')


def test_a_value_within_a_grammar_has_names_too() -> None:
    grammar = compile_grammar(WITHIN, EVERY_BYTE)
    names, context = names_at(grammar, b'see {"a":1,"')
    assert names.matter(context)
    assert names.are_repeated(context, b'see {"a":1,"a"')
    outside, beginning = names_at(grammar, b"se")
    assert not outside.matter(beginning)
