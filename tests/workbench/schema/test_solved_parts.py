"""Parts of a schema that no value matches, each decided as the compiler decides it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from maskwright.errors import UnsatisfiableSchemaError
from maskwright.grammar.schema.tree import Json
from maskwright.limits import Limits
from maskwright.mask import compile_json_schema
from maskwright.workbench.pointer import pointer_of
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.schema import no_values
from maskwright.workbench.schema.no_values import SolvedParts

NEVER: Any = {"type": "integer", "minimum": 3, "maximum": 2}
PARTS: dict[str, Any] = {
    "any": True,
    "none": False,
    "number": {"type": "number"},
    "never": NEVER,
    "needs": {"type": "object", "properties": {"a": NEVER}, "required": ["a"]},
    "leaves out": {"type": "object", "properties": {"a": NEVER}},
    "refers": {"$ref": "#/properties/never"},
    "endless": {"type": "object", "properties": {"a": {"$ref": "#/properties/endless"}}},
    "never ends": {
        "type": "array",
        "items": {"$ref": "#/properties/never ends"},
        "minItems": 1,
    },
    "either": {"anyOf": [NEVER, {"const": 1}]},
    "neither": {"anyOf": [NEVER, {"allOf": [{"const": 1}, {"const": 2}]}]},
}
UNUSED: dict[str, Any] = copy.deepcopy(PARTS)
DOCUMENT: dict[str, Any] = {"properties": PARTS, "$defs": {"unused": {"properties": UNUSED}}}


def compiled_alone(pointer: str) -> bool:
    """Whether the compiler refuses a schema that refers to a part of the document."""
    name = "urn:test:document"
    try:
        compile_json_schema(
            {"$ref": f"{name}#{pointer}"}, byte_vocabulary(), documents={name: DOCUMENT}
        )
    except UnsatisfiableSchemaError:
        return True
    return False


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize(("holder", "parts"), [("", PARTS), ("/$defs/unused", UNUSED)])
def test_the_compiler_refuses_impossible_parts(
    name: str, holder: str, parts: dict[str, Any]
) -> None:
    at = holder + pointer_of("properties", name)
    assert SolvedParts(DOCUMENT).is_impossible(parts[name], at) == compiled_alone(at)


def test_a_definition_that_is_no_schema_is_not_called_impossible() -> None:
    part: Json = {"type": 5}
    document = {"$defs": {"a": {"properties": {"x": part}}}}
    assert not SolvedParts(document).is_impossible(part, "/$defs/a/properties/x")


def test_what_takes_too_long_is_not_called_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    part: Json = {"type": "string", "allOf": [{"pattern": "^[ab]{9}$"}, {"pattern": "^[bc]*c$"}]}
    document: dict[str, Any] = {"properties": {"x": part}}
    with monkeypatch.context() as limited:
        limited.setattr(no_values, "DEFAULT_LIMITS", Limits(work=1))
        assert not SolvedParts(document).is_impossible(part, "/properties/x")
    assert SolvedParts(document).is_impossible(part, "/properties/x")
