"""Whether answers have the shape that was asked for, without a grammar."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.cli.load.shapes import SHAPES


@pytest.mark.parametrize(
    ("shape", "text", "holds"),
    [
        ("schema", '{"name": "A", "age": 3, "member": true}', True),
        ("schema", '{"name": "A", "age": 3}', False),
        ("schema", '{"name": "A", "age": true, "member": true}', False),
        ("schema", '{"name": "A", "age": 130, "member": true}', False),
        ("schema", '{"name": "A", "age": 3', False),
        ("schema", "[]", False),
        ("regex", "AB-1234-xyz", True),
        ("regex", "AB-1234-xyz\n", False),
        ("none", "", True),
    ],
)
def test_answers_are_checked_without_their_grammar(shape: Any, text: str, holds: bool) -> None:
    assert SHAPES[shape].holds(text) is holds


PERSONS = [
    ('{"name": "A", "age": 0, "member": true}', True),
    ('{"name": "A", "age": 120, "member": false}', True),
    ('{"name": "A", "age": 121, "member": false}', False),
    ('{"name": "A", "age": -1, "member": false}', False),
    ('{"name": "A", "age": 3.0, "member": false}', False),
    ('{"name": "%s", "age": 3, "member": false}' % ("x" * 20), True),
    ('{"name": "%s", "age": 3, "member": false}' % ("x" * 21), False),
    ('{"age": 3, "name": "A", "member": false}', False),  # in the order of the schema
    ('{"name": "A", "age": 3, "member": false, "x": 1}', False),
    ('{"name": "A", "age": 3, "member": 1}', False),
    ("", False),
]


@pytest.mark.parametrize(("text", "holds"), PERSONS)
def test_persons(text: str, holds: bool) -> None:
    assert SHAPES["schema"].holds(text) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("AB-1234", True),
        ("AB-1234-xyz", True),
        ("AB-1234-", False),
        ("aB-1234", False),
        ("", False),
    ],
)
def test_texts_of_the_pattern(text: str, holds: bool) -> None:
    assert SHAPES["regex"].holds(text) is holds
