"""The rules that other services have for schemas: what has to change for a schema to work there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from maskwright.grammar.schema.tree import Json
from maskwright.workbench.findings.finding import Finding
from maskwright.workbench.pointer import pointer_of, reference_tokens
from maskwright.workbench.schema.lint import subschemas, types_of

UNSUPPORTED: Final = (
    *("allOf", "not", "if", "then", "else"),
    *("dependentRequired", "dependentSchemas", "patternProperties", "propertyNames"),
)
MOST_PROPERTIES: Final = 5_000
MOST_LEVELS: Final = 10
MOST_ENUM_VALUES: Final = 1_000
MOST_CHARACTERS: Final = 120_000
"""Characters of all names, enumerated values and constants together."""


def openai_strict(schema: Json) -> list[Finding]:
    """Where a schema breaks the rules of OpenAI's strict mode, as its documentation of early 2026
    has them."""
    if not isinstance(schema, dict):
        return [_broken("", "root", "the root has to be an object schema")]
    found: list[Finding] = []
    if types_of(schema) != ["object"] or "anyOf" in schema:
        message = "the root has to be of type object, and no anyOf"
        found.append(_broken("", "root", message))
    for pointer, part in subschemas(schema):
        found += _of_object(pointer, part)
        for keyword in UNSUPPORTED:
            if keyword in part:
                message = f"{keyword} is not supported"
                found.append(_broken(pointer + pointer_of(keyword), "unsupported", message))
    return [*found, *_sizes(schema)]


def _broken(pointer: str, rule: str, message: str) -> Finding:
    return Finding(pointer, "error", f"openai-strict-{rule}", message)


def _of_object(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    if "object" not in types_of(schema) and "properties" not in schema:
        return
    if schema.get("additionalProperties", True) is not False:
        message = "additionalProperties has to be false"
        yield _broken(pointer, "additional", message)
    for name in schema.get("properties", {}):
        if name not in schema.get("required", []):
            message = f"{name!r} has to be required; an optional value is a union with null"
            yield _broken(pointer + pointer_of("properties", name), "required", message)


def _sizes(schema: dict[str, Any]) -> Iterator[Finding]:
    properties = values = characters = 0
    for pointer, part in subschemas(schema):
        names = [*part.get("properties", {}), *part.get("$defs", {})]
        listed = [*part.get("enum", []), *([part["const"]] if "const" in part else [])]
        properties += len(part.get("properties", {}))
        values += len(part.get("enum", []))
        characters += sum(map(len, names)) + sum(len(str(value)) for value in listed)
        depth = sum(token in ("properties", "items") for token in reference_tokens(pointer))
        if depth == MOST_LEVELS + 1:
            yield _broken(pointer, "depth", f"nested deeper than {MOST_LEVELS} levels")
    for count, most, what in (
        (properties, MOST_PROPERTIES, "properties"),
        (values, MOST_ENUM_VALUES, "values in enums"),
        (characters, MOST_CHARACTERS, "characters in names and listed values"),
    ):
        if count > most:
            yield _broken("", "size", f"{count:,} {what}; {most:,} are allowed")
