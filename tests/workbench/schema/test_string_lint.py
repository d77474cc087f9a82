from __future__ import annotations

from typing import Any

import pytest

from maskwright.workbench.schema.lint import is_endless_pattern, open_pattern, token_traps


@pytest.mark.parametrize(
    ("pattern", "severity", "message"),
    [
        ("^a$", None, ""),
        ("^(a|b)$", None, ""),
        ("^a$|^b$", None, ""),
        (".*a.*", None, ""),
        ("^a|b$", "warning", "before and after"),
        ("[0-9]+", "warning", "before and after"),
        ("^https?://", "note", "after what"),
        ("[.]pdf$", "note", "before what"),
        ("(?!x)a$", None, ""),
    ],
)
def test_patterns_that_are_not_bound(pattern: str, severity: str | None, message: str) -> None:
    found = [*open_pattern("", {"pattern": pattern})]
    assert [each.severity for each in found] == ([] if severity is None else [severity])
    assert all(message in each.message and each.pointer == "/pattern" for each in found)


@pytest.mark.parametrize(
    ("pattern", "endless"), [("^a+$", True), ("a", True), ("^a{1,5}$", False), ("(", False)]
)
def test_patterns_without_end(pattern: str, endless: bool) -> None:
    assert is_endless_pattern(pattern) is endless


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"enum": ["a", "b", 1, None]}, []),
        ({"enum": ["a", "b "]}, ["/enum/1"]),
        ({"enum": ["Paid", "open", "paid", "PAID"]}, ["/enum/2"]),
        ({"enum": ["in progress", "inprogress"]}, ["/enum/1"]),
        ({"const": "a\u00a0b"}, ["/const"]),
        ({"properties": {"a": True, " b": True}}, ["/properties/ b"]),
    ],
)
def test_names_and_values(schema: Any, pointers: list[str]) -> None:
    assert [each.pointer for each in token_traps("", schema)] == pointers
