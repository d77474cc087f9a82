"""Texts that are allowed in place of one that isn't."""

from __future__ import annotations

import pytest

from maskwright.mask import Grammar, compile_grammar, compile_json_schema, compile_regex
from maskwright.workbench.continuations import MOST_FOUND, nearest_texts
from maskwright.workbench.reading import byte_vocabulary, read_text

BYTES = byte_vocabulary()
SCHEMA = compile_json_schema(
    {
        "type": "object",
        "properties": {"role": {"enum": ["admin", "author"]}, "age": {"type": "integer"}},
        "additionalProperties": False,
    },
    BYTES,
    whitespace="spaced",
)
SQL = compile_grammar('start: "SELECT " NAME " FROM " NAME\nNAME: /[a-zé]+/', BYTES)


def nearest(grammar: Grammar, text: str) -> list[tuple[str, str, int | None]]:
    reading = read_text(grammar, text.encode())
    fault = len(reading.text[: reading.accepted].decode())
    found = nearest_texts(grammar, text, fault)
    assert len(found) <= MOST_FOUND
    for each in found:
        data = text.encode()
        assert data[each.offset :].startswith(each.replaces.encode())
        changed = data[: each.offset] + each.by.encode()
        assert grammar.matcher().accept_bytes(changed) == len(changed), changed
    return [(each.replaces, each.by, each.edits) for each in found]


@pytest.mark.parametrize(
    ("grammar", "text", "first"),
    [
        (SCHEMA, '{"role": "admn"}', ("admn", "admin", 1)),
        (SCHEMA, '{"role": "amdin"}', ("amdin", "admin", 1)),
        (SCHEMA, '{"rol": 1}', ('rol"', 'role"', 1)),
        (SCHEMA, '{"age": "34"}', ('"34"', "34", 2)),
        (SCHEMA, '{"role":"admin"}', ('"admin"', ' "admin"', 1)),
        (SQL, "SELECT a FORM b", ("FORM", "FROM", 1)),
        (SQL, "SELECT é FROM B", ("B", "b", 1)),
    ],
)
def test_the_nearest_comes_first(grammar: Grammar, text: str, first: tuple[str, str, int]) -> None:
    assert nearest(grammar, text)[0] == first


def test_where_nothing_is_near_what_is_allowed_is_reported() -> None:
    found = nearest(SCHEMA, '{"role": "reader"}')
    assert {by for _, by, _ in found} == {'admin"', 'author"'}
    assert all(edits is None for _, _, edits in found)


def test_after_the_end_the_text_itself_is_near() -> None:
    assert nearest(compile_regex("ab", BYTES), "ab cd") == [("ab ", "ab", None)]


def test_a_long_text_is_searched_near_the_fault_only() -> None:
    grammar = compile_regex("(aaaa )*b", BYTES)
    assert nearest(grammar, "aaaa " * 1000 + "c") == [("c", "a", 1), ("c", "b", 1)]
