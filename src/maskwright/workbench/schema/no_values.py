"""The part of a schema because of which no value matches the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from maskwright.errors import UnsatisfiableSchemaError
from maskwright.grammar.schema.tree import Json
from maskwright.workbench.pointer import pointer_of, reference_tokens
from maskwright.workbench.schema.solved_parts import SolvedParts


class Contradiction(NamedTuple):
    """The innermost part of a schema that no value matches, though one has to."""

    pointer: str
    message: str


def contradiction(schema: Json) -> Contradiction | None:
    """Why no value matches a schema that has none; None where it isn't seen. Follows what has to
    match: required properties, options of which none can be taken, items of arrays that need some,
    references."""
    if not isinstance(schema, dict):
        return None
    parts, pointer, part, seen = SolvedParts(schema), "", schema, {""}
    while True:
        forbidden = _forbidden(pointer, part)
        if forbidden is not None:
            return forbidden
        inner = _inner(schema, pointer, part, parts)
        if inner is None or inner[0] in seen:
            break
        pointer, part = inner
        seen.add(pointer)
        if not isinstance(part, dict):
            return Contradiction(pointer, "no value matches false")
    if not pointer:
        return None
    return Contradiction(pointer, "no value matches this: its keywords contradict each other")


def naming_the_part(error: UnsatisfiableSchemaError, schema: Json) -> UnsatisfiableSchemaError:
    """The error with the place of the contradiction, if that is seen; otherwise the error itself.
    `schema`: the one that no value matches."""
    found = contradiction(schema) if error.pointer == "" else None
    if found is None:
        return error
    message = f"{error.reason}: {found.message}"
    return UnsatisfiableSchemaError(message, pointer=found.pointer, param=error.param)


def _forbidden(pointer: str, part: dict[str, Any]) -> Contradiction | None:
    """A required property that the same schema doesn't allow."""
    if part.get("type") != "object" or part.get("additionalProperties") is not False:
        return None
    if "patternProperties" in part:
        return None
    for index, name in enumerate(part.get("required", [])):
        if name not in part.get("properties", {}):
            message = f"{name!r} is required, but additionalProperties forbids it"
            return Contradiction(f"{pointer}/required/{index}", message)
    return None


def _inner(
    schema: dict[str, Any], pointer: str, part: dict[str, Any], parts: SolvedParts
) -> tuple[str, Any] | None:
    for at, inner in _needed(schema, pointer, part):
        if parts.is_impossible(inner, at):
            return at, inner
    for keyword in ("anyOf", "oneOf"):
        options = part.get(keyword, [])
        places = [f"{pointer}/{keyword}/{index}" for index in range(len(options))]
        if options and all(map(parts.is_impossible, options, places)):
            return places[0], options[0]
    return None


def _needed(
    schema: dict[str, Any], pointer: str, part: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The parts that have to have values if this part is to have one, with their pointers."""
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target = _resolved(schema, reference.removeprefix("#"))
        if target is not None:
            yield reference.removeprefix("#"), target
    for index, each in enumerate(part.get("allOf", [])):
        yield f"{pointer}/allOf/{index}", each
    if part.get("type") == "object":
        properties = part.get("properties", {})
        for name in part.get("required", []):
            if name in properties:
                yield pointer + pointer_of("properties", name), properties[name]
    if part.get("type") == "array" and part.get("minItems", 0) > 0 and "prefixItems" not in part:
        yield f"{pointer}/items", part.get("items", True)


def _resolved(schema: Any, pointer: str) -> Any:
    """What a pointer refers to; None where there is nothing, as under another base URI."""
    for token in reference_tokens(pointer):
        if isinstance(schema, dict) and token in schema:
            schema = schema[token]
        elif isinstance(schema, list) and token.isdigit() and int(token) < len(schema):
            schema = schema[int(token)]
        else:
            return None
    return schema
