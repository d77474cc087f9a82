"""The place at which the beginning of a JSON text stands."""

from __future__ import annotations

import pytest

from maskwright.mask.compile.constructs import open_place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", []),
        ("  1", []),
        ("{", []),
        ('{"a', []),
        ('{"a"', ["a"]),
        ('{"a": 1', ["a"]),
        ('{"a": 1,', []),
        ('{"a": 1, "b"', ["b"]),
        ("[", [0]),
        ("[1, 2", [1]),
        ("[[], [1], [", [2, 0]),
        ('[{"a": [1, {"b": "c', [0, "a", 1, "b"]),
        ('[{"a": [1, {"b": "c"}', [0, "a", 1]),
        ('{"a": {}', ["a"]),
        ('{"a": {}}', []),
        (r'{"a\"}[": ["]\\", 2', ['a"}[', 1]),
        ('{"a": "\\', ["a"]),
        (r'{"\u0061": ', ["a"]),
    ],
)
def test_open_place(text: str, place: list[str | int]) -> None:
    assert open_place(text.encode()) == place
