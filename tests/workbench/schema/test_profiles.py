from __future__ import annotations

from typing import Any

import pytest

from maskwright.workbench.schema.lint import openai_strict

GOOD: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    "required": ["a"],
    "additionalProperties": False,
}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {**GOOD, "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "findings"),
    [
        (GOOD, set()),
        (True, {("root", "")}),
        ({"type": "string"}, {("root", "")}),
        ({**GOOD, "anyOf": [GOOD]}, {("root", "")}),
        ({**GOOD, "required": []}, {("required", "/properties/a")}),
        ({**GOOD, "additionalProperties": True}, {("additional", "")}),
        ({**GOOD, "allOf": [True]}, {("unsupported", "/allOf")}),
        (nested(10), set()),
        (nested(11), {("depth", "/properties/a" * 11)}),
        ({**GOOD, "properties": {"a": {"enum": [*range(1001)]}}}, {("size", "")}),
        ({**GOOD, "properties": {"a": {"const": "x" * 120_000}}}, {("size", "")}),
    ],
)
def test_openai_strict(schema: Any, findings: set[tuple[str, str]]) -> None:
    found = openai_strict(schema)
    assert {(f.rule.removeprefix("openai-strict-"), f.pointer) for f in found} == findings
    assert all(finding.severity == "error" for finding in found)
