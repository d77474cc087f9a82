"""What is likely to be a mistake in a schema that can be used, or more than was meant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from maskwright.automaton.value.finite_values import canonical
from maskwright.grammar.schema.document import plain
from maskwright.grammar.schema.tree import Json, Report
from maskwright.workbench.findings.finding import Finding, reported
from maskwright.workbench.pointer import entry_pointer, pointer_of, reference_tokens
from maskwright.workbench.schema.option_lint import impossible, shared_values
from maskwright.workbench.schema.required_lint import unlisted
from maskwright.workbench.schema.solved_parts import SolvedParts
from maskwright.workbench.schema.string_lint import (
    MOST_VALUES,
    is_endless_pattern,
    open_pattern,
    token_traps,
)

_BOUNDS: Final = {
    "string": ("maxLength", "format"),
    "array": ("maxItems",),
    "object": ("maxProperties",),
}
"""Keywords that bound values of a type."""
_REASONS: Final = frozenset(
    {"reason", "reasons", "reasoning", "thought", "thoughts", "explanation", "rationale"}
)
"""Names of properties in which a model gives reasons for what it writes after them."""
_BY_NAME: Final = (
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
)
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SINGLE: Final = (
    *("items", "additionalItems", "unevaluatedItems", "contains"),
    *("additionalProperties", "unevaluatedProperties", "propertyNames"),
    *("not", "if", "then", "else"),
)
"""Keywords that hold schemas: by name, in a list, or one."""
_OF_TYPES: Final = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), ("string",)),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        ("number", "integer"),
    ),
    **dict.fromkeys(
        ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"), ("array",)
    ),
    **dict.fromkeys(
        ("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
        ("object",),
    ),
    **dict.fromkeys(("minProperties", "maxProperties", "dependentRequired"), ("object",)),
}
"""Keywords that demand nothing of values of other types."""


def lint_schema(schema: Json, report: Report) -> list[Finding]:
    """What is found in a schema that has been compiled; `report` is the grammar's."""
    found = reported(report)
    found += [Finding(entry_pointer(e), "note", "narrowed", e.note) for e in report.narrowed]
    schema, _ = plain(schema)
    if not isinstance(schema, dict):
        return found
    used = set(_references(schema))
    parts = SolvedParts(schema)
    whole = [*subschemas(schema), *_elsewhere(schema)]
    found += unlisted(whole)
    for pointer, part in whole:
        found += _unbounded(pointer, part)
        found += _order(pointer, part)
        found += _unused(pointer, part, used)
        found += _without_effect(pointer, part)
        found += open_pattern(pointer, part)
        found += token_traps(pointer, part)
        found += _repeated(pointer, part)
        found += impossible(pointer, part, parts)
        found += shared_values(pointer, part, parts)
    return found


