from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.instances import InstanceCheck, NotJsonError, UndecidedError


@pytest.mark.parametrize(
    ("schema", "text", "message"),
    [
        ({"type": "integer"}, "1.0", None),
        ({"type": "integer"}, "1.5", "is not of type 'integer'"),
        ({"type": "number"}, "1e999999999", None),
        ({"multipleOf": 0.1}, "0.3", None),  # with floats it is no multiple
        ({"multipleOf": 0.1}, "0.35", "is not a multiple of"),
        ({"multipleOf": 0.01}, "1e300", None),
        ({"maximum": 0.3}, "0.30000000000000001", "greater than the maximum"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}, False]}, "[1]", None),
        (False, "1", "False schema"),
        ({"dependencies": {"a": ["b"]}}, '{"a": 1}', "'b' is a dependency of 'a'"),
        ({"dependencies": {"a": False}}, '{"a": 1}', "False schema"),
        ({"dependencies": {"a": ["b"]}}, '{"b": 1}', None),
    ],
)
def test_errors(schema: Any, text: str, message: str | None) -> None:
    errors = InstanceCheck(json.dumps(schema)).errors(text, 5)
    assert len(errors) == (0 if message is None else 1)
    assert message is None or message in errors[0].message


@pytest.mark.parametrize("text", ["NaN", "", "{} {}", "[1"])
def test_what_is_not_json(text: str) -> None:
    with pytest.raises(NotJsonError):
        InstanceCheck("true").errors(text, 1)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"$ref": "https://nowhere.invalid/x"}, "1"),
        ({"pattern": r"\p{L}"}, '"x"'),
        ({"type": 3}, "1"),
        (True, "[" * 100_000),
    ],
)
def test_what_cannot_be_decided(schema: Any, text: str) -> None:
    with pytest.raises(UndecidedError, match="can't evaluate"):
        InstanceCheck(json.dumps(schema)).errors(text, 1)


def test_it_says_what_checks() -> None:
    assert InstanceCheck("true").by.endswith(", Draft202012Validator")
