"""The part of a grammar that an error names, by where a text stands."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import Grammar, compile_choice, compile_grammar, compile_json_schema, compile_regex
from maskwright.errors import LimitError
from tests.matching import EVERY_BYTE

NODE: dict[str, Any] = {"properties": {"a": {"items": {"type": "integer"}}, "b": {"const": "x"}}}
LARK = """
start: "<" head ">" %json {"properties": {"n": {"type": "integer"}}} tail
head: "h" | "(" head ")"
tail: "." | "[" tail "]"
"""


def construct(grammar: Grammar, text: str, error: LimitError | None = None) -> str:
    """What an error names that is met after `text`."""
    matcher = grammar.matcher()
    assert matcher.accept_bytes(text.encode()) == len(text)
    error = error or LimitError("too much", limit="work")
    matcher.name_construct(error)
    assert error.construct is not None
    return error.construct.name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "the schema at the root"),
        ('{"a":[1,', "the schema at /properties/a/items"),
        ('{"a":[1],"b":"', "the schema at /properties/b"),
    ],
)
def test_of_a_schema(text: str, name: str) -> None:
    assert construct(compile_json_schema(NODE, EVERY_BYTE), text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "the rule 'start'"),
        ("<((", "the rule 'head'"),
        ('<h>{"n":', "the schema at /properties/n"),
        ("<h>{}[[", "the rule 'tail'"),
    ],
)
def test_of_a_grammar(text: str, name: str) -> None:
    assert construct(compile_grammar(LARK, EVERY_BYTE), text) == name


def test_of_a_pattern() -> None:
    long = "(" + "abc|" * 100 + "d)"
    grammar = compile_regex(long, EVERY_BYTE)
    assert construct(grammar, "ab") == f"the pattern '{long[:100]}…{long[-100:]}'"
    assert construct(compile_choice(["a", "b"], EVERY_BYTE), "") == "the choice of 2 strings"