def subschemas(schema: Json, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema object of a document, with its pointer, the outer ones first."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for keyword, setting in schema.items():
        at = pointer + pointer_of(keyword)
        if keyword in _BY_NAME:
            if isinstance(setting, dict):
                for name, inner in setting.items():
                    yield from subschemas(inner, at + pointer_of(name))
        elif isinstance(setting, list) and keyword in _LISTS:
            for index, inner in enumerate(setting):
                yield from subschemas(inner, f"{at}/{index}")
        elif keyword in _SINGLE:
            yield from subschemas(setting, at)


def _elsewhere(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """As `subschemas`, those that stand where no keyword holds schemas, and to which a reference
    leads: in the components of an API's description, or in a tool."""
    parts = [*subschemas(schema)]
    seen = {pointer for pointer, _ in parts}
    while parts:
        referred = {pointer for _, part in parts for pointer in _referred(part)}
        found = [subschemas(_at(schema, each), each) for each in sorted(referred - seen)]
        parts = [each for inner in found for each in inner if each[0] not in seen]
        seen |= referred | {pointer for pointer, _ in parts}
        yield from parts


def _referred(schema: dict[str, Any]) -> Iterator[str]:
    """The pointer of the reference that a schema itself has into its document."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        yield reference.removeprefix("#")


def _at(schema: Json, pointer: str) -> Json:
    """What a pointer leads to; None if that is nothing."""
    here: Any = schema
    for step in reference_tokens(pointer):
        if isinstance(here, dict):
            here = here.get(step)
        elif isinstance(here, list) and step.isdigit() and int(step) < len(here):
            here = here[int(step)]
        else:
            return None
    return here


def types_of(schema: dict[str, Any]) -> list[str]:
    """The types that a schema names."""
    found = schema.get("type", [])
    return [found] if isinstance(found, str) else list(found)


def _unbounded(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Parts that a model may fill until its tokens are used up."""
    if "enum" in schema or "const" in schema:
        return
    for kind in types_of(schema):
        bounds = _BOUNDS.get(kind, ("maxLength",))
        if kind not in _BOUNDS or any(keyword in schema for keyword in bounds):
            continue
        if kind == "string" and "pattern" in schema and not is_endless_pattern(schema["pattern"]):
            continue
        if kind == "object" and schema.get("additionalProperties", True) is False:
            continue
        if kind == "array" and schema.get("items", True) is False:
            continue
        extra = " or additionalProperties: false" if kind == "object" else ""
        message = f"a model may fill this {kind} without end; {bounds[0]}{extra} bounds it"
        yield Finding(pointer, "note", f"unbounded-{kind}", message)


def _order(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Properties come in the order in which the schema lists them."""
    properties = schema.get("properties")
    for name in [*properties][1:] if isinstance(properties, dict) else ():
        if name.lower() in _REASONS:
            message = f"{name!r} comes after what it gives reasons for; list it first"
            at = pointer + pointer_of("properties", name)
            yield Finding(at, "warning", "reasons-last", message)


def _repeated(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Values that stand in an `enum` more than once; JSON Schema asks that each be there once."""
    values = schema.get("enum")
    if not isinstance(values, list) or len(values) > MOST_VALUES:
        return
    places: dict[str, int] = {}
    for index, value in enumerate(values):
        first = places.setdefault(canonical(json.dumps(value)), index)
        if first < index:
            message = f"this is equal to value {first + 1} of the enum, and adds nothing to it"
            yield Finding(pointer + pointer_of("enum", index), "warning", "repeated-value", message)


def _references(value: Any) -> Iterator[str]:
    """The pointers that local references name, and those around them."""
    if isinstance(value, dict):
        for keyword in ("$ref", "$dynamicRef"):
            reference = value.get(keyword)
            if isinstance(reference, str):
                yield reference.removeprefix("#")
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _unused(pointer: str, schema: dict[str, Any], used: set[str]) -> Iterator[Finding]:
    """Definitions that nothing refers to. One that has a name of its own may be meant by it."""
    for keyword in ("$defs", "definitions"):
        definitions = schema.get(keyword)
        if not isinstance(definitions, dict):
            continue
        for name, definition in definitions.items():
            at = pointer + pointer_of(keyword, name)
            is_named = isinstance(definition, dict) and any(
                anchor in definition for anchor in ("$id", "id", "$anchor", "$dynamicAnchor")
            )
            if not is_named and not any(one == at or one.startswith(f"{at}/") for one in used):
                yield Finding(at, "warning", "unused-definition", "nothing refers to this")


def _without_effect(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Keywords for values of a type that the schema doesn't allow."""
    types = types_of(schema)
    for keyword in schema if types else ():
        meant = _OF_TYPES.get(keyword)
        if meant is not None and not set(meant) & {*types}:
            message = f"{keyword} demands nothing here: it is about {meant[0]}s, the type is "
            message += " or ".join(types)
            yield Finding(pointer + pointer_of(keyword), "warning", "no-effect", message)
