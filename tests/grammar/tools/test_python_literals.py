"""Python's literals against `ast.literal_eval` and `json`."""

from __future__ import annotations

import ast
import json

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import contains, derivative
from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Regular, words
from maskwright.grammar.tools.python_arguments import json_text, scalar_literal, string_literal


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'a'", "a"),
        ('"a"', "a"),
        ("''", ""),
        ("'\"'", '"'),
        ('"\'"', "'"),
        (r"'\''", "'"),
        (r"'\\n'", r"\n"),
        (r"'a\n\t\r'", "a\n\t\r"),
        (r"'\x00'", "\0"),
        ("'é日'", "é日"),
    ],
)
def test_a_literal_of_a_string(literal: str, value: str) -> None:
    assert ast.literal_eval(literal) == value
    assert contains(string_literal(words([value])), literal)
    assert contains(string_literal(ANYTHING), literal)
    assert not contains(string_literal(words([value + "!"])), literal)
    assert json.loads(json_text(literal)) == value


@pytest.mark.parametrize(
    "text", ["a", "'a", "'a\"", "'''", "'\n'", "'\0'", r"'\q'", r"'\x01'", r"'\'", "'a'b'"]
)
def test_other_texts_are_no_strings(text: str) -> None:
    assert not contains(string_literal(ANYTHING), text)


@pytest.mark.parametrize("none", [EMPTY, full_match("(?=b)a+")])
def test_no_string_has_no_literal(none: Regular) -> None:
    assert string_literal(none) is EMPTY


@pytest.mark.parametrize("begun", ['"\\', "'ab\\"])
def test_what_can_not_be_completed_is_no_beginning(begun: str) -> None:
    """A backslash would lead to no escape: neither string has a character that needs one here."""
    assert derivative(string_literal(words(["ab", "a\n"])), begun) is EMPTY


@pytest.mark.parametrize("text", ["True", "None", "12"])
def test_scalars_are_named_as_in_python(text: str) -> None:
    term = scalar_literal(full_match("true|null|[0-9]+"))
    assert contains(term, text)
    assert not any(contains(term, other) for other in ("False", "true", "null", ""))


@pytest.mark.parametrize(
    "literal",
    ["[1, 'a', True]", "{'a': None, \"b\": {'c': False}}", "['True', \"it's\", '\\'']", "-1.5e3"],
)
def test_values_become_json(literal: str) -> None:
    assert json.loads(json_text(literal)) == ast.literal_eval(literal)
