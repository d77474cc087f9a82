from __future__ import annotations

from typing import Any

import pytest

from maskwright.workbench.schema.lint import impossible, shared_values
from maskwright.workbench.schema.no_values import SolvedParts

NEVER = {"allOf": [{"const": 1}, {"const": 2}]}


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"anyOf": [{"const": 1}, NEVER]}, ["/anyOf/1"]),
        ({"type": "array", "items": NEVER}, ["/items"]),
        ({"type": "array", "items": {"type": "null"}}, []),
        ({"properties": {"a": NEVER, "b": False}}, ["/properties/a"]),
    ],
)
def test_what_no_value_matches(schema: Any, pointers: list[str]) -> None:
    assert [each.pointer for each in impossible("", schema, SolvedParts(schema))] == pointers


def tagged(kind: str, *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"kind": {"const": kind}}, "required": [*required]}


@pytest.mark.parametrize(
    ("around", "shared"),
    [
        ({}, [1]),
        ({"type": "object"}, [1]),
        ({"required": ["kind"]}, []),
        ({"allOf": [{"required": ["kind"]}]}, []),
        ({"properties": {"kind": {"const": "c"}}}, [1]),  # both match an object without "kind"
        ({"type": "string"}, []),
    ],
)
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_what_stands_beside_a_union_holds_for_its_options(
    around: Any, shared: list[int], keyword: str
) -> None:
    schema = {keyword: [tagged("a"), tagged("b")], **around}
    found = [*shared_values("", schema, SolvedParts(schema))]
    assert [each.pointer for each in found] == [f"/{keyword}/{index}" for index in shared]


@pytest.mark.parametrize(
    ("options", "shared"),
    [
        ([{"type": "string"}, {"type": "null"}], []),
        ([{"type": "integer"}, {"type": "number"}], [1]),
        ([{"type": "integer"}, {"type": "number"}, {"const": 3}], [1, 2]),
        ([tagged("a", "kind"), tagged("b", "kind")], []),
        ([tagged("a"), tagged("b")], [1]),  # an object without "kind"
        ([{"required": ["a"]}, {"required": ["b"]}], []),  # meant to hold together
        ([{"const": at} for at in range(12)] + [{"type": "integer"}], []),  # too many
    ],
)
@pytest.mark.parametrize(("keyword", "severity"), [("anyOf", "note"), ("oneOf", "warning")])
def test_options_that_share_values(
    options: list[Any], shared: list[int], keyword: str, severity: str
) -> None:
    schema: Any = {keyword: options}
    found = [*shared_values("", schema, SolvedParts(schema))]
    assert [each.pointer for each in found] == [f"/{keyword}/{index}" for index in shared]
    assert {each.severity for each in found} <= {severity}
