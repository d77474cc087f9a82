from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.records.validation import AnswerSchema


@pytest.mark.parametrize(
    ("schema", "text", "told"),
    [
        ({"type": "integer"}, "1.0", None),
        ({"type": "integer"}, "1.5", "is not of type 'integer'"),
        ({"type": "integer"}, "1e2", None),
        ({"type": "number"}, "1e999999999", None),
        ({"multipleOf": 0.1}, "0.3", None),  # with floats it is no multiple
        ({"multipleOf": 0.1}, "0.35", "is not a multiple of"),
        ({"maximum": 0.3}, "0.30000000000000001", "greater than the maximum"),
        ({"properties": {"a": {"items": {"const": 1}}}}, '{"a": [1, 2]}', "(at /a/1, by const)"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}, False]}, "[1]", None),
        (False, "1", "at the root"),
        (True, "NaN", "not JSON"),
        (True, "", "not JSON"),
        (True, "{} {}", "not JSON"),
        (True, "[" * 100_000, "not JSON"),
        ({"$ref": "https://nowhere.invalid/x"}, "1", "leads nowhere"),
    ],
)
def test_what_is_wrong_with_a_text(schema: Any, text: str, told: str | None) -> None:
    found = AnswerSchema(schema).problem(text)
    assert (found is None) == (told is None)
    assert (told or "") in (found or "")


def test_a_schema_that_is_none() -> None:
    with pytest.raises(InputError, match=r"'strin'.*at /properties/a/type"):
        AnswerSchema({"properties": {"a": {"type": "strin"}}})
